//! A descriptor file is read or refused, never a panic; what was read is written and read again the same.

use std::path::PathBuf;
use std::sync::OnceLock;

use tabwire_browser::BrowserDescriptor;

/// Puts the input where a descriptor would be, and reads it.
pub(crate) fn check(data: &[u8]) {
    let path = place();
    std::fs::write(path, data).expect("the temporary directory can be written");
    let read = BrowserDescriptor::read(path);
    let parsed = serde_json::from_slice::<BrowserDescriptor>(data).ok();
    let expected = parsed.filter(|descriptor| descriptor.format == BrowserDescriptor::FORMAT);
    assert_eq!(read.ok(), expected, "the file is read as its content says");
    if let Some(descriptor) = expected {
        let again = serde_json::to_vec(&descriptor).expect("a descriptor can be written");
        assert_eq!(serde_json::from_slice::<BrowserDescriptor>(&again).ok(), Some(descriptor));
    }
}

/// One file for each process, removed by whoever cleans the temporary directory.
fn place() -> &'static PathBuf {
    static PLACE: OnceLock<PathBuf> = OnceLock::new();
    PLACE.get_or_init(|| std::env::temp_dir().join(format!("tabwire-fuzz-{}.json", std::process::id())))
}
