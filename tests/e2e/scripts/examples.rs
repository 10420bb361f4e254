//! Every example of `docs/scripts.md` runs, and the TypeScript compiler accepts it with the types.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::json;

use crate::support::world::World;

/// The page that the examples use, under every URL of its host.
const SHOP: &str = "<!doctype html><title>Shop</title><ul><li>Apple <button>Buy</button></li>\
    <li>Pear <button>Buy</button></li></ul><p role=status></p><script>let n = 0; \
    onclick = (e) => { if (e.target.localName === 'button') document.querySelector('p').textContent = `${++n} item` }</script>";

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The blocks of TypeScript in the guide.
fn examples() -> Vec<String> {
    let page = fs::read_to_string(repository().join("docs/scripts.md")).expect("the guide");
    let blocks = page.split("```ts\n").skip(1);
    blocks.map(|block| block.split("```").next().expect("an end").to_owned()).collect()
}

#[test]
fn every_example_of_the_guide_runs() {
    let world = World::new();
    let examples = examples();
    assert!(examples.len() >= 4, "{}", examples.len());
    let route =
        json!({"url": "https://shop.example/**", "body": SHOP, "header": ["Content-Type: text/html"]});
    world
        .run(&["execute", &format!("await page.goto('about:blank'); await tabwire.route({route})")])
        .succeeded();
    for (number, code) in examples.iter().enumerate() {
        let file = format!("example{number}.ts");
        let is_spec = code.contains("@playwright/test");
        // A test has a context of its own, which the route above does not reach.
        let before = format!(
            "test.beforeEach(async ({{ page }}) => {{ await page.route('https://shop.example/**', (route) => \
             route.fulfill({{ body: {}, contentType: 'text/html' }})); }});",
            json!(SHOP)
        );
        let written = if is_spec { format!("{code}\n{before}") } else { code.clone() };
        fs::write(world.home().join(&file), written).expect("written");
        let outcome = if is_spec { world.run(&["run", &file]) } else { world.run(&["execute", code]) };
        assert_eq!(outcome.code, 0, "{code}\n{}\n{}", outcome.stdout, outcome.stderr);
    }
    assert!(world.home().join("shop.json").is_file(), "an example writes a file");
}

#[test]
fn the_compiler_accepts_the_types_with_every_example() {
    let compiler = repository().join("tests/clients/node_modules/typescript/bin/tsc");
    assert!(compiler.is_file(), "`cargo xtask setup` installs the TypeScript compiler");
    let folder = tempfile::tempdir().expect("a directory");
    fs::write(folder.path().join("tabwire.d.ts"), tabwire_script::declarations::TYPES).expect("written");
    for (number, code) in examples().iter().enumerate() {
        // A `return` at the outermost level is for `execute` only.
        let code = if code.contains("\nreturn ") {
            format!("export const run = async () => {{\n{code}\n}};")
        } else {
            code.clone()
        };
        fs::write(folder.path().join(format!("example{number}.ts")), code).expect("written");
    }
    fs::write(folder.path().join("wrong.ts"), "page.clik('x');\n").expect("written");
    let options = json!({
        "compilerOptions": {
            "noEmit": true, "strict": true, "target": "es2023", "lib": ["es2023"], "module": "esnext",
            "moduleResolution": "bundler", "moduleDetection": "force", "types": [],
        },
        "include": ["*.ts"],
    });
    fs::write(folder.path().join("tsconfig.json"), options.to_string()).expect("written");
    let output =
        Command::new("node").arg(&compiler).arg("-p").arg(folder.path()).output().expect("node runs");
    let report = String::from_utf8_lossy(&output.stdout);
    let faults: Vec<&str> = report.lines().filter(|line| !line.contains("wrong.ts")).collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert!(report.contains("wrong.ts") && report.contains("clik"), "the compiler checks: {report}");
}

