//! Table: clients that show structured content to their models, by the name and version of `initialize`.
//!
//! A client that is not listed gets text only: many clients drop structured content, and their models would see
//! nothing.

use rmcp::RoleServer;
use rmcp::model::ProtocolVersion;
use rmcp::service::RequestContext;

/// Names of clients, with the first version that shows structured content to its model.
const SHOWS_STRUCTURED: [(&str, [u64; 3]); 2] =
    [("claude-code", [2, 0, 21]), ("codex-mcp-client", [0, 85, 0])];

/// Whether the client of a request is known to show structured content to its model.
pub(crate) fn shows_structured(context: &RequestContext<RoleServer>) -> bool {
    reads_structured(context)
        && context.client_info().is_some_and(|client| is_known(&client.name, &client.version))
}

/// Whether the client's protocol revision has structured content.
fn reads_structured(context: &RequestContext<RoleServer>) -> bool {
    let since = ProtocolVersion::V_2025_06_18;
    context.protocol_version().is_some_and(|version| version.as_str() >= since.as_str())
}

fn is_known(name: &str, version: &str) -> bool {
    let Some((_, since)) = SHOWS_STRUCTURED.iter().find(|(known, _)| *known == name) else { return false };
    numbers(version).is_some_and(|version| version >= *since)
}

/// The three numbers of a version. `None` if it does not begin with a number.
fn numbers(version: &str) -> Option<[u64; 3]> {
    let mut numbers =
        version.trim_start_matches('v').split(['.', '-', '+']).map(|part| part.parse::<u64>().ok());
    let major = numbers.next().flatten()?;
    let mut rest = || numbers.next().flatten().unwrap_or_default();
    Some([major, rest(), rest()])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_listed_clients_of_listed_versions_are_known() {
        for (name, version, expected) in [
            ("claude-code", "2.0.21", true),
            ("claude-code", "2.1", true),
            ("claude-code", "2.0.9", false),
            ("claude-code", "", false),
            ("claude-code", "latest", false),
            ("codex-mcp-client", "0.101.0-alpha.3", true),
            ("codex-mcp-client", "0.84.9", false),
            ("Claude-Code", "3.0.0", false),
            ("mcp", "1.0.0", false),
        ] {
            assert_eq!(is_known(name, version), expected, "{name} {version}");
        }
    }
}
