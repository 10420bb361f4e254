//! Tests of the files by which agents find and install Tabwire (versions, names, links in the README), and of the workflow
//! that makes a release.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::repository::Repository;

/// Files with the version, and where in them.
const VERSIONS: [(&str, &str); 6] = [
    ("packaging/agents/mcp-registry/server.json", "/version"),
    ("packaging/agents/mcp-registry/server.json", "/packages/0/version"),
    ("packaging/agents/mcp-registry/server.json", "/packages/1/version"),
    ("packaging/agents/claude-code/.claude-plugin/plugin.json", "/version"),
    ("packaging/agents/gemini-cli/gemini-extension.json", "/version"),
    ("extension/manifest.json", "/version"),
];

fn json_file(path: &str) -> Value {
    serde_json::from_str(&Repository::find().read(path).unwrap())
        .unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn version() -> String {
    super::workspace_version(&Repository::find()).unwrap()
}

#[test]
fn every_manifest_has_the_version_of_the_workspace() {
    for (path, place) in VERSIONS {
        assert_eq!(json_file(path).pointer(place), Some(&json!(version())), "{path}{place}");
    }
    let package = json!(["-y", format!("tabwire@{}", version()), "mcp"]);
    for path in
        ["packaging/agents/claude-code/.mcp.json", "packaging/agents/gemini-cli/gemini-extension.json"]
    {
        assert_eq!(json_file(path)["mcpServers"]["tabwire"]["args"], package, "{path}");
    }
}

#[test]
fn the_registry_entry_names_the_npm_package_that_names_it() {
    let (entry, package) =
        (json_file("packaging/agents/mcp-registry/server.json"), json_file("packaging/npm/package.json"));
    assert_eq!(entry["name"], package["mcpName"]);
    assert_eq!(entry["packages"][0]["identifier"], package["name"]);
    assert!(entry["description"].as_str().unwrap().len() <= 100, "the registry's limit");
}

/// The rules of the registry's schema of 2025-12-11 for what the entry has.
#[test]
fn the_registry_entry_follows_the_published_schema() {
    let entry = json_file("packaging/agents/mcp-registry/server.json");
    let is_schema = |url: &str| url.ends_with("/schemas/2025-12-11/server.schema.json");
    assert!(entry["$schema"].as_str().is_some_and(is_schema));
    let (space, name) = entry["name"].as_str().and_then(|name| name.split_once('/')).unwrap();
    let has_only = |text: &str, further: &str| {
        !text.is_empty() && text.chars().all(|one| one.is_ascii_alphanumeric() || further.contains(one))
    };
    assert!(has_only(space, ".-") && has_only(name, "._-"), "{space}/{name}");
    for (key, most) in [("title", 100), ("description", 100), ("version", 255)] {
        let length = entry[key].as_str().map_or(0, str::len);
        assert!((1..=most).contains(&length), "{key}");
    }
    for package in entry["packages"].as_array().unwrap() {
        for key in ["registryType", "identifier", "version", "runtimeHint"] {
            assert!(package[key].as_str().is_some_and(|text| !text.is_empty()), "{key} in {package}");
        }
        assert_eq!(package["transport"], json!({"type": "stdio"}));
        for argument in package["packageArguments"].as_array().unwrap() {
            assert!(argument["type"] == "positional" && argument["value"].is_string(), "{argument}");
        }
    }
    // The registry looks for this line in the description on PyPI.
    let readme = Repository::find().read("packaging/python/README.md").unwrap();
    assert!(readme.contains(&format!("mcp-name: {space}/{name}")), "{readme}");
}

#[test]
fn one_click_links_install_the_npm_package() {
    let readme = Repository::find().read("README.md").unwrap();
    let config = |start: &str| {
        let link = readme.split(start).nth(1).unwrap_or_else(|| panic!("no link {start}"));
        let link = link.split(')').next().unwrap();
        assert!(link.contains("name=tabwire&"), "{link}");
        decode(link.split("config=").nth(1).unwrap())
    };
    let expected = json!({"command": "npx", "args": ["-y", "tabwire", "mcp"]});
    let code: Value = serde_json::from_slice(&config("https://vscode.dev/redirect/mcp/install?")).unwrap();
    let cursor = STANDARD.decode(config("https://cursor.com/install-mcp?")).unwrap();
    assert_eq!((code, serde_json::from_slice::<Value>(&cursor).unwrap()), (expected.clone(), expected));
}

#[test]
fn llms_txt_links_to_files_that_exist() {
    let repository = Repository::find();
    let text = repository.read("llms.txt").unwrap();
    let links: Vec<&str> = text.split("](").skip(1).filter_map(|rest| rest.split(')').next()).collect();
    assert!(text.starts_with("# Tabwire\n\n> ") && links.len() > 10, "{links:?}");
    for link in links {
        assert!(repository.path(link).is_file(), "{link}");
    }
}

/// Other linters read it in full runs.
#[test]
fn the_release_workflow_builds_with_dist_alone_and_pins_its_actions() {
    let text = Repository::find().read(".github/workflows/release.yml").unwrap();
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.starts_with('#')).collect();
    let builds: Vec<&&str> = lines.iter().filter(|line| line.contains("cargo")).collect();
    assert!(matches!(builds[..], [line] if line.starts_with("- run: cargo xtask dist ")), "{builds:?}");
    for tool in ["rustc", "npm ", "pip ", "apt", "brew", "curl"] {
        assert!(!text.contains(tool), "{tool}");
    }
    let used: Vec<&str> = lines.iter().filter_map(|line| line.strip_prefix("- uses: ")).collect();
    assert!(used.len() >= 3, "{used:?}");
    for action in used {
        let commit = action.split(['@', ' ']).nth(1).unwrap();
        assert!(commit.len() == 40 && commit.bytes().all(|one| one.is_ascii_hexdigit()), "{action}");
    }
}

/// Percent-decoding of a URL's query.
fn decode(text: &str) -> Vec<u8> {
    let mut parts = text.split('%');
    let mut bytes = parts.next().unwrap_or_default().as_bytes().to_vec();
    for part in parts {
        bytes.push(u8::from_str_radix(&part[..2], 16).unwrap());
        bytes.extend(&part.as_bytes()[2..]);
    }
    bytes
}
