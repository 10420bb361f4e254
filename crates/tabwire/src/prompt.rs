//! Asks the person at the terminal for a secret, which is not shown while it is typed.

use std::fs::File;
use std::io::{Read, Write};

use rustix::termios::{LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcsetattr};
use tabwire_engine::{SecretText, visible_text};
use tabwire_wire::{ErrorCode, Failure};

/// Longest secret that is read.
const LONGEST: usize = 4096;

/// The terminal of this process, with what is typed hidden; as before when it is dropped.
struct HiddenTerminal {
    terminal: File,
    before: Termios,
}

impl HiddenTerminal {
    fn open() -> Option<Self> {
        let terminal = File::options().read(true).write(true).open("/dev/tty").ok()?;
        let before = tcgetattr(&terminal).ok()?;
        let mut hidden = before.clone();
        // Keys one by one, so that Ctrl-C is seen here and the terminal is put right before anything ends.
        hidden.local_modes -= LocalModes::ECHO | LocalModes::ECHONL | LocalModes::ICANON | LocalModes::ISIG;
        hidden.special_codes[SpecialCodeIndex::VMIN] = 1;
        hidden.special_codes[SpecialCodeIndex::VTIME] = 0;
        tcsetattr(&terminal, OptionalActions::Flush, &hidden).ok()?;
        Some(Self { terminal, before })
    }

    fn read_line(&mut self) -> Result<Vec<u8>, Failure> {
        let mut typed = Vec::new();
        let mut byte = [0];
        // One by one: what follows the line is not ours.
        while self.terminal.read(&mut byte).map_err(|error| not_read(&error.to_string()))? > 0 {
            match byte[0] {
                b'\r' | b'\n' => return Ok(typed),
                // Ctrl-C, and Ctrl-D on an empty line.
                0x03 => return Err(not_read("it was broken off")),
                0x04 if typed.is_empty() => return Err(not_read("it was broken off")),
                0x04 => return Ok(typed),
                // Backspace takes a whole letter; Ctrl-U everything.
                0x7f | 0x08 => while typed.pop().is_some_and(|byte| byte & 0xc0 == 0x80) {},
                0x15 => typed.clear(),
                _ if typed.len() >= LONGEST => return Err(not_read("it is too long")),
                byte => typed.push(byte),
            }
        }
        Err(not_read("the terminal is gone"))
    }
}

impl Drop for HiddenTerminal {
    fn drop(&mut self) {
        // There is nothing to be done about a terminal that is gone.
        let _ = tcsetattr(&self.terminal, OptionalActions::Now, &self.before);
    }
}

fn not_read(why: &str) -> Failure {
    Failure::new(ErrorCode::BadArgs, format!("Nothing was read from the terminal: {why}."))
}

/// Asks for a secret; none when there is no terminal to ask.
pub(crate) fn ask_secret(question: &str) -> Result<Option<SecretText>, Failure> {
    let Some(mut hidden) = HiddenTerminal::open() else { return Ok(None) };
    let ask = |terminal: &mut File, text: &str| {
        terminal
            .write_all(text.as_bytes())
            .and_then(|()| terminal.flush())
            .map_err(|error| not_read(&error.to_string()))
    };
    ask(&mut hidden.terminal, &format!("{}: ", visible_text(question)))?;
    let typed = hidden.read_line();
    ask(&mut hidden.terminal, "\n")?;
    let text = String::from_utf8(typed?).map_err(|_| not_read("it is no text"))?;
    if text.is_empty() {
        return Err(not_read("it is empty"));
    }
    Ok(Some(SecretText::new(text)))
}

/// Asks for a new secret twice; none when there is no terminal to ask.
pub(crate) fn ask_new_secret(question: &str) -> Result<Option<SecretText>, Failure> {
    let Some(first) = ask_secret(question)? else { return Ok(None) };
    let second = ask_secret(&format!("{question} again"))?;
    if second.as_ref() == Some(&first) {
        Ok(Some(first))
    } else {
        Err(Failure::new(ErrorCode::BadArgs, "The two are not the same; nothing was done."))
    }
}