/// The words of a shell's line: quotes group, and a comment ends it.
fn words(line: &str) -> Vec<String> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    for letter in line.chars() {
        match (quote, letter) {
            (Some(open), _) if letter == open => quote = None,
            (None, '\'' | '"') => {
                quote = Some(letter);
                word.get_or_insert_default();
            }
            (None, ' ') => words.extend(word.take()),
            (None, '#') if word.is_none() => break,
            _ => word.get_or_insert_default().push(letter),
        }
    }
    words.extend(word);
    words
}

#[test]
fn the_commands_of_the_guide_and_of_the_help_work() {
    let world = World::new();
    let page = "<a href=/more>Learn more</a><title>Example</title>";
    let route = json!({"url": "**example.org/**", "body": page, "header": ["Content-Type: text/html"]});
    world
        .run(&["execute", &format!("await page.goto('about:blank'); await tabwire.route({route})")])
        .succeeded();
    for name in ["script.ts", "shop.spec.ts"] {
        fs::write(world.home().join(name), "console.log(args.join(' '))").expect("written");
    }
    let guide = fs::read_to_string(repository().join("docs/scripts.md")).expect("the guide");
    let block =
        guide.split("```console\n").nth(1).and_then(|rest| rest.split("```").next()).expect("a block");
    let reference = fs::read_to_string(repository().join("docs/reference/cli.md")).expect("the reference");
    let of_help = reference.lines().map(str::trim).filter(|line| {
        ["tabwire execute ", "tabwire run ", "echo 'state"].iter().any(|start| line.starts_with(start))
    });
    let of_guide = block.lines().filter_map(|line| line.strip_prefix("$ "));
    let mut ran = 0;
    for line in of_guide.chain(of_help) {
        // Watching and prompts have tests of their own; usage lines have placeholders.
        if line.contains("--watch") && !line.contains('#') || line.contains("repl") || line.contains('[') {
            continue;
        }
        let (line, _) = line.split_once("    ").unwrap_or((line, ""));
        let outcome = if let Some((given, _)) = line.split_once(" | ") {
            let mut command = world.command(env!("CARGO_BIN_EXE_tabwire"), &["execute"]);
            let mut child = command.stdin(std::process::Stdio::piped()).spawn().expect("it starts");
            let text = words(given).pop().expect("a text");
            std::io::Write::write_all(&mut child.stdin.take().expect("piped"), text.as_bytes())
                .expect("written");
            let output = child.wait_with_output().expect("an end");
            (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned())
        } else {
            let (line, file) = line.split_once(" > ").unwrap_or((line, ""));
            let words = words(line);
            let arguments: Vec<&str> = words.iter().skip(1).map(String::as_str).collect();
            let outcome = world.run(&arguments);
            assert!(file.is_empty() || outcome.stdout.contains("interface Page"), "{line}");
            (Some(outcome.code), outcome.stdout + &outcome.stderr)
        };
        assert_eq!(outcome.0, Some(0), "{line}: {}", outcome.1);
        if line.contains("allTextContents") && line.contains("goto") {
            assert_eq!(outcome.1.trim(), "[ 'Learn more' ]", "{line}");
        }
        ran += 1;
    }
    assert!(ran >= 6, "{ran} commands");
}

#[test]
fn the_error_of_the_guide_is_what_is_printed() {
    let world = World::new();
    let guide = fs::read_to_string(repository().join("docs/scripts.md")).expect("the guide");
    let block = guide.split("```text\n").nth(1).and_then(|rest| rest.split("```").next()).expect("a block");
    let line = block.lines().find_map(|line| line.strip_prefix("  3 | ")).expect("the line of code");
    let code = format!("await page.goto('data:text/html,<button>Buy</button>');\n\n{line}\n");
    fs::write(world.home().join("script.ts"), code).expect("written");
    let outcome = world.run(&["run", "script.ts"]);
    let printed: Vec<&str> = outcome.stderr.lines().map(str::trim_end).collect();
    for expected in block.lines() {
        assert!(printed.contains(&expected.trim_end()), "{expected:?} is not in {}", outcome.stderr);
    }
}
