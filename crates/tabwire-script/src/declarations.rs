//! The types of the API as a declaration file, and the names in it.

/// The declaration file: `tabwire types` prints it.
pub const TYPES: &str = include_str!("../types/tabwire.d.ts");

/// A member of an interface, such as `click`, and the interface that it returns, if it returns one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Member {
    /// Its name.
    pub name: &'static str,
    /// The text after its name: parameters and type.
    pub signature: &'static str,
}

impl Member {
    /// The name of the type that the member has or returns, without `Promise`.
    #[must_use]
    pub fn result(&self) -> &'static str {
        let result = self.signature.rsplit_once(": ").map_or("", |(_, result)| result);
        let result = result.trim_end_matches(';');
        let inner =
            result.strip_prefix("Promise<").and_then(|inner| inner.strip_suffix('>')).unwrap_or(result);
        inner.split([' ', '<', '|']).next().unwrap_or_default()
    }
}

/// The members of an interface or class, with those that it extends.
#[must_use]
pub fn members(interface: &str) -> Vec<Member> {
    let mut lines = TYPES.lines();
    let head = lines.find(|line| heads(line, interface));
    let Some(head) = head else { return Vec::new() };
    let indent = &head[..head.len() - head.trim_start().len()];
    let own = lines.map_while(|line| line.strip_prefix(indent)).take_while(|line| *line != "}");
    let mut found: Vec<Member> = own.filter_map(member).collect();
    let extended = head.split_once(" extends ").map(|(_, rest)| rest.trim_end_matches(" {"));
    for parent in extended.into_iter().flat_map(|parents| parents.split(", ")) {
        found.extend(members(parent.split('<').next().unwrap_or_default()));
    }
    found
}

/// The names of all interfaces.
#[must_use]
pub fn interfaces() -> Vec<&'static str> {
    let heads = TYPES.lines().filter_map(|line| line.strip_prefix("interface "));
    heads.filter_map(|rest| rest.split([' ', '<']).next()).collect()
}

/// The names that every script has, with their types: `page` is a `Page`.
#[must_use]
pub fn globals() -> Vec<Member> {
    let declared = TYPES.lines().filter_map(|line| {
        let rest = line.strip_prefix("declare ")?;
        let rest = ["const ", "let ", "var ", "function "].iter().find_map(|word| rest.strip_prefix(word))?;
        split_name(rest)
    });
    declared.collect()
}

/// Whether a line begins this interface or class, which may be inside a module.
fn heads(line: &str, interface: &str) -> bool {
    let line = line.trim_start();
    let rest = ["interface ", "declare class "].iter().find_map(|word| line.strip_prefix(word));
    let rest = rest.and_then(|rest| rest.strip_prefix(interface));
    rest.is_some_and(|rest| rest.starts_with([' ', '<']))
}

fn member(line: &'static str) -> Option<Member> {
    let rest = line.strip_prefix("  ").filter(|rest| !rest.starts_with([' ', '/', '*', '}', '[', '(']))?;
    if rest.starts_with("constructor(") || rest.starts_with("static ") {
        return None;
    }
    split_name(rest.strip_prefix("readonly ").unwrap_or(rest))
}

fn split_name(text: &'static str) -> Option<Member> {
    let end = text.find(|letter: char| !letter.is_alphanumeric() && letter != '_' && letter != '$')?;
    let (name, signature) = text.split_at(end);
    (!name.is_empty()).then_some(Member { name, signature })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_of_an_interface_and_of_those_that_it_extends_are_found() {
        let page = members("Page");
        let find = |name: &str| page.iter().find(|member| member.name == name).expect(name);
        assert_eq!(find("getByRole").result(), "Locator");
        assert_eq!(find("title").result(), "string");
        assert_eq!(find("keyboard").result(), "Keyboard");
        assert!(members("Locator").iter().any(|member| member.name == "click"));
        assert!(members("Missing").is_empty());
    }

    #[test]
    fn globals_and_interfaces_are_found() {
        let names: Vec<_> = globals().iter().map(|global| (global.name, global.result())).collect();
        assert!(names.contains(&("page", "Page")), "{names:?}");
        assert!(names.iter().any(|(name, _)| *name == "snapshot"), "{names:?}");
        for interface in ["Page", "Locator", "BrowserContext", "TabwireActions"] {
            assert!(interfaces().contains(&interface), "{interface}");
        }
    }
}
