//! `policy.toml`: what is valid, and the line of an error.

use tabwire_policy::{PolicyFile, Unlisted};

#[test]
fn a_policy_file_allows_asks_and_denies() {
    let file = PolicyFile::parse(
        "unlisted = \"deny\"\n\n[[rule]]\nsite = \"https://*.example.org/app\"\nallow = [\"read\", \"act\"]\n\
         ask = [\"eval\"]\n\n# The bank.\n[[rule]]\nsite = \"bank.example\"\ndeny = [\"all\"]\n",
    )
    .expect("a policy");
    assert_eq!((file.unlisted, file.rules.len()), (Unlisted::Deny, 2));
    assert_eq!(file.rules[0].site.to_string(), "https://*.example.org/app");
    assert_eq!(file.rules[0].allow.to_string(), "read, act");
    assert_eq!((file.rules[0].line, file.rules[1].line), (3, 9));
    assert_eq!(PolicyFile::parse(""), Ok(PolicyFile::default()));
}

#[test]
fn t24_an_invalid_policy_is_reported_with_its_line() {
    for (text, line, word) in [
        ("unlisted = \"maybe\"", 1, "maybe"),
        ("\nallowed = 1", 2, "allowed"),
        ("[[rule]]\nsite = \"https://a.test\"\nallows = [\"read\"]", 3, "allows"),
        ("[[rule]]\nsite = \"https://a.test\"\nallow = [\"reed\"]", 3, "reed"),
        ("[[rule]]\n\nsite = \"https://u@a.test\"\nallow = [\"read\"]", 3, "user name"),
        ("[[rule]]\nsite = \"https://a.*.test\"\nallow = [\"read\"]", 2, "host"),
        ("[[rule]]\nsite = \"https://a.test:99999\"\nallow = [\"read\"]", 2, "port"),
        ("[[rule]]\nsite = \"https://a.test/?q\"\nallow = [\"read\"]", 2, "query"),
        ("[[rule]]\nsite = \"javascript:alert\"\nallow = [\"read\"]", 2, "scheme"),
        ("[[rule]]\nsite = \"https://a.test\"", 2, "is empty"),
        ("[[rule]]\nallow = [\"read\"]", 1, "site"),
        ("[[rule]\n", 1, ""),
        ("x", 1, ""),
    ] {
        let fault = PolicyFile::parse(text).expect_err(text);
        assert_eq!(fault.line, line, "{text}: {fault}");
        assert!(fault.what.contains(word), "{text}: {fault}");
    }
}
