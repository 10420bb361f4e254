//! Runs commands on a terminal and keeps what it showed.

use crate::support::world::World;

/// The width of the terminal.
pub(super) const COLUMNS: usize = 98;

/// A command and the lines that it printed, with their colours.
pub(super) struct Shown {
    pub(super) command: String,
    pub(super) lines: Vec<String>,
}

pub(super) struct Terminal<'a> {
    world: &'a World,
    shown: Vec<Shown>,
}

impl<'a> Terminal<'a> {
    pub(super) fn new(world: &'a World) -> Self {
        Terminal { world, shown: Vec::new() }
    }

    pub(super) fn steps(&self) -> &[Shown] {
        &self.shown
    }

    /// Runs the program under test as `tabwire`; returns its output without colours.
    pub(super) fn run(&mut self, command: &str) -> String {
        let binary = env!("CARGO_BIN_EXE_tabwire");
        let words = command.strip_prefix("tabwire").expect("a command of the program");
        let line = format!("stty cols {COLUMNS} rows 50; {binary}{words}");
        let options = ["-qec", &line, "/dev/null"];
        let mut process = self.world.command("script", &options);
        let child = process.env("TERM", "xterm-256color").env_remove("NO_COLOR").spawn();
        let output = crate::support::world::wait(child.expect("`script` starts"), &options).stdout;
        let lines: Vec<String> =
            self.masked(&output).lines().map(last_state).filter(|line| !is_of_root(line)).collect();
        let text = lines.iter().map(|line| without_colours(line) + "\n").collect();
        self.shown.push(Shown { command: command.to_owned(), lines });
        text
    }

    /// Output without what differs between runs: directories, ports and the fence of a page.
    fn masked(&self, output: &str) -> String {
        let text = output.trim_end().replace("\r\n", "\n");
        let text = text.replace(&self.world.home().display().to_string(), "~/.tabwire");
        let text = with_number_after(&text, "127.0.0.1:", "9417", |letter| letter.is_ascii_digit());
        ["<page ", "</page "].iter().fold(text, |text, start| {
            with_number_after(&text, start, "5f3a91c2", |letter| letter.is_ascii_hexdigit())
        })
    }
}

/// Replaces the letters after each place of `start`.
fn with_number_after(text: &str, start: &str, number: &str, is_part: fn(char) -> bool) -> String {
    let mut parts = text.split(start);
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |found, part| found + start + number + part.trim_start_matches(is_part))
}

/// What a line looks like at its end: progress overwrites itself.
fn last_state(line: &str) -> String {
    let shown = line.trim_end_matches('\r').rsplit(['\r']).next().unwrap_or_default();
    let shown = shown.rsplit("\u{1b}[2K").next().unwrap_or_default();
    shown.rsplit("\u{1b}[K").next().unwrap_or_default().to_owned()
}

/// The note to users who are root, as the tests often are.
fn is_of_root(line: &str) -> bool {
    without_colours(line).starts_with("note: The browser runs without its sandbox")
}

/// A line without escape sequences.
pub(super) fn without_colours(line: &str) -> String {
    let mut parts = line.split("\u{1b}[");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| {
        text + part.split_once(|end: char| end.is_ascii_alphabetic()).map_or("", |(_, rest)| rest)
    })
}
