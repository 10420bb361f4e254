//! Names of agents as their users know them. An agent chooses its own name, so a name proves nothing.

use tabwire_api::ClientName;
use tabwire_audit::Transport;

use crate::http::caller::Caller;

/// Programs of agents that run commands, with the product's name.
const PROGRAMS: [(&str, &str); 8] = [
    ("claude", "Claude Code"),
    ("codex", "Codex"),
    ("copilot", "GitHub Copilot"),
    ("cursor-agent", "Cursor"),
    ("gemini", "Gemini CLI"),
    ("goose", "Goose"),
    ("opencode", "OpenCode"),
    ("qwen", "Qwen Code"),
];

/// The name of the agent behind a request: the name that the client gives itself, or the agent whose process started
/// the command, or the kind of front end.
pub(crate) fn agent_name(client: Option<&ClientName>, caller: &Caller) -> String {
    if let Some(client) = client {
        return client.display_name();
    }
    if let Some(product) = caller.ancestors().iter().find_map(|program| find_product(program)) {
        return product.to_owned();
    }
    match caller.transport() {
        Transport::Port => "HTTP client".to_owned(),
        _ => "Command line".to_owned(),
    }
}

fn find_product(program: &str) -> Option<&'static str> {
    PROGRAMS.iter().find(|(known, _)| *known == program).map(|(_, product)| *product)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agents_have_the_names_of_their_products() {
        let client = ClientName::new("claude-code:3").expect("a name");
        assert_eq!(agent_name(Some(&client), &Caller::at_port(None)), "Claude Code");
        assert_eq!(agent_name(None, &Caller::at_port(None)), "HTTP client");
        assert_eq!(find_product("codex"), Some("Codex"));
        // The test's own process: its ancestors may be an agent's.
        let own = Caller::at_socket(Some(std::process::id().cast_signed()));
        assert!(!agent_name(None, &own).contains("process"));
    }
}
