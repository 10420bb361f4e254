//! `mcp --list-tools`: lists a client's tools and their size in tokens.

use serde_json::json;
use tabwire_api::Failure;
use tabwire_mcp::ToolSet;

use super::super::Context;

pub(super) fn run(context: &Context<'_>, tools: &[String]) -> Result<(), Failure> {
    let chosen = ToolSet::choose(tools)?;
    let listed: Vec<_> = chosen.tools().iter().map(|tool| (tool.name, tool.tokens(), tool.json())).collect();
    let sum: usize = listed.iter().map(|(_, tokens, _)| tokens).sum();
    let data: Vec<_> = listed
        .iter()
        .map(|(name, tokens, tool)| json!({"name": name, "tokens": tokens, "tool": tool}))
        .collect();
    context.printer.result(&json!({"tokens": sum, "tools": data}), || {
        let lines = listed.iter().map(|(name, tokens, tool)| {
            let words = tool.get("description").and_then(serde_json::Value::as_str).unwrap_or_default();
            format!("{tokens:>5}  {name:<18} {words}")
        });
        let lines: Vec<String> = lines.collect();
        format!("{}\n{sum:>5}  tokens for {} tools", lines.join("\n"), listed.len())
    });
    Ok(())
}
