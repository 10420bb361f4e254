//! Which targets a CDP client sees, and the options that give it that view.

use http::Request;
use hyper::body::Incoming;
use tabwire_api::{ErrorCode, Failure, SessionKey};
use tabwire_browser::Display;
use tabwire_mux::{ClientOptions, FirstPage, Identity, OnLoss, Share, SharedGuard};

use crate::http::handler::query_value;
use crate::session::live::LiveSession;

/// Which targets a CDP client asks to see.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) enum View {
    /// Its own, with a first page of its own; in the user's browser, also the tabs that the user shared.
    #[default]
    Own,
    /// Also the session's tabs, the current one first.
    SessionTabs,
    /// Also those of other clients.
    All,
}

impl View {
    /// The view that a request asks for; `default` if it names none.
    pub(crate) fn read(request: &Request<Incoming>, default: Self) -> Result<Self, Failure> {
        let wrong = |message: String| Err(Failure::new(ErrorCode::BadArgs, message));
        match (query_value(request, "share"), query_value(request, "join")) {
            (None, None) => Ok(default),
            (None, Some("tabs")) => Ok(Self::SessionTabs),
            (Some("all"), None) => Ok(Self::All),
            (Some("all"), Some("tabs")) => wrong(
                "`share=all` and `join=tabs` exclude each other: `share=all` shows all targets.".to_owned(),
            ),
            (Some(other), _) if other != "all" => wrong(format!(
                "Unknown value `share={other}`. `share=all` also shows the targets of other clients."
            )),
            (_, other) => wrong(format!(
                "Unknown value `join={}`. `join=tabs` also shows the session's tabs.",
                other.unwrap_or_default()
            )),
        }
    }

    pub(crate) fn new(join: bool, share_all: bool) -> Self {
        match (join, share_all) {
            (_, true) => Self::All,
            (true, false) => Self::SessionTabs,
            (false, false) => Self::Own,
        }
    }

    /// The query that asks for it.
    pub(crate) const fn query(self) -> &'static str {
        match self {
            Self::Own => "",
            Self::SessionTabs => "?join=tabs",
            Self::All => "?share=all",
        }
    }

    /// How the audit log names it.
    pub(crate) const fn name(self) -> Option<&'static str> {
        match self {
            Self::Own => None,
            Self::SessionTabs => Some("tabs"),
            Self::All => Some("all"),
        }
    }

    /// Whether it shows the session's tabs, so that there has to be one.
    pub(crate) fn shows_session(self) -> bool {
        self != Self::Own
    }

    /// The options of a client with this view.
    pub(crate) fn options(self, live: &LiveSession, guard: SharedGuard, identity: Identity) -> ClientOptions {
        let is_launched = live.browser.ownership.may_close();
        let (share, first_page) = match self {
            Self::Own if is_launched => (Share::Own, FirstPage::Opens),
            Self::Own => (Share::UserTabs, FirstPage::Opens),
            Self::SessionTabs => {
                let current = live.engine.list_tabs().into_iter().find(|tab| tab.current);
                (Share::SessionTabs, current.map_or(FirstPage::Any, |tab| FirstPage::Is(tab.target)))
            }
            Self::All => (Share::All, FirstPage::Any),
        };
        ClientOptions {
            share,
            on_loss: OnLoss::Close,
            partition: live.partition.clone(),
            guard: Some(guard),
            first_page,
            // Without a window a page in a tab behind another one is not drawn, and its client would wait forever.
            opens_windows: is_launched && live.browser.display() == Some(Display::Headless),
            identity,
        }
    }
}

/// What connects a CDP client with other connections of its session.
pub(crate) fn identity_of(key: &SessionKey, name: Option<&str>, process: Option<u32>) -> Identity {
    let view = name.map(|name| format!("{key} {name}").into_boxed_str());
    Identity { view, process, ..Identity::default() }
}
