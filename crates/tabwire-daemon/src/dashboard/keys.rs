//! Tickets and keys of dashboards.
//!
//! A ticket is made over the socket, is valid once and for 30 s, and travels in the fragment of a URL, which browsers do
//! not send. The page trades it for a key, which it keeps in memory of the tab.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tabwire_api::{ErrorCode, Failure, Remedy, Step};

use crate::http::token::Token;

/// How long a ticket is valid.
const TICKET_AGE: Duration = Duration::from_secs(30);

/// How long a key is valid.
const KEY_AGE: Duration = Duration::from_secs(12 * 60 * 60);

/// How long a key is valid without a connection of its page.
const KEY_IDLE: Duration = Duration::from_secs(60);

/// Tickets that wait; a new one replaces the oldest.
const TICKETS: usize = 8;

/// Dashboards that are open at once.
const KEYS: usize = 16;

/// Websockets of one dashboard at once: its line, the wall, and stages that come and go.
const CONNECTIONS: usize = 8;

/// The tickets and keys of a daemon. They end with it.
#[derive(Debug, Default)]
pub(crate) struct DashboardKeys(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    /// The number of the next key.
    next: u64,
    tickets: Vec<(Token, Instant)>,
    keys: Vec<Key>,
}

#[derive(Debug)]
struct Key {
    /// Names the key where its secret is not needed.
    number: u64,
    token: Token,
    since: Instant,
    /// Connections of its page, and when there was last one.
    connections: usize,
    seen: Instant,
}

impl Key {
    fn is_valid(&self, now: Instant) -> bool {
        let is_used = self.connections > 0 || now.duration_since(self.seen) < KEY_IDLE;
        is_used && now.duration_since(self.since) < KEY_AGE
    }
}

impl DashboardKeys {
    fn state(&self, now: Instant) -> MutexGuard<'_, State> {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        state.tickets.retain(|(_, since)| now.duration_since(*since) < TICKET_AGE);
        state.keys.retain(|key| key.is_valid(now));
        state
    }

    /// A new ticket.
    pub(crate) fn make_ticket(&self, now: Instant) -> Result<Token, Failure> {
        let ticket = draw()?;
        let mut state = self.state(now);
        if state.tickets.len() >= TICKETS {
            state.tickets.remove(0);
        }
        state.tickets.push((ticket.clone(), now));
        Ok(ticket)
    }

    /// Whether a ticket can still be used.
    pub(crate) fn has_ticket(&self, ticket: &Token, now: Instant) -> bool {
        self.state(now).tickets.iter().any(|(known, _)| known.matches(ticket.expose()))
    }

    /// Trades a ticket for a key.
    pub(crate) fn enter(&self, ticket: &str, now: Instant) -> Result<Token, Failure> {
        let mut state = self.state(now);
        let at = state.tickets.iter().position(|(known, _)| known.matches(ticket)).ok_or_else(refused)?;
        state.tickets.remove(at);
        if state.keys.len() >= KEYS {
            return Err(Failure::new(ErrorCode::Busy, format!("{KEYS} dashboards are open already."))
                .with_remedy("Close one of them."));
        }
        let token = draw()?;
        let number = state.next;
        state.next += 1;
        state.keys.push(Key { number, token: token.clone(), since: now, connections: 0, seen: now });
        Ok(token)
    }

    /// Counts a connection with a key. Returns the key's number.
    pub(crate) fn connect(&self, key: &str, now: Instant) -> Result<u64, Failure> {
        let mut state = self.state(now);
        let known = state.keys.iter_mut().find(|known| known.token.matches(key)).ok_or_else(refused)?;
        if known.connections >= CONNECTIONS {
            return Err(Failure::new(ErrorCode::Busy, "The dashboard has too many connections."));
        }
        known.connections += 1;
        Ok(known.number)
    }

    /// Dashboards that are open.
    pub(crate) fn count(&self, now: Instant) -> usize {
        self.state(now).keys.len()
    }

    /// Whether a key is still valid.
    pub(crate) fn is_valid(&self, key: &str, now: Instant) -> bool {
        self.state(now).keys.iter().any(|known| known.token.matches(key))
    }

    /// A connection with a key has ended.
    pub(crate) fn disconnect(&self, key: &str, now: Instant) {
        let mut state = self.state(now);
        if let Some(known) = state.keys.iter_mut().find(|known| known.token.matches(key)) {
            known.connections = known.connections.saturating_sub(1);
            known.seen = now;
        }
    }
}

fn draw() -> Result<Token, Failure> {
    Token::draw().map_err(|error| {
        Failure::new(ErrorCode::Internal, format!("Random bytes are not available from the system: {error}."))
    })
}

fn refused() -> Failure {
    Failure::new(ErrorCode::PolicyDenied, "This URL was already used, or has expired.")
        .with_remedy(Remedy::new("Run {} again.", [Step::command("tabwire dashboard")]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ticket_is_valid_once_and_for_a_short_time() {
        let (keys, now) = (DashboardKeys::default(), Instant::now());
        let ticket = keys.make_ticket(now).expect("a ticket");
        assert!(keys.enter("", now).is_err() && keys.enter(&"0".repeat(64), now).is_err());
        let key = keys.enter(ticket.expose(), now).expect("the first time");
        assert!(keys.enter(ticket.expose(), now).is_err(), "only once");
        assert!(keys.is_valid(key.expose(), now) && !keys.is_valid(ticket.expose(), now));
        let late = keys.make_ticket(now).expect("a ticket");
        assert!(keys.enter(late.expose(), now + TICKET_AGE).is_err(), "too late");
        let all: Vec<_> = (0..=TICKETS).map(|_| keys.make_ticket(now).expect("a ticket")).collect();
        assert!(keys.enter(all[0].expose(), now).is_err(), "a newer one replaced it");
        assert!(keys.enter(all[TICKETS].expose(), now).is_ok());
    }

    #[test]
    fn a_key_ends_after_its_page_and_after_half_a_day() {
        let (keys, now) = (DashboardKeys::default(), Instant::now());
        let enter = |now| keys.enter(keys.make_ticket(now).expect("a ticket").expose(), now).expect("a key");
        let key = enter(now);
        assert!(!keys.is_valid(key.expose(), now + KEY_IDLE), "its page never connected");
        let key = enter(now);
        keys.connect(key.expose(), now).expect("valid");
        assert!(keys.is_valid(key.expose(), now + KEY_AGE / 2), "while it is connected");
        assert!(!keys.is_valid(key.expose(), now + KEY_AGE));
        let key = enter(now);
        keys.connect(key.expose(), now).expect("valid");
        let left = now + Duration::from_secs(600);
        keys.disconnect(key.expose(), left);
        assert!(keys.connect(key.expose(), left + KEY_IDLE / 2).is_ok(), "a reload");
        keys.disconnect(key.expose(), left + KEY_IDLE);
        assert!(keys.connect(key.expose(), left + KEY_IDLE * 3).is_err());
        let open: Vec<_> =
            std::iter::from_fn(|| keys.enter(keys.make_ticket(left).expect("a ticket").expose(), left).ok())
                .take(KEYS + 1)
                .collect();
        assert!(open.len() <= KEYS, "bounded");
    }
}
