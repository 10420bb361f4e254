//! Table: what each action needs, by its name and effect. An effect that is not known needs everything.

use crate::capability::Capability;

/// Where an action does what it does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ground {
    /// On the page its tab shows.
    Page,
    /// At the address it is given, and wherever that leads; the page it leaves does not matter.
    Destination,
    /// In the browser as a whole.
    Everywhere,
    /// On every tab, of which those that may not be read are told without their content.
    Listing,
    /// Nowhere: it neither reads nor changes a page.
    Nowhere,
}

/// What an action needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ActionNeed {
    /// What must be allowed.
    pub capabilities: &'static [Capability],
    /// Where.
    pub ground: Ground,
}

use Capability::{Act, Cdp, Download, Eval, Read, Upload};

const fn need(capabilities: &'static [Capability], ground: Ground) -> ActionNeed {
    ActionNeed { capabilities, ground }
}

/// Actions whose effect alone does not say what they need.
const BY_NAME: &[(&str, ActionNeed)] = &[
    ("tab_close", need(&[], Ground::Nowhere)),
    ("tabs_list", need(&[Read], Ground::Listing)),
    ("tab_select", need(&[Read], Ground::Page)),
    ("login", need(&[Act], Ground::Destination)),
    // Cookies and storage of every site that the browser knows.
    ("state", need(&[Read, Act], Ground::Everywhere)),
    ("cookies", need(&[Read, Act], Ground::Everywhere)),
    // Runs in every page that is loaded from then on.
    ("init_script", need(&[Eval], Ground::Everywhere)),
    ("downloads", need(&[Download], Ground::Everywhere)),
    ("trace", need(&[Read, Download], Ground::Everywhere)),
    // What was copied last, wherever that was.
    ("clipboard", need(&[Read, Act], Ground::Everywhere)),
    ("http_auth", need(&[Act], Ground::Everywhere)),
    ("upload", need(&[Act, Upload], Ground::Page)),
    ("download_file", need(&[Act, Download], Ground::Page)),
    ("cdp_connect", need(&[Cdp], Ground::Everywhere)),
];

impl ActionNeed {
    /// What an action needs.
    #[must_use]
    pub fn of(action: &str, effect: &str) -> Self {
        if let Some((_, need)) = BY_NAME.iter().find(|(name, _)| *name == action) {
            return *need;
        }
        match effect {
            "read" => need(&[Read], Ground::Page),
            "act" => need(&[Act], Ground::Page),
            "navigate" => need(&[Read], Ground::Destination),
            "eval" => need(&[Eval], Ground::Page),
            "files" => need(&[Read, Download], Ground::Page),
            _ => need(Capability::ALL, Ground::Everywhere),
        }
    }

    /// The capability that is asked about first.
    #[must_use]
    pub fn strongest(&self) -> Option<Capability> {
        self.capabilities.last().copied()
    }
}
