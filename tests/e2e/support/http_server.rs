//! A web server of one test: a function from host and path to a response.

use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Requests that are recorded.
const REMEMBERED: usize = 100_000;

/// A response.
pub(crate) struct Response {
    pub(crate) kind: &'static str,
    pub(crate) body: Vec<u8>,
    /// Further headers, each with CRLF.
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

/// A request: host and path.
pub(crate) struct Request {
    pub(crate) host: String,
    pub(crate) path: String,
}

type Handler = dyn Fn(&Request) -> Response + Send + Sync;

/// A running server; ends when dropped.
pub(crate) struct TinyServer {
    address: SocketAddr,
    is_over: Arc<AtomicBool>,
    seen: Arc<Mutex<Vec<String>>>,
}

impl TinyServer {
    /// Listens on an address of this machine; port 0 is any.
    pub(crate) fn start(
        address: &str,
        handler: impl Fn(&Request) -> Response + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind(address).expect("a free address");
        let address = listener.local_addr().expect("an address");
        let (is_over, seen) = (Arc::new(AtomicBool::new(false)), Arc::new(Mutex::new(Vec::new())));
        let handler: Arc<Handler> = Arc::new(handler);
        let (over, noted) = (Arc::clone(&is_over), Arc::clone(&seen));
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if over.load(Ordering::Relaxed) {
                    break;
                }
                let (handler, noted) = (Arc::clone(&handler), Arc::clone(&noted));
                std::thread::spawn(move || serve(stream, handler.as_ref(), &noted));
            }
        });
        Self { address, is_over, seen }
    }

    pub(crate) fn port(&self) -> u16 {
        self.address.port()
    }

    /// The URL of a page under a host name.
    pub(crate) fn url(&self, host: &str, path: &str) -> String {
        format!("http://{host}:{}{path}", self.port())
    }

    /// The number of requests for a host and path: `a.localhost/x`.
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

/// Serves one request and closes the connection, so that the browser resolves the name again for the next
/// one.
fn serve(mut stream: TcpStream, handler: &Handler, seen: &Mutex<Vec<String>>) {
    let _ = stream.set_read_timeout(Some(Duration::from_secs(20)));
    let Some(request) = read(&stream) else { return };
    let place = format!("{}{}", request.host, request.path);
    {
        let mut seen = seen.lock().expect("not poisoned");
        if seen.len() < REMEMBERED {
            seen.push(place);
        }
    }
    let Response { kind, body, headers } = handler(&request);
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
