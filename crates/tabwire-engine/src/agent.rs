//! The source of the page agent: the files in `page/agent/`, joined when the crate is built.

/// The script that installs the agent in its execution context, once per document.
#[must_use]
pub const fn page_agent() -> &'static str {
    include_str!(concat!(env!("OUT_DIR"), "/page_agent.js"))
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::page_agent;

    /// All parts share one scope, in which a second function of the same name silently replaces the first.
    #[test]
    fn no_two_parts_declare_the_same_name() {
        let mut seen = HashSet::new();
        for line in page_agent().lines() {
            let declared = ["function ", "async function ", "const ", "let ", "class "]
                .iter()
                .find_map(|word| line.strip_prefix(word));
            let Some(rest) = declared else { continue };
            let name: String =
                rest.chars().take_while(|letter| letter.is_alphanumeric() || *letter == '_').collect();
            assert!(name.is_empty() || seen.insert(name.clone()), "{name} is declared twice");
        }
        assert!(seen.len() > 100, "the parts have declarations at the start of lines");
    }
}
