//! Changes one table of a TOML text, and no other byte.

/// The text with the table `outer.inner` set to these lines.
pub(crate) fn set_table(
    text: &str,
    outer: &str,
    inner: &str,
    lines: &str,
) -> Result<String, toml::de::Error> {
    let kept = remove_table(text, outer, inner)?.unwrap_or_else(|| text.to_owned());
    let gap = match kept.trim_end() {
        "" => String::new(),
        kept => format!("{kept}\n\n"),
    };
    let changed = format!("{gap}[{outer}.{inner}]\n{lines}");
    changed.parse::<toml::Table>()?;
    Ok(changed)
}

/// The text without the table `outer.inner`; `None` when it does not exist.
pub(crate) fn remove_table(text: &str, outer: &str, inner: &str) -> Result<Option<String>, toml::de::Error> {
    text.parse::<toml::Table>()?;
    let (head, below) = (format!("[{outer}.{inner}]"), format!("[{outer}.{inner}."));
    let mut kept = String::with_capacity(text.len());
    let (mut is_inside, mut is_found) = (false, false);
    for line in text.split_inclusive('\n') {
        let plain = line.trim();
        if plain.starts_with('[') {
            is_inside = plain.starts_with(&head) || plain.starts_with(&below);
            is_found |= is_inside;
        }
        if !is_inside {
            kept.push_str(line);
        }
    }
    if !is_found {
        return Ok(None);
    }
    kept.parse::<toml::Table>()?;
    Ok(Some(kept))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_table_changes_and_comments_stay() {
        let lines = "command = \"tabwire\"\nargs = [\"mcp\"]\n";
        for text in [
            "",
            "# mine\nmodel = \"x\" # why\n\n[mcp_servers.other]\ncommand = \"y\"\n",
            "[mcp_servers.tabwire]\ncommand = \"old\"\n\n[mcp_servers.tabwire.env]\nA = \"b\"\n\n[z]\na = 1\n",
        ] {
            let set = set_table(text, "mcp_servers", "tabwire", lines).expect("valid");
            let read: toml::Table = set.parse().expect("valid");
            assert_eq!(read["mcp_servers"]["tabwire"]["command"].as_str(), Some("tabwire"), "{set}");
            for kept in ["# mine", "# why", "[mcp_servers.other]", "[z]"] {
                assert_eq!(set.contains(kept), text.contains(kept), "{kept}: {set}");
            }
            assert_eq!(
                set_table(&set, "mcp_servers", "tabwire", lines).expect("valid"),
                set,
                "a second change changes nothing"
            );
            let removed = remove_table(&set, "mcp_servers", "tabwire").expect("valid").expect("it was there");
            assert!(!removed.contains("tabwire"), "{removed}");
        }
        assert!(set_table("a = ", "mcp_servers", "tabwire", lines).is_err());
    }
}
