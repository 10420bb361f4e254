//! A keeper process for this crate's tests; the product has `tabwire keep`.

fn main() -> std::process::ExitCode {
    match tabwire_browser::keeper::run(std::io::stdin(), std::io::stdout()) {
        Ok(()) => std::process::ExitCode::SUCCESS,
        Err(_) => std::process::ExitCode::FAILURE,
    }
}
