//! The files that the user chooses in the dashboard for a page's file chooser.

use std::path::PathBuf;
use std::sync::Arc;

use tabwire_api::{ErrorCode, Failure};

use super::message::FilePart;
use crate::action::files::output_dirs::OutputDirs;
use crate::action::files::safe_name::safe_name;

/// Files of one choice.
const FILES: usize = 16;

/// Bytes of one choice.
const TOTAL_BYTES: usize = 32 * 1024 * 1024;

/// The files that have arrived so far.
#[derive(Default)]
pub(super) struct ChosenFiles {
    files: Vec<(u8, String, Vec<u8>)>,
    bytes: usize,
}

impl ChosenFiles {
    /// Adds a part of a file.
    pub(super) fn add(&mut self, part: FilePart) -> Result<(), Failure> {
        let FilePart { file, name, content: part } = part;
        self.bytes += part.len();
        let is_new = self.files.last().is_none_or(|(last, ..)| *last != file);
        if self.bytes > TOTAL_BYTES || is_new && self.files.len() >= FILES {
            *self = Self::default();
            let message =
                format!("At most {FILES} files with {} MiB in total are accepted.", TOTAL_BYTES >> 20);
            return Err(Failure::new(ErrorCode::BadArgs, message).with_remedy("Choose fewer files."));
        }
        if is_new {
            self.files.push((file, safe_name(&name, "file"), Vec::new()));
        }
        if let Some((_, _, content)) = self.files.last_mut() {
            content.extend(part);
        }
        Ok(())
    }

    /// Writes the files to our private directory; the page reads them from there.
    pub(super) async fn write(&mut self, output: &Arc<OutputDirs>) -> Result<Vec<PathBuf>, Failure> {
        let Self { files, .. } = std::mem::take(self);
        let output = Arc::clone(output);
        let writing = tokio::task::spawn_blocking(move || {
            files.iter().map(|(_, name, content)| output.offer_bytes(name, content)).collect()
        });
        writing.await.unwrap_or_else(|_| {
            Err(Failure::new(ErrorCode::Internal, "The chosen files could not be written."))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_gathered_in_parts_and_bounded() {
        let mut chosen = ChosenFiles::default();
        let part = |file: u8, name: &str, content: &[u8]| FilePart {
            file,
            name: name.to_owned(),
            content: content.to_vec(),
        };
        for (file, name, content) in [(0, "../a.txt", "hel"), (0, "../a.txt", "lo"), (1, "b", "")] {
            chosen.add(part(file, name, content.as_bytes())).expect("small");
        }
        let names: Vec<_> = chosen.files.iter().map(|(_, name, _)| name.as_str()).collect();
        assert_eq!(names, ["a.txt", "b"]);
        assert_eq!(chosen.files[0].2, b"hello");
        let large = vec![0; TOTAL_BYTES];
        assert_eq!(chosen.add(part(3, "d", &large)).expect_err("too large").code, ErrorCode::BadArgs);
        assert!(chosen.files.is_empty());
        let refused = (0..=16).filter(|file| chosen.add(part(*file, "e", b"")).is_err()).count();
        assert_eq!(refused, 1);
    }
}
