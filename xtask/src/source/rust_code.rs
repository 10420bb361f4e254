//! Rust source with comments, strings and character literals blanked out, and the extent of its functions.
//!
//! A scanner, not a parser: it matches braces and words.

/// A function found in a file. Lines count from one.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Function {
    pub(crate) name: String,
    pub(crate) first_line: usize,
    pub(crate) last_line: usize,
}

impl Function {
    /// Lines from the signature to the closing brace.
    pub(crate) fn line_count(&self) -> usize {
        self.last_line - self.first_line + 1
    }
}

/// Blanked Rust text. Every character keeps its line and column.
pub(crate) struct RustCode {
    characters: Vec<char>,
    /// Position of the first character of every line.
    line_starts: Vec<usize>,
}

impl RustCode {
    /// Blanks the comments and literals of a source text.
    pub(crate) fn of(source: &str) -> RustCode {
        let characters: Vec<char> = source.chars().collect();
        let mut blanked = characters.clone();
        let mut position = 0;
        while position < characters.len() {
            let end = literal_end(&characters, position);
            let Some(end) = end else {
                position += 1;
                continue;
            };
            for character in blanked.iter_mut().take(end).skip(position) {
                if *character != '\n' {
                    *character = ' ';
                }
            }
            position = end;
        }
        let ends = blanked.iter().enumerate().filter(|(_, character)| **character == '\n');
        let line_starts = std::iter::once(0).chain(ends.map(|(at, _)| at + 1)).collect();
        RustCode { characters: blanked, line_starts }
    }

    /// The blanked text, line by line, numbered from one.
    pub(crate) fn numbered_lines(&self) -> Vec<(usize, String)> {
        let text: String = self.characters.iter().collect();
        text.split('\n').enumerate().map(|(index, line)| (index + 1, line.to_owned())).collect()
    }

    /// Lines on which `pattern` occurs as a word of its own, not as the tail of a longer name.
    pub(crate) fn lines_with(&self, pattern: &str) -> Vec<usize> {
        let lines = self.numbered_lines();
        lines.into_iter().filter(|(_, line)| contains_word(line, pattern)).map(|(number, _)| number).collect()
    }

    /// How often `pattern` occurs in the code.
    pub(crate) fn count(&self, pattern: &str) -> usize {
        self.characters.iter().collect::<String>().matches(pattern).count()
    }

    /// Every function with a body.
    pub(crate) fn functions(&self) -> Vec<Function> {
        let mut functions = Vec::new();
        for start in self.word_positions("fn") {
            let name_start = self.skip_spaces(start + 2);
            let name: String = self.characters[name_start..].iter().take_while(|c| is_word(**c)).collect();
            if name.is_empty() {
                continue;
            }
            if let Some(end) = self.find_item_end(name_start) {
                let (first_line, last_line) = (self.line_of(start), self.line_of(end));
                functions.push(Function { name, first_line, last_line });
            }
        }
        functions
    }

    /// First and last line of every braced item that follows an attribute starting with `attribute`.
    pub(crate) fn items_after(&self, attribute: &str) -> Vec<(usize, usize)> {
        let wanted: Vec<char> = attribute.chars().collect();
        self.positions(&wanted)
            .into_iter()
            .filter_map(|start| Some((self.line_of(start), self.line_of(self.find_item_end(start)?))))
            .collect()
    }

    /// Position of the brace that closes the item starting at `start`; none if a semicolon ends it first.
    fn find_item_end(&self, start: usize) -> Option<usize> {
        let mut enclosed = 0usize;
        for position in start..self.characters.len() {
            match self.characters[position] {
                '(' | '[' => enclosed += 1,
                ')' | ']' => enclosed = enclosed.saturating_sub(1),
                ';' if enclosed == 0 => return None,
                '{' if enclosed == 0 => return self.find_closing_brace(position),
                _ => {}
            }
        }
        None
    }

    fn find_closing_brace(&self, open: usize) -> Option<usize> {
        let mut depth = 0usize;
        for (position, character) in self.characters.iter().enumerate().skip(open) {
            match character {
                '{' => depth += 1,
                '}' if depth <= 1 => return Some(position),
                '}' => depth -= 1,
                _ => {}
            }
        }
        None
    }

    fn word_positions(&self, word: &str) -> Vec<usize> {
        let wanted: Vec<char> = word.chars().collect();
        let is_whole = |start: &usize| {
            (*start == 0 || !is_word(self.characters[*start - 1]))
                && self.characters.get(*start + wanted.len()).is_none_or(|next| !is_word(*next))
        };
        self.positions(&wanted).into_iter().filter(is_whole).collect()
    }

    /// Where a text occurs. Compares the first character before the rest: the checks scan the whole tree several times.
    fn positions(&self, wanted: &[char]) -> Vec<usize> {
        let Some(first) = wanted.first() else { return Vec::new() };
        let starts = self.characters.iter().enumerate().filter(|(_, character)| *character == first);
        let starts = starts.map(|(start, _)| start);
        starts.filter(|start| self.characters[*start..].starts_with(wanted)).collect()
    }

    fn skip_spaces(&self, start: usize) -> usize {
        let spaces =
            self.characters[start..].iter().take_while(|character| character.is_whitespace()).count();
        start + spaces
    }

    fn line_of(&self, position: usize) -> usize {
        self.line_starts.partition_point(|start| *start <= position)
    }
}

