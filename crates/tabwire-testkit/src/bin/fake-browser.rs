//! A fake browser program. Its script injects faults.
//!
//! ```text
//! fake-browser [--script FILE] [--port N | --remote-debugging-port=N | --remote-debugging-pipe]
//!              [--user-data-dir=DIR] [anything else is ignored, as Chrome does]
//! ```
//!
//! Without a port it uses descriptors 3 (in) and 4 (out), which must be pipes. With a port (0 for
//! any) it prints `DevTools listening on ws://...` on stderr and writes `DevToolsActivePort` into the
//! user data directory, as Chrome does. `TABWIRE_FAKE_BROWSER_SCRIPT` can name the script instead of an
//! argument. The format of scripts is in `tabwire_testkit::fake_browser::Script`.

use std::error::Error;
use std::io::Write;
use std::net::Ipv4Addr;
use std::path::PathBuf;

use tabwire_testkit::fake_browser::{FakeBrowser, Fault, Script, serve_pipe, serve_websocket};
use tabwire_testkit::limits;
use tokio::net::TcpListener;
use tokio::net::unix::pipe;
use tokio::signal::unix::{SignalKind, signal};
use tokio::time::sleep;

type Failure = Box<dyn Error>;

#[derive(Default)]
struct Arguments {
    script: Option<PathBuf>,
    port: Option<u16>,
    profile: Option<PathBuf>,
}

impl Arguments {
    fn read() -> Result<Self, Failure> {
        let mut arguments = Self {
            script: std::env::var_os("TABWIRE_FAKE_BROWSER_SCRIPT").map(PathBuf::from),
            ..Self::default()
        };
        let mut words = std::env::args().skip(1);
        while let Some(word) = words.next() {
            let (name, value) = match word.split_once('=') {
                Some((name, value)) => (name.to_owned(), Some(value.to_owned())),
                None => (word, None),
            };
            match name.as_str() {
                "--script" => arguments.script = value.or_else(|| words.next()).map(PathBuf::from),
                "--user-data-dir" => arguments.profile = value.or_else(|| words.next()).map(PathBuf::from),
                "--port" | "--remote-debugging-port" => {
                    arguments.port = Some(value.or_else(|| words.next()).unwrap_or_default().parse()?);
                }
                _ => {}
            }
        }
        Ok(arguments)
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Failure> {
    let arguments = Arguments::read()?;
    let script = match &arguments.script {
        Some(path) => Script::parse(&tokio::fs::read_to_string(path).await?)?,
        None => Script::default(),
    };
    let survives = script.has(&Fault::IgnoreTerminate);
    let mut terminate = signal(SignalKind::terminate())?;
    tokio::select! {
        served = serve(&arguments, script) => served,
        () = async { while terminate.recv().await.is_some() && survives {} } => Ok(()),
        () = sleep(limits::FAKE_BROWSER_LIFE) => Err("a fake browser does not live this long".into()),
    }
}

async fn serve(arguments: &Arguments, script: Script) -> Result<(), Failure> {
    let stays = script.has(&Fault::IgnoreClose);
    let browser = FakeBrowser::new(script);
    let Some(port) = arguments.port else {
        // Opened by name, because using a descriptor number would need unsafe code.
        let input = pipe::OpenOptions::new().open_receiver("/dev/fd/3")?;
        let output = pipe::OpenOptions::new().open_sender("/dev/fd/4")?;
        serve_pipe(browser, input, output, stays).await;
        return Ok(());
    };
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await?;
    let port = listener.local_addr()?.port();
    if let Some(profile) = &arguments.profile {
        tokio::fs::create_dir_all(profile).await?;
        tokio::fs::write(profile.join("DevToolsActivePort"), format!("{port}\n/devtools/browser/fake"))
            .await?;
    }
    let line = format!("\nDevTools listening on ws://127.0.0.1:{port}/devtools/browser/fake\n");
    std::io::stderr().write_all(line.as_bytes())?;
    Ok(serve_websocket(browser, listener).await?)
}
