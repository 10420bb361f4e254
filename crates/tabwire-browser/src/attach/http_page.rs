//! A minimal HTTP/1.1 GET for debugging ports. Sends no `Origin` header, because Chromium refuses unknown origins.

use std::io::{Read as _, Write as _};
use std::net::{TcpStream, ToSocketAddrs as _};
use std::time::{Duration, Instant};

use tabwire_api::HttpHead;
use url::{Host, Url};

/// Sends one GET, with one deadline for the whole exchange. The response ends by its length or with the connection.
pub(crate) fn fetch(
    url: &Url,
    path: &str,
    limit: usize,
    deadline: Instant,
) -> std::io::Result<(u16, Vec<u8>)> {
    let left = || -> std::io::Result<Duration> {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() { Err(std::io::ErrorKind::TimedOut.into()) } else { Ok(left) }
    };
    let host = url.host().ok_or(std::io::ErrorKind::InvalidInput)?;
    let port = url.port_or_known_default().unwrap_or(80);
    // Chromium refuses a Host header with a host name other than localhost, against DNS rebinding.
    let mut stream = connect(&host, port, &left)?;
    stream.set_write_timeout(Some(left()?))?;
    write!(
        stream,
        "GET {path} HTTP/1.1\r\nHost: {host}:{port}\r\nConnection: close\r\nAccept: application/json\r\n\r\n"
    )?;
    let mut response = Vec::new();
    let mut buffer = [0; 16 * 1024];
    loop {
        if let Some(whole) = parse_response(&response, false) {
            return Ok(whole);
        }
        stream.set_read_timeout(Some(left()?))?;
        match stream.read(&mut buffer)? {
            0 => break,
            read => response.extend_from_slice(buffer.get(..read).unwrap_or_default()),
        }
        if response.len() > limit {
            break;
        }
    }
    parse_response(&response, true).ok_or_else(|| std::io::Error::other("it does not speak HTTP"))
}

fn connect(
    host: &Host<&str>,
    port: u16,
    left: &impl Fn() -> std::io::Result<Duration>,
) -> std::io::Result<TcpStream> {
    let addresses: Vec<_> = match host {
        Host::Domain(name) => (*name, port).to_socket_addrs()?.collect(),
        Host::Ipv4(address) => vec![(*address, port).into()],
        Host::Ipv6(address) => vec![(*address, port).into()],
    };
    let mut last = std::io::Error::from(std::io::ErrorKind::NotFound);
    for address in addresses {
        match TcpStream::connect_timeout(&address, left()?) {
            Ok(stream) => return Ok(stream),
            Err(error) => last = error,
        }
    }
    Err(last)
}

/// Status and body; `None` while more is needed and the connection is open.
fn parse_response(response: &[u8], is_all: bool) -> Option<(u16, Vec<u8>)> {
    let head = HttpHead::parse(response)?;
    let status = head.status()?;
    match head.message_length() {
        Some(length) if response.len() >= length => {
            Some((status, response.get(head.length()..length)?.to_vec()))
        }
        _ if is_all => Some((status, response.get(head.length()..)?.to_vec())),
        _ => None,
    }
}
