//! A fake Selenium Grid as a program.
//!
//! ```text
//! fake-grid [--port N] [--nodes N] [--slots N] [--request-timeout-ms N] [--session-timeout-ms N]
//!           [--credentials USER:PASSWORD] [--script FILE]
//! ```
//!
//! Prints `fake Grid at http://127.0.0.1:PORT` on stdout, and ends when its stdin ends. The script is that of every browser;
//! `POST /fake/fault` takes a `tabwire_testkit::fake_grid::GridFault` with `times`.

use std::error::Error;
use std::io::{Read, Write};
use std::net::Ipv4Addr;
use std::time::Duration;

use tabwire_testkit::fake_grid::{GridOptions, serve};
use tabwire_testkit::limits;
use tokio::net::TcpListener;
use tokio::time::sleep;

type Failure = Box<dyn Error>;

fn read_arguments() -> Result<(u16, GridOptions), Failure> {
    let (mut port, mut options) = (0, GridOptions::default());
    let mut words = std::env::args().skip(1);
    while let Some(name) = words.next() {
        let value = words.next().ok_or("an option has no value")?;
        match name.as_str() {
            "--port" => port = value.parse()?,
            "--nodes" => options.nodes = value.parse()?,
            "--slots" => options.slots = value.parse()?,
            "--request-timeout-ms" => options.request_timeout = Duration::from_millis(value.parse()?),
            "--session-timeout-ms" => options.session_timeout = Duration::from_millis(value.parse()?),
            "--credentials" => options.credentials = Some(value),
            "--script" => options.script = std::fs::read_to_string(value)?,
            _ => return Err(format!("unknown option {name}").into()),
        }
    }
    Ok((port, options))
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Failure> {
    let (port, options) = read_arguments()?;
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await?;
    let line = format!("fake Grid at http://127.0.0.1:{}\n", listener.local_addr()?.port());
    std::io::stdout().write_all(line.as_bytes())?;
    std::io::stdout().flush()?;
    let (ends, ended) = tokio::sync::oneshot::channel::<()>();
    std::thread::spawn(move || {
        let mut buffer = [0; 64];
        while matches!(std::io::stdin().read(&mut buffer), Ok(read) if read > 0) {}
        drop(ends);
    });
    tokio::select! {
        served = serve(options, listener) => Ok(served?),
        _ = ended => Ok(()),
        () = sleep(limits::FAKE_GRID_LIFE) => Err("a fake Grid does not live this long".into()),
    }
}
