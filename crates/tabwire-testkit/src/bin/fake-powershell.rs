//! A fake `powershell.exe`. A file injects faults.
//!
//! Accepts PowerShell's arguments up to `-File SCRIPT`, and implements the protocol of the product's script. The
//! directory in `TABWIRE_FAKE_WINDOWS` is its Windows: the file `fault` there has the faults, `asked` the requests.

use std::error::Error;
use std::path::PathBuf;

use tabwire_testkit::fake_powershell::{FakePowershell, FakeWindows};
use tabwire_testkit::limits;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let names_script = words.iter().rev().nth(1).is_some_and(|word| word == "-File");
    if !names_script || !words.iter().any(|word| word == "-NoProfile") {
        return Err("not started as PowerShell is".into());
    }
    let root = std::env::var_os("TABWIRE_FAKE_WINDOWS").ok_or("TABWIRE_FAKE_WINDOWS is not set")?;
    let windows = FakeWindows::new(PathBuf::from(root))?;
    windows.started(&words)?;
    let serving = FakePowershell::new(windows)?.serve();
    Ok(tokio::time::timeout(limits::FAKE_BROWSER_LIFE, serving).await??)
}
