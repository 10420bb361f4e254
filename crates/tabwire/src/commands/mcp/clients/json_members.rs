//! Changes one member of a JSON text, and no other byte.

use std::ops::Range;

use serde::de::{MapAccess, Visitor};
use serde_json::value::RawValue;

/// A member of an object, with its position in the text.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Member {
    name: String,
    value: Range<usize>,
}

/// Reads the names and positions of an object's members, in order.
struct Members<'a>(&'a str);

impl<'de> Visitor<'de> for Members<'de> {
    type Value = Vec<Member>;

    fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Vec<Member>, A::Error> {
        let mut members = Vec::new();
        while let Some((name, value)) = map.next_entry::<String, &'de RawValue>()? {
            let start = value.get().as_ptr().addr() - self.0.as_ptr().addr();
            members.push(Member { name, value: start..start + value.get().len() });
        }
        Ok(members)
    }
}

fn members(text: &str) -> Result<Vec<Member>, serde_json::Error> {
    use serde::Deserializer as _;
    let mut reader = serde_json::Deserializer::from_str(text);
    let found = reader.deserialize_map(Members(text))?;
    reader.end()?;
    Ok(found)
}

/// The text with `outer.inner` set to a value, which is JSON.
pub(crate) fn set_member(
    text: &str,
    outer: &str,
    inner: &str,
    value: &str,
) -> Result<String, serde_json::Error> {
    let text = if text.trim().is_empty() { "{}\n" } else { text };
    let found = members(text)?;
    let Some(group) = found.iter().find(|member| member.name == outer) else {
        let group = format!("{{\n    {}: {}\n  }}", quoted(inner), indented(value, 4));
        return Ok(insert(text, &found, outer, &group, 2));
    };
    let inside = &text[group.value.clone()];
    let changed = match members(inside)? {
        servers if servers.iter().any(|member| member.name == inner) => {
            let at = servers.into_iter().find(|member| member.name == inner).map(|member| member.value);
            let at = at.unwrap_or(0..0);
            format!("{}{}{}", &inside[..at.start], indented(value, 4), &inside[at.end..])
        }
        servers => insert(inside, &servers, inner, &indented(value, 4), 4),
    };
    Ok(format!("{}{changed}{}", &text[..group.value.start], &text[group.value.end..]))
}

/// The text without `outer.inner`; `None` when it does not exist.
pub(crate) fn remove_member(
    text: &str,
    outer: &str,
    inner: &str,
) -> Result<Option<String>, serde_json::Error> {
    if text.trim().is_empty() {
        return Ok(None);
    }
    let found = members(text)?;
    let Some(group) = found.iter().find(|member| member.name == outer) else { return Ok(None) };
    let inside = &text[group.value.clone()];
    let servers = members(inside)?;
    let Some(index) = servers.iter().position(|member| member.name == inner) else { return Ok(None) };
    let before = index.checked_sub(1).map_or(1, |before| servers[before].value.end);
    let end = servers[index].value.end;
    // With the comma before it; the first of several members goes with the comma after it.
    let cut = match servers.get(index + 1) {
        Some(_) if index == 0 => before..end + inside[end..].find(',').map_or(0, |comma| comma + 1),
        _ => before..end,
    };
    let changed = format!("{}{}", &inside[..cut.start], &inside[cut.end..]);
    Ok(Some(format!("{}{changed}{}", &text[..group.value.start], &text[group.value.end..])))
}

/// The value of `outer.inner`.
pub(crate) fn find_member<'a>(text: &'a str, outer: &str, inner: &str) -> Option<&'a str> {
    let group = members(text).ok()?.into_iter().find(|member| member.name == outer)?;
    let inside = &text[group.value];
    let server = members(inside).ok()?.into_iter().find(|member| member.name == inner)?;
    Some(&inside[server.value])
}

/// Adds a member at the end of an object.
fn insert(text: &str, members: &[Member], name: &str, value: &str, indent: usize) -> String {
    let blanks = " ".repeat(indent);
    let member = format!("{}: {value}", quoted(name));
    match members.last() {
        Some(last) => {
            let (before, after) = text.split_at(last.value.end);
            format!("{before},\n{blanks}{member}{after}")
        }
        None => {
            let open = text.find('{').map_or(0, |open| open + 1);
            let close = text.rfind('}').unwrap_or(text.len());
            let outer = " ".repeat(indent.saturating_sub(2));
            format!("{}\n{blanks}{member}\n{outer}{}", &text[..open], &text[close..])
        }
    }
}

fn quoted(name: &str) -> String {
    serde_json::Value::from(name).to_string()
}

/// JSON over several lines, with later lines indented.
fn indented(value: &str, indent: usize) -> String {
    value.replace('\n', &format!("\n{}", " ".repeat(indent)))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn one_member_changes_and_no_other_byte() {
        let entry = "{\"command\": \"tabwire\"}";
        for text in [
            "",
            "{}",
            "{\"a\": 1.50, \"z\": [1,2]}",
            "{\n  \"mcpServers\": {}\n}\n",
            "{\"mcpServers\": {\"other\": {\"command\": \"x\"}}, \"big\": 123456789012345678901234567890}",
            "{\n  \"mcpServers\": {\n    \"tabwire\": {\"command\": \"old\"},\n    \"b\": {}\n  },\n  \"b\": \"\\u00e4\"\n}\n",
        ] {
            let set = set_member(text, "mcpServers", "tabwire", entry).expect("valid");
            let read: Value = serde_json::from_str(&set).unwrap_or_else(|error| panic!("{error}: {set}"));
            assert_eq!(read["mcpServers"]["tabwire"], json!({"command": "tabwire"}), "{set}");
            assert_eq!(find_member(&set, "mcpServers", "tabwire"), Some(entry));
            for kept in
                ["1.50", "123456789012345678901234567890", "\\u00e4", "\"other\": {\"command\": \"x\"}"]
            {
                assert_eq!(set.contains(kept), text.contains(kept), "{kept}: {set}");
            }
            assert_eq!(
                set_member(&set, "mcpServers", "tabwire", entry).expect("valid"),
                set,
                "a second change changes nothing"
            );
            let removed = remove_member(&set, "mcpServers", "tabwire").expect("valid").expect("it was there");
            let read: Value =
                serde_json::from_str(&removed).unwrap_or_else(|error| panic!("{error}: {removed}"));
            assert!(read["mcpServers"].get("tabwire").is_none(), "{removed}");
            assert_eq!(remove_member(&removed, "mcpServers", "tabwire").expect("valid"), None);
        }
        for wrong in ["[]", "{\"a\": }", "// mine\n{}", "{\"mcpServers\": []}", "{} x"] {
            assert!(set_member(wrong, "mcpServers", "tabwire", entry).is_err(), "{wrong}");
        }
    }
}
