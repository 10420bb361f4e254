//! A minimal HTTP/1.1 GET for debugging ports. Sends no `Origin` header, because Chromium refuses unknown origins.

use std::fmt::Write as _;
use std::io::{Read, Write};
use std::net::{TcpStream, ToSocketAddrs as _};
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustls::pki_types::ServerName;
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};
use tabwire_api::HttpHead;
use url::{Host, Url};

use crate::attach::RequestHeader;

/// What to fetch, and how much of it to read.
pub(crate) struct HttpGet<'a> {
    /// Scheme, host and port; its path and query are not sent.
    pub(crate) server: &'a Url,
    /// Path and query.
    pub(crate) path: &'a str,
    pub(crate) headers: &'a [RequestHeader],
    /// Bytes of the response.
    pub(crate) limit: usize,
}

trait ReadWrite: Read + Write {}

impl<S: Read + Write> ReadWrite for S {}

/// Sends one GET, with one deadline for the whole exchange. The response ends by its length or with the connection.
pub(crate) fn fetch(request: &HttpGet<'_>, deadline: Instant) -> std::io::Result<(u16, Vec<u8>)> {
    let HttpGet { server: url, path, headers, limit } = *request;
    let left = || -> std::io::Result<Duration> {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() { Err(std::io::ErrorKind::TimedOut.into()) } else { Ok(left) }
    };
    let host = url.host().ok_or(std::io::ErrorKind::InvalidInput)?;
    let port = url.port_or_known_default().unwrap_or(80);
    // Chromium refuses a Host header with a host name other than localhost, against DNS rebinding.
    let mut head = format!("GET {path} HTTP/1.1\r\nHost: {host}:{port}\r\nConnection: close\r\n");
    for RequestHeader { name, value } in headers {
        // Writing to a string does not fail.
        let _ = write!(head, "{name}: {value}\r\n");
    }
    head.push_str("Accept: application/json\r\n\r\n");
    let socket = connect(&host, port, &left)?;
    socket.set_write_timeout(Some(left()?))?;
    // A TLS handshake reads while the request is written.
    socket.set_read_timeout(Some(left()?))?;
    let mut stream: Box<dyn ReadWrite> = if url.scheme() == "https" {
        encrypt(&host, socket.try_clone()?)?
    } else {
        Box::new(socket.try_clone()?)
    };
    stream.write_all(head.as_bytes())?;
    stream.flush()?;
    let mut response = Vec::new();
    let mut buffer = [0; 16 * 1024];
    loop {
        if let Some(whole) = parse_response(&response, false) {
            return Ok(whole);
        }
        socket.set_read_timeout(Some(left()?))?;
        match stream.read(&mut buffer) {
            // Some servers close without the end mark of TLS; the length of the response shows whether it is whole.
            Err(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => break,
            read => match read? {
                0 => break,
                read => response.extend_from_slice(buffer.get(..read).unwrap_or_default()),
            },
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

/// A TLS connection that trusts the certificates of the system, as the websocket that follows does.
fn encrypt(host: &Host<&str>, socket: TcpStream) -> std::io::Result<Box<dyn ReadWrite>> {
    let mut roots = RootCertStore::empty();
    // Unreadable certificates are skipped; without any, the handshake fails with a clear error.
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(std::io::Error::other)?
        .with_root_certificates(roots)
        .with_no_client_auth();
    let name = match host {
        Host::Domain(name) => ServerName::try_from((*name).to_owned()).map_err(std::io::Error::other)?,
        Host::Ipv4(address) => ServerName::from(std::net::IpAddr::from(*address)),
        Host::Ipv6(address) => ServerName::from(std::net::IpAddr::from(*address)),
    };
    let connection = ClientConnection::new(Arc::new(config), name).map_err(std::io::Error::other)?;
    Ok(Box::new(StreamOwned::new(connection, socket)))
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
