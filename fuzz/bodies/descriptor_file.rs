//! A descriptor file is parsed or refused, without a panic; a parsed one round-trips.

use std::path::PathBuf;
use std::sync::OnceLock;

use tabwire_browser::BrowserDescriptor;

/// Parses the input, and for some inputs also reads it from a file.
pub(crate) fn check(data: &[u8]) {
    let parsed = serde_json::from_slice::<BrowserDescriptor>(data).ok();
    let expected = parsed.filter(|descriptor| descriptor.format == BrowserDescriptor::FORMAT);
    // Every sixteenth length only: a disk is slower than a parser.
    if data.len().is_multiple_of(16) {
        let path = place();
        std::fs::write(path, data).expect("the temporary directory can be written");
        assert_eq!(BrowserDescriptor::read(path).ok(), expected, "the file is read as its content says");
    }
    if let Some(descriptor) = expected {
        let again = serde_json::to_vec(&descriptor).expect("a descriptor can be written");
        assert_eq!(serde_json::from_slice::<BrowserDescriptor>(&again).ok(), Some(descriptor));
    }
}

/// One file for each process, which stays in the temporary directory.
fn place() -> &'static PathBuf {
    static PLACE: OnceLock<PathBuf> = OnceLock::new();
    PLACE.get_or_init(|| std::env::temp_dir().join(format!("tabwire-fuzz-{}.json", std::process::id())))
}
