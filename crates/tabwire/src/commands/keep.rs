//! `keep`: becomes the keeper of one browser.

use tabwire_wire::Failure;

pub(super) fn run() -> Result<(), Failure> {
    // The outcome has been written to whoever started us; there is nobody else to tell.
    let _ = tabwire_browser::keeper::run(std::io::stdin(), std::io::stdout());
    Ok(())
}
