//! A web server of one test: a function from host and path to a response.

use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Requests that are remembered.
const REMEMBERED: usize = 100_000;

/// What a request is answered with.
pub(crate) struct Response {
    pub(crate) kind: &'static str,
    pub(crate) body: Vec<u8>,
    /// More headers, each ended by CRLF.
    pub(crate) headers: String,
}

impl Response {
    pub(crate) fn page(body: impl Into<String>) -> Self {
        Self::of("text/html; charset=utf-8", body.into().into_bytes())
    }

    pub(crate) fn of(kind: &'static str, body: Vec<u8>) -> Self {
        Self { kind, body, headers: String::new() }
    }
}

/// A request: who was asked, and for what.
pub(crate) struct Request {
    pub(crate) host: String,
    pub(crate) path: String,
}

type Answer = dyn Fn(&Request) -> Response + Send + Sync;

/// A running server; ends when dropped.
pub(crate) struct TinyServer {
    address: SocketAddr,
    is_over: Arc<AtomicBool>,
    seen: Arc<Mutex<Vec<String>>>,
}

impl TinyServer {
    /// Serves on an address of this machine; port 0 for any.
    pub(crate) fn start(
        address: &str,
        answer: impl Fn(&Request) -> Response + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind(address).expect("a free address");
        let address = listener.local_addr().expect("an address");
        let (is_over, seen) = (Arc::new(AtomicBool::new(false)), Arc::new(Mutex::new(Vec::new())));
        let answer: Arc<Answer> = Arc::new(answer);
        let (over, noted) = (Arc::clone(&is_over), Arc::clone(&seen));
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if over.load(Ordering::Relaxed) {
                    break;
                }
                let (answer, noted) = (Arc::clone(&answer), Arc::clone(&noted));
                std::thread::spawn(move || serve(stream, answer.as_ref(), &noted));
            }
        });
        Self { address, is_over, seen }
    }

    pub(crate) fn port(&self) -> u16 {
        self.address.port()
    }

    /// The address of a page under a host name.
    pub(crate) fn url(&self, host: &str, path: &str) -> String {
        format!("http://{host}:{}{path}", self.port())
    }

    /// How often a host was asked for a path: `a.localhost/x`.
    pub(crate) fn visits(&self, place: &str) -> usize {
        self.seen.lock().expect("not poisoned").iter().filter(|seen| *seen == place).count()
    }
}

impl Drop for TinyServer {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        // Wakes the listener.
        let _ = TcpStream::connect(self.address);
    }
}

/// Answers one request and closes: a name that leads elsewhere later is looked up again.
fn serve(mut stream: TcpStream, answer: &Answer, seen: &Mutex<Vec<String>>) {
    let _ = stream.set_read_timeout(Some(Duration::from_secs(20)));
    let Some(request) = read(&stream) else { return };
    let place = format!("{}{}", request.host, request.path);
    {
        let mut seen = seen.lock().expect("not poisoned");
        if seen.len() < REMEMBERED {
            seen.push(place);
        }
    }
    let Response { kind, body, headers } = answer(&request);
    let head = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nCache-Control: no-store\r\nConnection: close\r\n{headers}\r\n",
        body.len()
    );
    let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(&body));
}

fn read(stream: &TcpStream) -> Option<Request> {
    let mut lines = BufReader::new(stream).lines().map_while(Result::ok).take(100);
    let path = lines.next()?.split(' ').nth(1)?.to_owned();
    let mut host = String::new();
    for line in lines.take_while(|line| !line.is_empty()) {
        if let Some(given) = line.to_ascii_lowercase().strip_prefix("host:") {
            let given = given.trim();
            host = given.rsplit_once(':').map_or(given, |(name, _)| name).to_owned();
        }
    }
    Some(Request { host, path })
}
