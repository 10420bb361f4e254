//! Completes names of the scripts' API, from its declaration file.

use tabwire_script::declarations::{Member, globals, members};

/// The names that continue the text before `at`, and where the completed name begins.
pub(super) fn complete(line: &str, at: usize) -> (usize, Vec<String>) {
    let before = &line[..line.floor_char_boundary(at)];
    let start = before
        .rfind(|letter: char| !is_name(letter))
        .map_or(0, |end| end + before[end..].chars().next().map_or(1, char::len_utf8));
    let (rest, start_of_name) = before.split_at(start);
    let known: Vec<&str> = match rest.strip_suffix('.') {
        Some(receiver) => {
            let receiver = receiver.strip_suffix('?').unwrap_or(receiver);
            type_of(receiver)
                .map(|name| members(name).iter().map(|member| member.name).collect())
                .unwrap_or_default()
        }
        None => globals().iter().map(|global| global.name).collect(),
    };
    let mut names: Vec<String> =
        known.into_iter().filter(|name| name.starts_with(start_of_name)).map(str::to_owned).collect();
    names.sort();
    names.dedup();
    (start, names)
}

fn is_name(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_' || letter == '$'
}

/// The interface of the expression that the text ends with.
fn type_of(text: &str) -> Option<&'static str> {
    let text = text.trim_end();
    let is_call = text.ends_with(')');
    // A call: without its arguments.
    let text = if is_call { text[..matching_bracket(text)?].trim_end() } else { text };
    let start = text
        .rfind(|letter: char| !is_name(letter))
        .map_or(0, |end| end + text[end..].chars().next().map_or(1, char::len_utf8));
    let (rest, name) = text.split_at(start);
    let scope: Vec<Member> = match rest.strip_suffix('.') {
        Some(receiver) => members(type_of(receiver)?),
        None => globals(),
    };
    if name == "expect" && !rest.ends_with('.') && is_call {
        return Some("LocatorAssertions");
    }
    let member = scope.iter().find(|member| member.name == name)?;
    let result = member.result();
    // `(await page.$('x')).` and values of the language have no interface of the API.
    tabwire_script::declarations::interfaces().into_iter().find(|interface| *interface == result)
}

/// Where the bracket opens that the text closes at its end.
fn matching_bracket(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, letter) in text.char_indices().rev() {
        match letter {
            ')' => depth += 1,
            '(' => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return Some(at);
                }
            }
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(line: &str) -> Vec<String> {
        complete(line, line.len()).1
    }

    #[test]
    fn names_follow_from_the_receiver() {
        assert!(names("pag").contains(&"page".to_owned()));
        assert_eq!(names("await page.getByR"), ["getByRole"]);
        assert_eq!(names("page.keyboard.pre"), ["press"]);
        assert!(names("page.getByRole('button', { name: f(1) }).first().cli").contains(&"click".to_owned()));
        assert!(names("await expect(page.locator('a')).toBeV").contains(&"toBeVisible".to_owned()));
        assert!(names("tabwire.snap").contains(&"snapshot".to_owned()));
        assert!(names("nothing.").is_empty());
        assert!(names("ä.").is_empty());
        assert_eq!(complete("x = page.ur", 11), (9, vec!["url".to_owned()]));
    }
}
