//! A fake agent that speaks the Agent Client Protocol on stdin and stdout. The words of a prompt are its script:
//! see `tabwire_testkit::fake_agent`.

use std::process::ExitCode;

use tabwire_testkit::fake_agent::FakeAgent;

fn main() -> ExitCode {
    let program = std::env::args().next().unwrap_or_default();
    let mut words = std::env::args().skip(1);
    if words.next().as_deref() == Some("--version") {
        use std::io::Write as _;
        let _ = writeln!(std::io::stdout(), "9.8.7");
        return ExitCode::SUCCESS;
    }
    let faults = std::env::var("TABWIRE_FAKE_AGENT").unwrap_or_default();
    FakeAgent::new(&program, &faults).serve()
}
