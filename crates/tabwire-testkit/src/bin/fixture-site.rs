//! Serves the fixture site until stdin closes, for tests that are not written in Rust.
//!
//! Prints one JSON line, `{"port":N}`, when it is ready.

use std::io::{self, Write};

use tabwire_testkit::Site;

#[tokio::main(flavor = "current_thread")]
async fn main() -> io::Result<()> {
    let site = Site::start().await?;
    let mut output = io::stdout().lock();
    writeln!(output, "{{\"port\":{}}}", site.port())?;
    output.flush()?;
    drop(output);
    tokio::task::spawn_blocking(|| io::copy(&mut io::stdin(), &mut io::sink())).await??;
    Ok(())
}
