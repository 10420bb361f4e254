//! Table: what the journal tells of each action's parameters. What is not in it is not told, not even by name.
//!
//! Typed values, code, headers, bodies and credentials are told as `…`: that they were given.

use tabwire_journal::Telling::{self, Address, Count, Hidden, Path, Target, Word};

/// A parameter, and how it is told.
pub(crate) type Told = (&'static str, Telling);

const POINTING: &[Told] = &[
    ("target", Target),
    ("nth", Word),
    ("button", Word),
    ("count", Word),
    ("modifiers", Word),
    ("position", Word),
    ("new_tab", Word),
    ("force", Word),
];
const READING: &[Told] = &[
    ("target", Target),
    ("nth", Word),
    ("from", Word),
    ("limit", Word),
    ("clean", Word),
    ("whole", Word),
    ("filter", Hidden),
];
const GOING: &[Told] = &[
    ("url", Address),
    ("new_tab", Word),
    ("wait_until", Word),
    ("past_cache", Word),
    ("background", Word),
    ("foreground", Word),
];
const CONSOLE: &[Told] = &[("levels", Word), ("all", Word), ("clear", Word), ("limit", Word)];
const TABS: &[Told] = &[("id", Word), ("tab", Word), ("foreground", Word)];
const WRITING: &[Told] =
    &[("verb", Word), ("output", Path), ("directory", Path), ("format", Word), ("categories", Count)];

const RULING: &[Told] = &[
    ("site", Word),
    ("which", Word),
    ("capabilities", Word),
    ("term", Word),
    ("id", Word),
    ("answer", Word),
];

const TABLE: &[(&str, &[Told])] = &[
    ("open", GOING),
    ("close", TABS),
    ("cdp_connect", &[("share", Word)]),
    ("upstream_switch", &[("from", Word), ("to", Word)]),
    ("policy_allow", RULING),
    ("policy_deny", RULING),
    ("policy_revoke", RULING),
    ("approval_answer", RULING),
    (
        "snapshot",
        &[
            ("within", Target),
            ("interactive", Word),
            ("full", Word),
            ("delta", Word),
            ("depth", Word),
            ("from", Word),
            ("budget", Word),
        ],
    ),
    ("find", &[("text", Hidden), ("regex", Word), ("within", Target)]),
    ("click", POINTING),
    ("dblclick", POINTING),
    ("hover", POINTING),
    ("tap", POINTING),
    ("check", POINTING),
    ("uncheck", POINTING),
    ("focus", POINTING),
    (
        "drag",
        &[
            ("target", Target),
            ("to", Target),
            ("by", Word),
            ("nth", Word),
            ("to_nth", Word),
            ("modifiers", Word),
            ("force", Word),
        ],
    ),
    ("fill", &[("target", Target), ("nth", Word), ("value", Hidden)]),
    ("fill_form", &[("fields", Count), ("form", Hidden), ("submit", Word)]),
    ("type", &[("target", Target), ("nth", Word), ("text", Hidden), ("slowly", Word), ("submit", Word)]),
    ("press", &[("target", Target), ("nth", Word), ("keys", Count)]),
    ("select", &[("target", Target), ("nth", Word), ("by", Word), ("options", Count)]),
    ("scroll", &[("target", Target), ("nth", Word), ("to", Hidden), ("by", Word)]),
    ("mouse", &[("what", Word), ("at", Word), ("by", Word), ("button", Word), ("modifiers", Word)]),
    ("clipboard", &[("what", Word), ("target", Target), ("nth", Word), ("text", Hidden)]),
    ("dialog", &[("answer", Word), ("text", Hidden)]),
    ("upload", &[("target", Target), ("nth", Word), ("files", Path), ("any_kind", Word)]),
    (
        "download_file",
        &[("target", Target), ("nth", Word), ("url", Address), ("path", Path), ("max_bytes", Word)],
    ),
    ("navigate", GOING),
    ("back", GOING),
    ("forward", GOING),
    ("reload", GOING),
    (
        "wait_for",
        &[
            ("target", Target),
            ("state", Word),
            ("text", Hidden),
            ("text_gone", Hidden),
            ("url", Hidden),
            ("load", Word),
            ("function", Hidden),
            ("download", Word),
            ("time", Word),
        ],
    ),
    ("tab_new", GOING),
    ("tab_select", TABS),
    ("tab_close", TABS),
    ("frame", &[("frame", Target)]),
    ("get_text", READING),
    ("get_html", READING),
    ("read_as_markdown", READING),
    ("extract_links", READING),
    (
        "screenshot",
        &[
            ("target", Target),
            ("nth", Word),
            ("full_page", Word),
            ("annotate", Word),
            ("original", Word),
            ("format", Word),
            ("quality", Word),
            ("output", Path),
        ],
    ),
    (
        "pdf",
        &[
            ("output", Path),
            ("paper", Word),
            ("landscape", Word),
            ("background", Word),
            ("scale", Word),
            ("margin", Hidden),
            ("pages", Hidden),
        ],
    ),
    ("get", &[("what", Word), ("target", Target), ("nth", Word), ("names", Count), ("reveal", Word)]),
    ("inspect", &[("point", Word)]),
    ("console", CONSOLE),
    ("errors", CONSOLE),
    ("eval", &[("element", Target), ("nth", Word), ("expression", Hidden)]),
    ("trace", WRITING),
    ("capture", WRITING),
    ("record", WRITING),
    (
        "diff",
        &[
            ("what", Word),
            ("target", Target),
            ("baseline", Path),
            ("save", Path),
            ("output", Path),
            ("full_page", Word),
            ("threshold", Word),
        ],
    ),
    (
        "cookies",
        &[
            ("verb", Word),
            ("name", Hidden),
            ("domain", Hidden),
            ("path", Hidden),
            ("url", Address),
            ("value", Hidden),
            ("values", Word),
            ("all", Word),
            ("expires", Word),
            ("max_age", Word),
            ("http_only", Word),
            ("secure", Word),
            ("same_site", Word),
            ("partition", Hidden),
        ],
    ),
    ("storage", &[("verb", Word), ("area", Word), ("key", Hidden), ("value", Hidden), ("values", Word)]),
    (
        "requests",
        &[
            ("url", Hidden),
            ("method", Word),
            ("status", Word),
            ("type", Word),
            ("failed", Word),
            ("new", Word),
            ("all", Word),
            ("websockets", Word),
            ("limit", Word),
        ],
    ),
    (
        "request",
        &[("number", Word), ("save", Word), ("output", Path), ("no_body", Word), ("show_secrets", Word)],
    ),
    (
        "route",
        &[
            ("url", Hidden),
            ("type", Word),
            ("abort", Word),
            ("status", Word),
            ("body", Hidden),
            ("body_file", Path),
            ("header", Count),
            ("set_header", Count),
            ("remove_header", Count),
            ("post_data", Hidden),
            ("to_method", Word),
            ("to_url", Address),
            ("times", Word),
        ],
    ),
    ("unroute", &[("route", Word), ("all", Word)]),
    ("har", &[("action", Word), ("file", Path), ("strict", Word), ("show_secrets", Word)]),
    ("offline", &[("state", Word)]),
    ("throttle", &[("preset", Word), ("download", Word), ("upload", Word), ("latency", Word)]),
    ("headers", &[("headers", Count), ("remove", Count), ("clear", Word)]),
    (
        "http_auth",
        &[
            ("origin", Telling::Origin),
            ("user", Hidden),
            ("password", Hidden),
            ("password_file", Hidden),
            ("clear", Word),
        ],
    ),
    ("login", &[("name", Word), ("passphrase_file", Hidden), ("passphrase", Hidden)]),
    (
        "state",
        &[
            ("verb", Word),
            ("path", Path),
            ("origins", Count),
            ("encrypt", Word),
            ("passphrase_file", Hidden),
            ("passphrase", Hidden),
            ("replace", Word),
        ],
    ),
    (
        "emulate",
        &[
            ("device", Hidden),
            ("viewport", Word),
            ("scale", Word),
            ("mobile", Word),
            ("landscape", Word),
            ("touch", Word),
            ("geolocation", Hidden),
            ("locale", Word),
            ("timezone", Word),
            ("color_scheme", Word),
            ("reduced_motion", Word),
            ("forced_colors", Word),
            ("contrast", Word),
            ("media", Word),
            ("cpu", Word),
            ("user_agent", Hidden),
            ("grant", Word),
            ("deny", Word),
            ("origin", Telling::Origin),
            ("reset", Word),
            ("reset_permissions", Word),
            ("list_devices", Word),
        ],
    ),
    ("init_script", &[("verb", Word), ("script", Hidden), ("file", Path), ("all", Word)]),
];

/// How an action's parameters are told; nothing of an action that is not in the table.
pub(crate) fn told_parameters(action: &str) -> &'static [Told] {
    TABLE.iter().find(|(name, _)| *name == action).map(|(_, told)| *told).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use tabwire_engine::ACTIONS;

    use super::*;

    #[test]
    fn every_line_is_of_an_action_there_is() {
        let own = [
            "open",
            "close",
            "cdp_connect",
            "upstream_switch",
            "policy_allow",
            "policy_deny",
            "policy_revoke",
            "approval_answer",
        ];
        for (name, _) in TABLE.iter().filter(|(name, _)| !own.contains(name)) {
            assert!(ACTIONS.iter().any(|action| action.name == *name), "{name} is gone");
        }
    }

    #[test]
    fn t39_what_is_typed_or_secret_is_hidden_in_every_action() {
        let secret =
            ["value", "text", "password", "form", "expression", "script", "body", "post_data", "user"];
        for (action, told) in TABLE {
            for (name, telling) in *told {
                assert!(!secret.contains(name) || *telling == Hidden, "{action}: {name} is told");
            }
        }
        for (action, name) in [("press", "keys"), ("headers", "headers"), ("route", "header")] {
            let telling = told_parameters(action).iter().find(|(told, _)| *told == name);
            assert_eq!(telling.map(|(_, telling)| *telling), Some(Count), "{action}");
        }
        assert!(told_parameters("no_such_action").is_empty());
    }
}
