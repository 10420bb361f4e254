//! `tabwire` alone on a terminal: what it is, whether a browser was found, and where to start.

use tabwire_api::VERSION;
use tabwire_browser::finder;

use crate::environment::Environment;

/// Prints at most ten lines.
pub(crate) fn welcome(environment: &Environment) {
    anstream::println!("{}", text(&browser(environment)));
}

fn browser(environment: &Environment) -> String {
    match finder::find_all(environment.path.as_deref()).into_iter().next() {
        Some(found) => found.path.display().to_string(),
        None if cfg!(target_os = "macos") => {
            "none found; `brew install --cask google-chrome` installs one".to_owned()
        }
        None => "none found; install Chrome, Chromium, Edge or Brave, or run `tabwire demo`".to_owned(),
    }
}

fn text(browser: &str) -> String {
    format!(
        "\
Tabwire {VERSION} lets software agents drive a browser: yours, or one that it starts.
Browser: {browser}

  tabwire demo                               watch a script use a page, with a recording
  tabwire mcp install --client claude-code   let your agent browse (or codex, cursor, ...)
  tabwire open example.org                   browse from this shell

tabwire help lists the commands, tabwire docs the documentation, tabwire doctor finds problems."
    )
}

#[cfg(test)]
mod tests {
    use super::text;

    #[test]
    fn the_first_screen_has_ten_lines_and_commands_that_parse() {
        let text = text("/usr/bin/chromium");
        assert!(text.lines().count() <= 10, "{text}");
        let commands = text.lines().filter_map(|line| line.strip_prefix("  tabwire "));
        let commands: Vec<_> = commands.filter_map(|line| line.split("  ").next()).collect();
        assert_eq!(commands.len(), 3);
        for line in commands {
            let words = std::iter::once("tabwire").chain(line.split(' ')).map(std::ffi::OsString::from);
            assert!(crate::cli::invocation::parse(&words.collect::<Vec<_>>()).is_ok(), "{line}");
        }
    }
}
