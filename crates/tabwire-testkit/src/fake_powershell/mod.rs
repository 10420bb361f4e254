//! A fake PowerShell: the Windows side of `tabwire chrome`, with a local Chromium as the Chrome on Windows.
//!
//! Implements the protocol of the product's script, with faults from a file.

mod fault;
mod relay;
mod windows;

use std::io;
use std::sync::Arc;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::unix::pipe;
use tokio::sync::Mutex;
use tokio::task::JoinSet;

use self::fault::Fault;
pub use self::windows::FakeWindows;

/// The output, written one complete line at a time.
#[derive(Clone, Debug)]
pub(crate) struct LineOutput(Arc<Mutex<pipe::Sender>>);

impl LineOutput {
    pub(crate) async fn write(&self, line: &[u8]) -> io::Result<()> {
        let mut output = self.0.lock().await;
        output.write_all(line).await?;
        output.flush().await
    }

    async fn write_json(&self, value: &Value) -> io::Result<()> {
        self.write(format!("{value}\n").as_bytes()).await
    }
}

/// The fake program. Runs until its input ends.
#[derive(Debug)]
pub struct FakePowershell {
    windows: FakeWindows,
    output: LineOutput,
    relays: std::collections::BTreeMap<u64, relay::Relay>,
    tasks: JoinSet<()>,
    /// Headless browsers that it started.
    launched: Vec<u32>,
}

impl FakePowershell {
    /// Creates the fake with the process's standard input and output, which must be pipes.
    ///
    /// # Errors
    /// When they are not pipes.
    pub fn new(windows: FakeWindows) -> io::Result<Self> {
        let output = pipe::OpenOptions::new().open_sender("/dev/fd/1")?;
        let output = LineOutput(Arc::new(Mutex::new(output)));
        Ok(Self {
            windows,
            output,
            relays: std::collections::BTreeMap::new(),
            tasks: JoinSet::new(),
            launched: Vec::new(),
        })
    }

    /// Handles requests until its input ends, then ends the headless browsers that it started.
    ///
    /// # Errors
    /// When its output is closed, or by the fault `die`.
    pub async fn serve(mut self) -> io::Result<()> {
        match self.windows.fault("start") {
            Some(Fault::Die) => return Err(io::ErrorKind::ConnectionAborted.into()),
            Some(Fault::Hang) => return std::future::pending().await,
            Some(Fault::Old) => self.output.write_json(&json!({"ready": {"protocol": 0}})).await?,
            Some(Fault::Garbage) => self.output.write(b"#< CLIXML\r\nWelcome to Windows!\r\n").await?,
            _ => {}
        }
        self.output.write(b"{\"ready\":{\"protocol\":1,\"powershell\":\"fake\"}}\r\n").await?;
        let input = pipe::OpenOptions::new().open_receiver("/dev/fd/0")?;
        let mut lines = BufReader::new(input).lines();
        while let Some(line) = lines.next_line().await? {
            match line.strip_prefix("{\"relay\":").and_then(|rest| rest.split_once(",\"frame\":")) {
                Some((number, frame)) => self.forward(number, frame.strip_suffix('}').unwrap_or(frame)).await,
                None => self.handle(&line).await?,
            }
        }
        for pid in std::mem::take(&mut self.launched) {
            self.windows.end(pid);
        }
        Ok(())
    }

    async fn forward(&mut self, number: &str, frame: &str) {
        if let Some(relay) = number.parse().ok().and_then(|number: u64| self.relays.get_mut(&number)) {
            relay.send(frame.as_bytes()).await;
        }
    }

    async fn handle(&mut self, line: &str) -> io::Result<()> {
        let request: Value = serde_json::from_str(line)?;
        let what = request["do"].as_str().unwrap_or_default().to_owned();
        self.windows.note(line)?;
        let mut id = request["id"].clone();
        match self.windows.fault(&what) {
            Some(Fault::Die) => return Err(io::ErrorKind::ConnectionAborted.into()),
            Some(Fault::Hang) => return std::future::pending().await,
            Some(Fault::Half) => {
                self.output.write(format!("{{\"id\":{id},\"resu").as_bytes()).await?;
                return Err(io::ErrorKind::ConnectionAborted.into());
            }
            Some(Fault::Garbage) => self.output.write("\u{7}gar\"bage}\n{\n\n".as_bytes()).await?,
            Some(Fault::Flood) => {
                for _ in 0..1000 {
                    self.output.write(b"garbage\n").await?;
                }
            }
            Some(Fault::WrongId) => id = json!(999_999),
            Some(Fault::Slow) => tokio::time::sleep(std::time::Duration::from_millis(300)).await,
            Some(Fault::Refuse) => {
                return self.output.write_json(&json!({"id": id, "error": "Access is denied"})).await;
            }
            Some(Fault::Old) | None => {}
        }
        let response = match self.carry_out(&what, &request).await {
            Ok(result) => json!({"id": id, "result": result}),
            Err(error) => json!({"id": id, "error": error.to_string()}),
        };
        self.output.write_json(&response).await
    }

    async fn carry_out(&mut self, what: &str, request: &Value) -> io::Result<Value> {
        match what {
            "find" => Ok(json!({"browser": self.windows.find(text(request, "profile")).first()})),
            "port" => self.windows.free_port(request),
            "launch" => {
                let (launched, mut child) = self.windows.launch(request)?;
                if request["headless"] == true {
                    self.launched.extend(child.id());
                }
                self.tasks.spawn(async move {
                    let _ = child.wait().await;
                });
                Ok(launched)
            }
            "version" => Ok(json!({"version": relay::version(number(request, "port")).await})),
            "stop" => Ok(self.windows.stop(request)),
            "open" => {
                let number = request["relay"].as_u64().unwrap_or_default();
                let relay =
                    relay::Relay::open(number, text(request, "url"), self.output.clone(), &mut self.tasks)
                        .await?;
                self.relays.insert(number, relay);
                Ok(json!({}))
            }
            "close" => {
                self.relays.remove(&request["relay"].as_u64().unwrap_or_default());
                Ok(json!({}))
            }
            other => Err(io::Error::other(format!("'{other}' is not known"))),
        }
    }
}

fn text<'a>(request: &'a Value, member: &str) -> &'a str {
    request[member].as_str().unwrap_or_default()
}

fn number(request: &Value, member: &str) -> u16 {
    request[member].as_u64().and_then(|number| u16::try_from(number).ok()).unwrap_or_default()
}
