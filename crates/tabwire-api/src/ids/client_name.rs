//! The name of a client: short and plain, because it is shown to users and stored in the audit log.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The name of an agent, a script or a terminal.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ClientName(String);

/// Names that clients give themselves, and how their users call them.
const DISPLAY_NAMES: [(&str, &str); 17] = [
    ("claude-code", "Claude Code"),
    ("claude-ai", "Claude"),
    ("codex", "Codex"),
    ("codex-mcp-client", "Codex"),
    ("gemini", "Gemini CLI"),
    ("gemini-cli-mcp-client", "Gemini CLI"),
    ("cursor-vscode", "Cursor"),
    ("cursor", "Cursor"),
    ("Visual Studio Code", "VS Code"),
    ("windsurf-client", "Windsurf"),
    ("zed", "Zed"),
    ("goose", "Goose"),
    ("opencode", "OpenCode"),
    ("qwen", "Qwen Code"),
    ("Cline", "Cline"),
    ("LibreChat", "LibreChat"),
    ("mcp", "MCP client"),
];

/// Longest name.
const LONGEST: usize = 64;

/// Why a text is not a client's name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a client's name: use 1 to 64 letters, digits, spaces, `-`, `_`, `.`, `:`, `@` or `/`")]
pub struct ClientNameError(String);

impl ClientName {
    /// Validates a name.
    ///
    /// # Errors
    /// When the name is empty, too long, or has a character that is not allowed.
    pub fn new(text: &str) -> Result<Self, ClientNameError> {
        let allowed = |letter: char| letter.is_ascii_alphanumeric() || " -_.:@/".contains(letter);
        let plain = text.trim();
        if !plain.is_empty() && text.len() <= LONGEST && text.chars().all(allowed) {
            Ok(Self(plain.to_owned()))
        } else {
            Err(ClientNameError(text.chars().filter(|letter| !letter.is_control()).take(LONGEST).collect()))
        }
    }

    /// The default name of a terminal user.
    #[must_use]
    pub fn terminal() -> Self {
        Self("terminal".to_owned())
    }

    /// The name as users know it: `Claude Code` for `claude-code:6979`.
    #[must_use]
    pub fn display_name(&self) -> String {
        // The number tells connections of the same program apart.
        let is_number = |end: &str| {
            !end.is_empty() && end.trim_start_matches('h').bytes().all(|byte| byte.is_ascii_digit())
        };
        // The id of a chat: grants for its agent hold in the agent's other chats too.
        let is_chat =
            |end: &str| end.len() == 12 && end.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        let name = match self.0.rsplit_once(':') {
            Some((name, end)) if (is_number(end) || is_chat(end)) && !name.is_empty() => name,
            _ => &self.0,
        };
        let known = DISPLAY_NAMES.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
        known.map_or(name, |(_, shown)| shown).to_owned()
    }

    /// The name as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ClientName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(&self.0)
    }
}

impl std::str::FromStr for ClientName {
    type Err = ClientNameError;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::new(text)
    }
}

impl TryFrom<String> for ClientName {
    type Error = ClientNameError;
    fn try_from(text: String) -> Result<Self, Self::Error> {
        Self::new(&text)
    }
}

impl From<ClientName> for String {
    fn from(name: ClientName) -> Self {
        name.0
    }
}

#[cfg(test)]
mod tests {
    use super::ClientName;

    #[test]
    fn a_display_name_has_no_number() {
        for (name, shown) in [
            ("claude-code:6979", "Claude Code"),
            ("codex-mcp-client:h3", "Codex"),
            ("my agent:12", "my agent"),
            ("codex:3f9c0a1b2c4d", "Codex"),
            ("qwen:0123456789ab", "Qwen Code"),
            ("codex:3f9c0a1b2c4", "codex:3f9c0a1b2c4"),
            ("anna", "anna"),
            ("a:b", "a:b"),
        ] {
            assert_eq!(ClientName::new(name).expect("a name").display_name(), shown);
        }
    }

    #[test]
    fn names_are_plain() {
        assert_eq!(ClientName::new(" agent one ").expect("a name").as_str(), "agent one");
        for bad in ["", "  ", "a\nb", "ä", "\u{202e}x", &"x".repeat(65)] {
            assert!(ClientName::new(bad).is_err(), "{bad:?}");
        }
    }
}
