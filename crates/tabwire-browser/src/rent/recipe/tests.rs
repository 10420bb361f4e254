//! Tests of recipes: what they may say, and the requests that follow.

use serde_json::json;
use tabwire_api::{ErrorCode, Failure};

use super::{EXAMPLES, Recipe};
use crate::rent::{NamedSecret, SecretSource};

struct Vault(&'static str);

impl SecretSource for Vault {
    fn find(&self, _name: &str) -> Result<NamedSecret, Failure> {
        let (username, password) = (String::new(), "s3cr3t/+".to_owned());
        Ok(NamedSecret { username, password, origin: self.0.to_owned() })
    }
}

fn example(name: &str) -> Recipe {
    let text = EXAMPLES.iter().find(|(own, _)| *own == name).expect("an example").1;
    Recipe::parse(text).expect("a valid example")
}

#[test]
fn every_example_is_valid_and_says_where_it_sends_what() {
    for (name, text) in EXAMPLES {
        let recipe = Recipe::parse(text).expect(name);
        assert!(!recipe.description().is_empty() && !recipe.origins().is_empty(), "{name}");
    }
    assert_eq!(example("rest").secrets(), ["fleet"]);
    assert_eq!(example("rest").origins(), ["https://api.fleet.example"]);
    assert_eq!(example("browserless").secrets(), ["browserless"]);
}

#[test]
fn a_rest_provider_is_asked_kept_and_released() {
    let (recipe, vault) = (example("rest"), Vault("https://api.fleet.example"));
    let create = recipe.create("tabwire-7", &vault).expect("filled").expect("a request");
    assert_eq!((create.method.as_str(), create.url.path()), ("POST", "/v1/sessions"));
    assert_eq!(create.body.as_ref().and_then(|body| body.get("name")), Some(&json!("tabwire-7")));
    assert_eq!(create.headers[0].value, "Bearer s3cr3t/+");
    assert!(!format!("{create:?}").contains("s3cr3t"));
    let response = br#"{"session": {"id": "a/b", "cdp": "wss://node.fleet.example/x?t=1"}}"#;
    let given = recipe.read(Some(response), "tabwire-7", &vault).expect("an address");
    assert_eq!((given.id.as_deref(), given.address.path()), (Some("a/b"), "/x"));
    let release =
        recipe.release(given.id.as_deref(), "tabwire-7", &vault).expect("filled").expect("a request");
    assert_eq!((release.method.as_str(), release.url.path()), ("DELETE", "/v1/sessions/a%2Fb"));
    assert!(recipe.keepalive(Some("x"), "r", &vault).expect("filled").is_some());
    assert_eq!(recipe.lifetime().map(|life| life.as_secs()), Some(1800));
}

#[test]
fn t39_a_recipe_cannot_send_a_secret_of_another_site() {
    let failure = example("rest").create("r", &Vault("https://bank.example")).expect_err("refused");
    assert_eq!(failure.code, ErrorCode::PolicyDenied);
    let browserless = example("browserless");
    let failure = browserless.read(None, "r", &Vault("https://bank.example")).expect_err("refused");
    assert!(failure.code == ErrorCode::PolicyDenied && !failure.message.contains("s3cr3t"), "{failure}");
    let given = browserless.read(None, "r", &Vault("https://production-sfo.browserless.io")).expect("filled");
    assert_eq!(given.address.query(), Some("token=s3cr3t%2F%2B&timeout=900000"));
    assert!(!format!("{given:?}").contains("s3cr3t"));
}

#[test]
fn responses_without_the_members_are_refused() {
    let (recipe, vault) = (example("rest"), Vault("https://api.fleet.example"));
    for response in [
        r#"{"session": {"id": "a"}}"#,
        r#"{"session": {"cdp": "wss://h/"}}"#,
        r#"{"session": {"id": "a", "cdp": "/etc/passwd"}}"#,
        r#"{"session": {"id": "a", "cdp": "file:///x"}}"#,
        "no json",
    ] {
        let failure = recipe.read(Some(response.as_bytes()), "r", &vault).expect_err(response);
        assert_eq!(failure.code, ErrorCode::NoBackend, "{response}");
    }
    assert_eq!(recipe.find_id(br#"{"session": {"id": 7}}"#).as_deref(), Some("7"));
}

#[test]
fn invalid_recipes_are_refused() {
    for (text, part) in [
        ("", "address"),
        ("address = 'ws://a/'\nrun = 'rm'", "unknown field"),
        ("address = '/x'", "no `create`"),
        ("address = 'ws://a/'\n[create]\nurl = 'https://a/'", "no `release`"),
        ("address = 'ws://a/${id}'\n[release]\nurl = 'https://a/${id}'", "names no `id`"),
        (
            "address = '/x'\nid = '/i'\n[create]\nurl = 'https://a/${id}'\n[release]\nurl = 'https://a/'",
            "afterwards",
        ),
        ("address = 'file:///x'", "plain http"),
        ("address = 'ws://a/'\n[release]\nurl = 'ws://a/'", "not an http or https URL"),
        ("address = 'ws://a/'\n[release]\nmethod = 'RUN'\nurl = 'https://a/'", "method"),
        ("address = 'ws://a/'\n[connect]\nheaders = { Host = 'b' }", "Host"),
        ("address = 'ws://a/${env:HOME}'", "placeholder"),
    ] {
        let failure = Recipe::parse(text).expect_err(text);
        assert_eq!(failure.code, ErrorCode::BadArgs, "{text}");
        assert!(failure.message.contains(part), "{text}: {failure}");
    }
}