/// Whether `pattern` occurs in `line` and is not the tail of a longer name.
fn contains_word(line: &str, pattern: &str) -> bool {
    let mut hits = line.match_indices(pattern);
    hits.any(|(at, _)| line[..at].chars().next_back().is_none_or(|before| !is_word(before)))
}

fn is_word(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

/// Where the comment or literal that starts at `start` ends; none if code starts there.
fn literal_end(text: &[char], start: usize) -> Option<usize> {
    let rest = &text[start..];
    match rest {
        ['/', '/', ..] => Some(start + rest.iter().take_while(|character| **character != '\n').count()),
        ['/', '*', ..] => Some(block_comment_end(text, start)),
        ['"', ..] => Some(quoted_end(text, start + 1, '"')),
        ['\'', '\\', ..] => Some(quoted_end(text, start + 1, '\'')),
        ['\'', _, '\'', ..] => Some(start + 3),
        ['r', '#' | '"', ..] if !follows_name(text, start) => raw_string_end(text, start + 1),
        _ => None,
    }
}

/// A name before an `r` makes it part of that name, except the prefixes `b` and `c` of raw strings.
fn follows_name(text: &[char], start: usize) -> bool {
    match start.checked_sub(1).and_then(|before| text.get(before)) {
        Some('b' | 'c') => {
            start.checked_sub(2).and_then(|before| text.get(before)).is_some_and(|c| is_word(*c))
        }
        Some(before) => is_word(*before),
        None => false,
    }
}

fn block_comment_end(text: &[char], start: usize) -> usize {
    let mut depth = 0usize;
    let mut position = start;
    while position < text.len() {
        match &text[position..] {
            ['/', '*', ..] => (depth, position) = (depth + 1, position + 2),
            ['*', '/', ..] if depth == 1 => return position + 2,
            ['*', '/', ..] => (depth, position) = (depth - 1, position + 2),
            _ => position += 1,
        }
    }
    text.len()
}

fn quoted_end(text: &[char], after_quote: usize, quote: char) -> usize {
    let mut position = after_quote;
    while position < text.len() {
        match text[position] {
            '\\' => position += 2,
            character if character == quote => return position + 1,
            _ => position += 1,
        }
    }
    text.len()
}

/// Ends a raw string whose hashes start at `hashes_at`; none for a raw name such as `r#type`.
fn raw_string_end(text: &[char], hashes_at: usize) -> Option<usize> {
    let hashes = text[hashes_at..].iter().take_while(|character| **character == '#').count();
    if text.get(hashes_at + hashes) != Some(&'"') {
        return None;
    }
    let mut closing = vec!['"'];
    closing.resize(hashes + 1, '#');
    let body = hashes_at + hashes + 1;
    let ending = (body..text.len()).find(|position| text[*position..].starts_with(&closing));
    Some(ending.map_or(text.len(), |position| position + closing.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn blanked(source: &str) -> String {
        RustCode::of(source).characters.into_iter().collect()
    }

    #[test]
    fn comments_and_literals_are_blanked_in_place() {
        let cases = [
            ("a // b {", "a       "),
            ("a /* { /* { */ { */ b", "a                   b"),
            (r#"f("{\"") }"#, "f(     ) }"),
            (r##"r#"{"#;"##, "      ;"),
            (r##"br#"{"# }"##, "b       }"),
            ("'{' }", "    }"),
            (r"'\'' }", "     }"),
            ("fn f<'a>(x: &'a str) {", "fn f<'a>(x: &'a str) {"),
            ("r#type {", "r#type {"),
            ("\"a\nb\" }", "  \n   }"),
        ];
        for (source, expected) in cases {
            assert_eq!(blanked(source).trim_end(), expected.trim_end(), "{source}");
        }
    }

    #[test]
    fn functions_are_found_with_their_extent() {
        let source = "trait T {\n    fn declared(&self, x: [u8; 4]);\n}\n\
                      async fn outer(\n    f: fn(u8) -> u8,\n) -> u8 {\n    \
                      fn inner() { \"}\"; }\n    '}'\n}\n";
        let functions = RustCode::of(source).functions();
        let found: Vec<_> = functions.iter().map(|f| (f.name.as_str(), f.first_line, f.last_line)).collect();
        assert_eq!(found, [("outer", 4, 9), ("inner", 7, 7)]);
        assert_eq!(functions[0].line_count(), 6);
    }

    #[test]
    fn a_pattern_is_not_found_inside_a_longer_name_or_a_string() {
        let code = RustCode::of(
            "thread::spawn(f);\nmythread::spawn(f);\nstd::thread::spawn(f);\n\"thread::spawn(\"",
        );
        assert_eq!(code.lines_with("thread::spawn("), [1, 3]);
    }

    #[test]
    fn items_after_an_attribute_end_at_their_brace() {
        let code = RustCode::of(
            "#[cfg(test)]\nmod elsewhere;\n#[cfg(test)]\nmod tests {\n    fn a() {}\n}\nfn b() {}\n",
        );
        assert_eq!(code.items_after("#[cfg(test)]"), [(3, 6)]);
    }

    #[test]
    fn incomplete_source_does_not_panic() {
        for source in ["\"", "'\\", "r#\"", "/*", "fn", "fn f(", "fn f() {", "r"] {
            let _ = RustCode::of(source).functions();
        }
    }
}
