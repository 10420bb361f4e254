//! Who is served over MCP right now, and the address that clients over HTTP are given. Serves nobody itself.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tabwire_mcp::HttpDoor;
use tabwire_wire::{ErrorCode, Failure};

use crate::limits::GREETED_CLIENTS;
use crate::token::Token;

/// The door for clients over HTTP, while somebody keeps it open.
#[derive(Debug)]
struct OpenDoor {
    secret: Token,
    door: HttpDoor,
    /// Those who have greeted, oldest first.
    greeted: VecDeque<Greeted>,
}

/// Who a client over HTTP is: by which credential it was let in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Principal {
    /// Whoever has the address.
    Address,
    /// The user, by the daemon's token or socket.
    User,
}

/// A client that has greeted: what it is called outside, what inside, and who it is. A name alone lets nobody in (T17).
#[derive(Debug)]
struct Greeted {
    outside: Token,
    inside: String,
    principal: Principal,
}

/// Everybody who is served over MCP.
#[derive(Debug, Default)]
pub(crate) struct McpGuests {
    count: Arc<AtomicUsize>,
    numbers: AtomicU64,
    door: Mutex<Option<OpenDoor>>,
}

/// One guest; counts as long as it lives.
#[derive(Debug)]
pub(crate) struct Seat(Arc<AtomicUsize>);

impl Drop for Seat {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

impl McpGuests {
    fn door(&self) -> MutexGuard<'_, Option<OpenDoor>> {
        self.door.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many connections there are.
    pub(crate) fn count(&self) -> usize {
        self.count.load(Ordering::SeqCst)
    }

    /// Counts one more.
    pub(crate) fn seat(&self) -> Seat {
        self.count.fetch_add(1, Ordering::SeqCst);
        Seat(Arc::clone(&self.count))
    }

    /// A number that no other guest of this daemon has.
    pub(crate) fn number(&self) -> u64 {
        self.numbers.fetch_add(1, Ordering::SeqCst) + 1
    }

    /// Opens the door for clients over HTTP, with a secret that is new each time.
    pub(crate) fn open(&self, door: HttpDoor) -> Result<Token, Failure> {
        let secret = Token::draw().map_err(|error| {
            Failure::new(ErrorCode::Internal, format!("The system gives no randomness: {error}."))
        })?;
        let mut open = self.door();
        if open.is_some() {
            return Err(Failure::new(ErrorCode::Busy, "MCP is served over HTTP already.")
                .with_hint("End the other `tabwire mcp --http` first, or use its address."));
        }
        *open = Some(OpenDoor { secret: secret.clone(), door, greeted: VecDeque::new() });
        Ok(secret)
    }

    /// Closes that door, and every stream through it.
    pub(crate) fn close(&self) {
        if let Some(open) = self.door().take() {
            open.door.close();
        }
    }

    /// Whether it is the secret of the open door.
    pub(crate) fn is_address(&self, secret: &str) -> bool {
        self.door().as_ref().is_some_and(|open| open.secret.matches(secret))
    }

    /// A new name for a client that has greeted, to be told outside.
    pub(crate) fn name(&self, inside: &str, principal: Principal) -> Option<Token> {
        let outside = Token::draw().ok()?;
        let mut open = self.door();
        let greeted = &mut open.as_mut()?.greeted;
        if let Some(known) = greeted.iter().find(|known| known.inside == inside) {
            return Some(known.outside.clone());
        }
        if greeted.len() == GREETED_CLIENTS {
            greeted.pop_front();
        }
        greeted.push_back(Greeted { outside: outside.clone(), inside: inside.to_owned(), principal });
        Some(outside)
    }

    /// What a client is called inside, if it is who greeted under that name.
    pub(crate) fn find_inside(&self, outside: &str, principal: Principal) -> Option<String> {
        let open = self.door();
        let mut greeted = open.as_ref()?.greeted.iter();
        greeted
            .find(|known| known.outside.matches(outside) && known.principal == principal)
            .map(|known| known.inside.clone())
    }

    /// The open door.
    pub(crate) fn find_door(&self) -> Option<HttpDoor> {
        self.door().as_ref().map(|open| open.door.clone())
    }
}
