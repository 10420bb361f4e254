//! Lines of a script's process: split in the same way however they arrive, parsed or refused, never panicking.

use tabwire_script::message::{FromChild, LineBuffer, ScriptError, to_line};

/// Feeds the input as a stream in two ways, and parses its lines as the daemon does.
pub(crate) fn check(data: &[u8]) {
    let whole = lines(data, data.len().max(1));
    let pieces = lines(data, 3);
    assert_eq!(whole, pieces, "the same lines in pieces of any size");
    let expected = data.split(|byte| *byte == b'\n').count() - 1;
    assert_eq!(whole.len(), expected, "one line for each end");
    for line in &whole {
        let Ok(message) = serde_json::from_slice::<FromChild>(line) else { continue };
        if let FromChild::Done(done) = &message
            && let Some(error) = &done.error
        {
            let text = ScriptError::render(error);
            assert!(text.contains(&error.message), "the message is shown");
        }
        // A message that was understood is written as one line, and understood again.
        let written = to_line(&message).expect("shorter than the limit");
        assert_eq!(written.iter().filter(|byte| **byte == b'\n').count(), 1);
        assert!(serde_json::from_slice::<FromChild>(&written).is_ok());
    }
}

fn lines(data: &[u8], size: usize) -> Vec<Vec<u8>> {
    let mut buffer = LineBuffer::default();
    let mut found = Vec::new();
    for piece in data.chunks(size) {
        buffer.extend(piece).expect("shorter than the limit");
        while let Some(line) = buffer.take_line() {
            found.push(line);
        }
    }
    found
}
