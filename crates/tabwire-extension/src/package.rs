//! The extension's files, embedded in the binary, and the extension id that the daemon accepts.

/// The id that Chrome derives from the manifest's `key`. The daemon rejects every other one.
pub const EXTENSION_ID: &str = "pimdfmoiaojahepkopikadchpocaecik";

/// The registered name of the native messaging host.
pub const NATIVE_HOST: &str = "dev.tabwire.host";

/// The `Origin` header of the extension's requests.
#[must_use]
pub fn extension_origin() -> String {
    format!("chrome-extension://{EXTENSION_ID}")
}

macro_rules! files {
    (extension: [$($path:literal),+ $(,)?], shared: [$($shared:literal),+ $(,)?] $(,)?) => {
        &[
            $(($path, include_bytes!(concat!("../extension/", $path)) as &[u8]),)+
            $((concat!("shared/", $shared), include_bytes!(concat!("../web/shared/", $shared)) as &[u8]),)+
        ]
    };
}

/// Every file of the extension: its path in the package, content. The parts in `shared/` come from `web/shared/`.
pub static FILES: &[(&str, &[u8])] = files![
    extension: [
    "manifest.json",
    "worker.js",
    "link/command.js",
    "link/dial.js",
    "link/event_barrier.js",
    "link/link.js",
    "link/notifications.js",
    "link/outbox.js",
    "link/pairing.js",
    "link/pairing_state.js",
    "policy/blocked_cookies.js",
    "policy/cdp_rules.js",
    "policy/denials.js",
    "policy/network_block.js",
    "policy/sites.js",
    "policy/tab_protection.js",
    "tabs/debuggee.js",
    "tabs/downloads.js",
    "tabs/groups.js",
    "tabs/pointing.js",
    "tabs/sharing.js",
    "tabs/tabs.js",
    "ui/badge.js",
    "ui/connection.js",
    "ui/log.js",
    "ui/requests.js",
    "ui/rows.js",
    "ui/tab_state.js",
    "ui/view.js",
    "icons/16.png",
    "icons/32.png",
    "icons/48.png",
    "icons/128.png",
    "options/options.css",
    "options/options.html",
    "options/options.js",
    "panel/line.js",
    "panel/panel.css",
    "panel/panel.html",
    "panel/panel.js",
    "panel/tabs.js",
    "popup/popup.css",
    "popup/popup.html",
    "popup/popup.js",
    "popup/tab_lists.js",
    ],
    shared: [
        "base.css",
        "chat/agent_question.js",
        "chat/chat.css",
        "chat/chat.js",
        "chat/composer.js",
        "chat/header.js",
        "chat/history.js",
        "chat/model.js",
        "chat/screenshots.js",
        "chat/start.js",
        "chat/status.js",
        "chat/transcript.js",
        "chat/work.js",
        "components.css",
        "components.js",
        "element.js",
        "icons.js",
        "keyed_list.js",
        "markdown.js",
        "question.js",
        "store.js",
        "time.js",
        "tokens.css",
    ],
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;

    use super::*;

    fn manifest() -> serde_json::Value {
        let (_, text) = FILES.first().expect("the manifest comes first");
        serde_json::from_slice(text).expect("the manifest is JSON")
    }

    #[test]
    fn the_manifest_requests_only_used_permissions() {
        let manifest = manifest();
        let permissions: Vec<&str> = manifest["permissions"]
            .as_array()
            .expect("a list")
            .iter()
            .filter_map(serde_json::Value::as_str)
            .collect();
        assert_eq!(
            permissions,
            [
                "alarms",
                "debugger",
                "declarativeNetRequest",
                "downloads",
                "favicon",
                "nativeMessaging",
                "sidePanel",
                "storage",
                "tabGroups",
                "tabs",
                "webNavigation"
            ]
        );
        let policy = manifest["content_security_policy"]["extension_pages"].as_str().expect("a policy");
        for needed in ["default-src 'none'", "require-trusted-types-for 'script'", "trusted-types 'none'"] {
            assert!(policy.contains(needed), "{policy}");
        }
        for absent in [
            "host_permissions",
            "optional_permissions",
            "optional_host_permissions",
            "content_scripts",
            "externally_connectable",
            "web_accessible_resources",
        ] {
            assert!(manifest.get(absent).is_none(), "{absent} would widen its access");
        }
        let scripts: String = FILES
            .iter()
            .filter(|(path, _)| path.ends_with(".js"))
            .map(|(_, text)| String::from_utf8_lossy(text))
            .collect();
        for (permission, used) in [
            ("alarms", "chrome.alarms."),
            ("debugger", "chrome.debugger."),
            ("declarativeNetRequest", "chrome.declarativeNetRequest."),
            ("downloads", "chrome.downloads."),
            ("favicon", "/_favicon/"),
            ("nativeMessaging", "chrome.runtime.sendNativeMessage"),
            ("sidePanel", "chrome.sidePanel."),
            ("storage", "chrome.storage."),
            ("tabGroups", "chrome.tabGroups."),
            ("tabs", "chrome.tabs."),
            ("webNavigation", "chrome.webNavigation."),
        ] {
            assert!(scripts.contains(used), "{permission} is requested and unused");
        }
        assert_eq!(manifest["minimum_chrome_version"], "125", "flat child sessions");
    }

    #[test]
    fn the_extension_id_matches_the_key_in_the_manifest() {
        use ring::digest::{SHA256, digest};
        let manifest = manifest();
        let key = decode_base64(manifest["key"].as_str().expect("a key"));
        let id: String = digest(&SHA256, &key)
            .as_ref()
            .iter()
            .take(16)
            .flat_map(|byte| [byte >> 4, byte & 15])
            .map(|digit| char::from(b'a' + digit))
            .collect();
        assert_eq!(id, EXTENSION_ID);
    }

    fn decode_base64(text: &str) -> Vec<u8> {
        let digit = |byte: u8| match byte {
            b'A'..=b'Z' => u32::from(byte - b'A'),
            b'a'..=b'z' => u32::from(byte - b'a') + 26,
            b'0'..=b'9' => u32::from(byte - b'0') + 52,
            b'+' => 62,
            _ => 63,
        };
        let digits: Vec<u32> = text.bytes().filter(|byte| *byte != b'=').map(digit).collect();
        let mut bytes = Vec::new();
        for group in digits.chunks(4) {
            let number = group.iter().fold(0, |number, digit| number << 6 | digit) << (6 * (4 - group.len()));
            bytes.extend_from_slice(&number.to_be_bytes()[1..group.len()]);
        }
        bytes
    }

    #[test]
    fn every_file_of_the_extension_is_embedded() {
        fn walk(folder: &Path, below: &str, found: &mut BTreeSet<String>) {
            for entry in std::fs::read_dir(folder).expect("the extension's folder") {
                let entry = entry.expect("an entry");
                let path = format!("{below}{}", entry.file_name().to_string_lossy());
                if entry.path().is_dir() {
                    walk(&entry.path(), &format!("{path}/"), found);
                } else {
                    found.insert(path);
                }
            }
        }
        let mut found = BTreeSet::new();
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        walk(&root.join("extension"), "", &mut found);
        walk(&root.join("web/shared"), "shared/", &mut found);
        // Types for the checker, not for the browser.
        found.retain(|path| !path.ends_with(".d.ts"));
        let embedded: BTreeSet<String> = FILES.iter().map(|(path, _)| (*path).to_owned()).collect();
        assert_eq!(embedded, found);
    }

    #[test]
    fn the_extension_has_the_version_of_the_binary() {
        assert_eq!(manifest()["version"], tabwire_api::VERSION);
    }
}
