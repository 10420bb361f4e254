//! Prompts for a secret on the terminal, without echo.

use std::fs::File;
use std::io::{Read, Write};

use rustix::termios::{LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcsetattr};
use tabwire_api::{ErrorCode, Failure};
use tabwire_engine::{SecretText, visible_text};

/// Longest secret.
const MAX_BYTES: usize = 4096;

/// The controlling terminal without echo; restored on drop.
struct HiddenTerminal {
    terminal: File,
    before: Termios,
}

impl HiddenTerminal {
    fn open() -> Option<Self> {
        let terminal = File::options().read(true).write(true).open("/dev/tty").ok()?;
        let before = tcgetattr(&terminal).ok()?;
        let mut hidden = before.clone();
        // Without ICANON and ISIG, Ctrl-C arrives as a byte, and the terminal is restored before the process ends.
        hidden.local_modes -= LocalModes::ECHO | LocalModes::ECHONL | LocalModes::ICANON | LocalModes::ISIG;
        hidden.special_codes[SpecialCodeIndex::VMIN] = 1;
        hidden.special_codes[SpecialCodeIndex::VTIME] = 0;
        tcsetattr(&terminal, OptionalActions::Flush, &hidden).ok()?;
        Some(Self { terminal, before })
    }

    fn read_line(&mut self) -> Result<Vec<u8>, Failure> {
        let mut typed = Vec::new();
        let mut byte = [0];
        // Byte by byte: bytes after the line belong to the next program.
        while self.terminal.read(&mut byte).map_err(|error| not_read(&error.to_string()))? > 0 {
            match byte[0] {
                b'\r' | b'\n' => return Ok(typed),
                // Ctrl-C, and Ctrl-D on an empty line.
                0x03 => return Err(not_read("cancelled")),
                0x04 if typed.is_empty() => return Err(not_read("cancelled")),
                0x04 => return Ok(typed),
                // Backspace removes one character, Ctrl-U all.
                0x7f | 0x08 => while typed.pop().is_some_and(|byte| byte & 0xc0 == 0x80) {},
                0x15 => typed.clear(),
                _ if typed.len() >= MAX_BYTES => return Err(not_read("too long")),
                byte => typed.push(byte),
            }
        }
        Err(not_read("the terminal was closed"))
    }
}

impl Drop for HiddenTerminal {
    fn drop(&mut self) {
        // Fails only when the terminal is closed.
        let _ = tcsetattr(&self.terminal, OptionalActions::Now, &self.before);
    }
}

fn not_read(reason: &str) -> Failure {
    Failure::new(ErrorCode::BadArgs, format!("No input from the terminal: {reason}."))
}

/// Prompts for a secret; `None` without a terminal.
pub(crate) fn prompt_secret(question: &str) -> Result<Option<SecretText>, Failure> {
    let Some(mut hidden) = HiddenTerminal::open() else { return Ok(None) };
    let print = |terminal: &mut File, text: &str| {
        terminal
            .write_all(text.as_bytes())
            .and_then(|()| terminal.flush())
            .map_err(|error| not_read(&error.to_string()))
    };
    print(&mut hidden.terminal, &format!("{}: ", visible_text(question)))?;
    let typed = hidden.read_line();
    print(&mut hidden.terminal, "\n")?;
    let text = String::from_utf8(typed?).map_err(|_| not_read("not valid UTF-8"))?;
    if text.is_empty() {
        return Err(not_read("empty input"));
    }
    Ok(Some(SecretText::new(text)))
}

/// Prompts for a new secret twice; `None` without a terminal.
pub(crate) fn prompt_new_secret(question: &str) -> Result<Option<SecretText>, Failure> {
    let Some(first) = prompt_secret(question)? else { return Ok(None) };
    let second = prompt_secret(&format!("{question} again"))?;
    if second.as_ref() == Some(&first) {
        Ok(Some(first))
    } else {
        Err(Failure::new(ErrorCode::BadArgs, "The two inputs differ; nothing was changed."))
    }
}
