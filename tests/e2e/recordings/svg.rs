//! Draws a recording: an SVG that plays by CSS, without scripts. Readers who prefer no motion see its end.

use super::terminal::{COLUMNS, Shown};

const WIDTH: usize = 860;
const TOP: usize = 62;
const LINE: usize = 21;

/// Seconds per typed letter, between a command and its output, per line of output, after a command, at the end.
const TYPED: f64 = 0.035;
const BEFORE_OUTPUT: f64 = 0.4;
const PER_LINE: f64 = 0.06;
const AFTER_OUTPUT: f64 = 1.2;
const AT_THE_END: f64 = 5.0;

/// Colours of the eight numbers of a terminal, ordinary and bright alike.
const COLOURS: [&str; 8] =
    ["#8b949e", "#ff7b72", "#7ee787", "#e3b341", "#79c0ff", "#d2a8ff", "#76e3ea", "#e6edf3"];

/// A line of the picture: its time, how long it is typed, and its content.
struct Line {
    at: f64,
    typing: f64,
    content: String,
}

pub(super) fn drawn(label: &str, steps: &[Shown]) -> String {
    let (mut lines, mut now) = (Vec::new(), 0.6);
    for step in steps {
        for (index, part) in wrapped(&step.command).into_iter().enumerate() {
            let prompt = if index == 0 { "$ " } else { "  " };
            let typing = TYPED * part.chars().count() as f64;
            let content = span("#8b949e", prompt) + &span("#e6edf3", &part);
            lines.push(Line { at: now, typing, content });
            now += typing;
        }
        now += BEFORE_OUTPUT;
        for line in &step.lines {
            lines.push(Line { at: now, typing: 0.0, content: coloured(line) });
            now += PER_LINE;
        }
        lines.push(Line { at: now, typing: 0.0, content: String::new() });
        now += AFTER_OUTPUT;
    }
    lines.pop();
    picture(label, &lines, now + AT_THE_END)
}

fn picture(label: &str, lines: &[Line], length: f64) -> String {
    let height = TOP + LINE * lines.len() + 10;
    let (mut style, mut text) = (String::new(), String::new());
    for (index, line) in lines.iter().enumerate().filter(|(_, line)| !line.content.is_empty()) {
        let share = |seconds: f64| format!("{:.2}%", 100.0 * seconds / length);
        let (start, end) = (share(line.at), share(line.at + line.typing.max(0.01)));
        let y = TOP + LINE * index;
        if line.typing > 0.0 {
            style.push_str(&format!(
                "@keyframes l{index}{{0%,{start}{{clip-path:inset(0 100% 0 0)}}{end},100%{{clip-path:inset(0 -1% 0 0)}}}}"
            ));
        } else {
            style.push_str(&format!("@keyframes l{index}{{0%,{start}{{opacity:0}}{end},100%{{opacity:1}}}}"));
        }
        style.push_str(&format!("#l{index}{{animation:l{index} {length:.1}s linear infinite}}\n"));
        text.push_str(&format!("<text id=\"l{index}\" x=\"22\" y=\"{y}\">{}</text>\n", line.content));
    }
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" width=\"{WIDTH}\" height=\"{height}\" role=\"img\" aria-label=\"{}\">\n\
         <style>\ntext {{ white-space: pre }}\n@media (prefers-reduced-motion: no-preference) {{\n{style}}}\n</style>\n\
         <rect width=\"{WIDTH}\" height=\"{height}\" rx=\"10\" fill=\"#0d1117\" stroke=\"#30363d\"/>\n\
         <circle cx=\"24\" cy=\"22\" r=\"6\" fill=\"#ff5f57\"/><circle cx=\"44\" cy=\"22\" r=\"6\" fill=\"#febc2e\"/><circle cx=\"64\" cy=\"22\" r=\"6\" fill=\"#28c840\"/>\n\
         <g font-family=\"ui-monospace, SFMono-Regular, Menlo, Consolas, monospace\" font-size=\"14\">\n{text}</g>\n</svg>\n",
        escaped(label)
    )
}

/// A command in lines that fit beside the prompt, cut at spaces.
fn wrapped(command: &str) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in command.split(' ') {
        let last = lines.len() - 1;
        if lines[last].chars().count() + word.chars().count() + 3 > COLUMNS {
            lines.push(String::new());
        }
        let last = lines.last_mut().expect("one at least");
        if !last.is_empty() {
            last.push(' ');
        }
        last.push_str(word);
    }
    lines
}

/// The parts of a line in the colours that the escape sequences set.
fn coloured(line: &str) -> String {
    let (mut colour, mut room) = (COLOURS[7], COLUMNS);
    let mut parts = line.split("\u{1b}[");
    let mut spans = part_span(colour, parts.next().unwrap_or_default(), &mut room);
    for part in parts {
        let Some(end) = part.find(|letter: char| letter.is_ascii_alphabetic()) else { continue };
        if part[end..].starts_with('m') {
            colour = colour_of(&part[..end], colour);
        }
        spans.push_str(&part_span(colour, &part[end + 1..], &mut room));
    }
    spans
}

fn part_span(colour: &str, text: &str, room: &mut usize) -> String {
    let count = text.chars().count();
    let shown: String = if count > *room {
        text.chars().take(room.saturating_sub(1)).chain(['…']).collect()
    } else {
        text.to_owned()
    };
    let is_full = *room == 0;
    *room = room.saturating_sub(count);
    if shown.is_empty() || is_full { String::new() } else { span(colour, &shown) }
}

fn colour_of(numbers: &str, before: &'static str) -> &'static str {
    numbers.split(';').fold(before, |colour, number| match number.parse::<usize>() {
        Ok(0) | Err(_) => COLOURS[7],
        Ok(2) => COLOURS[0],
        Ok(number @ (30..=37 | 90..=97)) => COLOURS[number % 10],
        Ok(_) => colour,
    })
}

fn span(colour: &str, text: &str) -> String {
    format!("<tspan fill=\"{colour}\">{}</tspan>", escaped(text))
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
