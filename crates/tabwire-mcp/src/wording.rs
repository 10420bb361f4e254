//! Advice that was written for a terminal, in the words of tools. Knows names of tools, nothing else.

use crate::offered_tool::offered_tools;

/// Says the same with tools: `` `tabwire wait-for --load` `` becomes `` `wait_for` with load ``.
///
/// Commands that are no tools are for the user, and stay as they are.
pub(crate) fn in_tools(text: &str) -> String {
    let mut told = String::with_capacity(text.len());
    for (index, part) in text.split('`').enumerate() {
        let is_quoted = index % 2 == 1;
        match part.strip_prefix("tabwire ").filter(|_| is_quoted).and_then(as_tool) {
            Some(tool) => told.push_str(&format!("`{tool}`")),
            None if is_quoted => told.push_str(&format!("`{}`", without_dashes(part))),
            None => told.push_str(&without_dashes(part)),
        }
    }
    told
}

/// A command line as a tool with its arguments.
fn as_tool(line: &str) -> Option<String> {
    let (command, rest) = line.split_once(' ').unwrap_or((line, ""));
    let name = command.replace('-', "_");
    let name = if name == "open" { "navigate".to_owned() } else { name };
    offered_tools().iter().find(|tool| tool.name == name)?;
    let rest = without_dashes(rest);
    Some(if rest.is_empty() { name } else { format!("{name} {rest}") })
}

/// Flags as arguments: `--from` is `from`.
pub(crate) fn without_dashes(text: &str) -> String {
    let is_user_command = text.starts_with("tabwire ");
    if is_user_command || !text.contains("--") {
        return text.to_owned();
    }
    let mut told = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("--") {
        let (before, flag) = rest.split_at(at);
        told.push_str(before);
        let name = &flag[2..];
        let starts = name.starts_with(|letter: char| letter.is_ascii_lowercase());
        let stands_alone = before.is_empty() || before.ends_with([' ', '(', ',']);
        if !starts || !stands_alone {
            told.push_str("--");
            rest = name;
            continue;
        }
        let end =
            name.find(|letter: char| !letter.is_ascii_lowercase() && letter != '-').unwrap_or(name.len());
        told.push_str(&name[..end].replace('-', "_"));
        rest = &name[end..];
    }
    told.push_str(rest);
    told
}

#[cfg(test)]
mod tests {
    use super::in_tools;

    #[test]
    fn advice_speaks_of_tools() {
        for (line, told) in [
            ("Run `tabwire snapshot` again.", "Run `snapshot` again."),
            ("wait with `tabwire wait-for --load`", "wait with `wait_for load`"),
            ("go on with --from 40, or raise --max-bytes", "go on with from 40, or raise max_bytes"),
            ("Run `tabwire doctor --fix`.", "Run `tabwire doctor --fix`."),
            ("a -- b, x--y", "a -- b, x--y"),
        ] {
            assert_eq!(in_tools(line), told);
        }
    }
}
