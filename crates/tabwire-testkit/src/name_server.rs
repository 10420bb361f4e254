//! A DNS server on loopback with one name. A test can change its addresses.

use std::io;
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Largest query that is read.
const QUESTION_BYTES: usize = 1024;

/// How often it checks whether it should stop.
const LOOK: Duration = Duration::from_millis(100);

/// The record type of IPv4 addresses.
const ADDRESS_RECORD: u16 = 1;

/// Bytes before the first question of a message.
const HEADER: usize = 12;

#[derive(Debug, Default)]
struct Zone {
    name: String,
    addresses: Mutex<Vec<Ipv4Addr>>,
    asked: AtomicU64,
    is_over: AtomicBool,
}

/// A running server. Stops when dropped.
#[derive(Debug)]
pub struct NameServer {
    zone: Arc<Zone>,
    address: SocketAddr,
}

impl NameServer {
    /// Starts a server on an address of this machine, with one name. Every other name has no addresses.
    ///
    /// # Errors
    /// When the address is in use.
    pub fn start(at: SocketAddr, name: &str, addresses: &[Ipv4Addr]) -> io::Result<Self> {
        let socket = UdpSocket::bind(at)?;
        socket.set_read_timeout(Some(LOOK))?;
        let address = socket.local_addr()?;
        let addresses = Mutex::new(addresses.to_vec());
        let zone = Arc::new(Zone { name: name.to_owned(), addresses, ..Zone::default() });
        let served = Arc::clone(&zone);
        std::thread::spawn(move || {
            let mut bytes = [0; QUESTION_BYTES];
            while !served.is_over.load(Ordering::Relaxed) {
                let Ok((length, peer)) = socket.recv_from(&mut bytes) else { continue };
                if let Some(response) = served.respond(bytes.get(..length).unwrap_or_default()) {
                    // A resolver that misses the response sends the query again.
                    let _ = socket.send_to(&response, peer);
                }
            }
        });
        Ok(Self { zone, address })
    }

    /// The address of the server.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Changes the addresses of the name.
    pub fn lead_to(&self, addresses: &[Ipv4Addr]) {
        *self.zone.addresses.lock().unwrap_or_else(PoisonError::into_inner) = addresses.to_vec();
    }

    /// The number of queries for the name.
    #[must_use]
    pub fn asked(&self) -> u64 {
        self.zone.asked.load(Ordering::Relaxed)
    }
}

impl Drop for NameServer {
    fn drop(&mut self) {
        self.zone.is_over.store(true, Ordering::Relaxed);
    }
}

impl Zone {
    /// The response to a message with one question; `None` for other messages.
    fn respond(&self, message: &[u8]) -> Option<Vec<u8>> {
        let (name, end) = read_name(message)?;
        let kind = u16::from_be_bytes([*message.get(end)?, *message.get(end + 1)?]);
        let is_ours = name.eq_ignore_ascii_case(&self.name) && kind == ADDRESS_RECORD;
        let addresses = if is_ours {
            self.asked.fetch_add(1, Ordering::Relaxed);
            self.addresses.lock().unwrap_or_else(PoisonError::into_inner).clone()
        } else {
            Vec::new()
        };
        let count = u16::try_from(addresses.len()).ok()?.to_be_bytes();
        let mut response = message.get(..2)?.to_vec();
        // A response without an error, recursion available; one question, `count` answers.
        response.extend([0x81, 0x80, 0, 1, count[0], count[1], 0, 0, 0, 0]);
        response.extend(message.get(HEADER..end + 4)?);
        for address in addresses {
            // The question's name, IPv4, internet, a time to live of zero, four bytes.
            response.extend([0xc0, 0x0c, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4]);
            response.extend(address.octets());
        }
        Some(response)
    }
}

/// The queried name, and the position of its type.
fn read_name(message: &[u8]) -> Option<(String, usize)> {
    let (mut labels, mut at) = (Vec::new(), HEADER);
    loop {
        let length = usize::from(*message.get(at)?);
        if length == 0 {
            return Some((labels.join("."), at + 1));
        }
        let label = message.get(at + 1..at + 1 + length)?;
        labels.push(String::from_utf8_lossy(label).into_owned());
        at += 1 + length;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(server: &NameServer, name: &str) -> Vec<u8> {
        let mut incoming = vec![7, 9, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0];
        for label in name.split('.') {
            incoming.push(u8::try_from(label.len()).expect("short"));
            incoming.extend(label.as_bytes());
        }
        incoming.extend([0, 0, 1, 0, 1]);
        let socket = UdpSocket::bind("127.0.0.1:0").expect("a socket");
        socket.set_read_timeout(Some(Duration::from_secs(5))).expect("a time limit");
        socket.send_to(&incoming, server.address()).expect("sent");
        let mut bytes = [0; 512];
        let length = socket.recv(&mut bytes).expect("a response");
        bytes[..length].to_vec()
    }

    #[test]
    fn name_resolves_to_its_addresses_and_others_to_none() {
        let at = "127.0.0.1:0".parse().expect("an address");
        let server = NameServer::start(at, "name.test", &[Ipv4Addr::new(127, 0, 0, 2)]).expect("a server");
        assert!(ask(&server, "NAME.test").ends_with(&[0, 4, 127, 0, 0, 2]));
        server.lead_to(&[Ipv4Addr::LOCALHOST, Ipv4Addr::new(127, 0, 0, 3)]);
        let both = ask(&server, "name.test");
        assert_eq!((both[7], &both[both.len() - 4..]), (2, &[127, 0, 0, 3][..]));
        assert_eq!(ask(&server, "other.test")[7], 0);
        assert_eq!(server.asked(), 2);
        assert!(server.zone.respond(&[0; 5]).is_none() && server.zone.respond(&[9; 40]).is_none());
    }
}
