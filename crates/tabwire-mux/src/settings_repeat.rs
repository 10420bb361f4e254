//! Sends clients' page settings again after another cdp session on the page has gone.

use std::time::Instant;

use tabwire_wire::{CdpSessionId, TargetId};

use crate::from_client::Command;
use crate::mux::Mux;
use crate::output::Output;
use crate::page_settings::{PageSetting, PageSettings};
use crate::pending::{Asker, Errand, Pending};
use crate::reply;
use crate::session_table::SessionKind;

impl Mux {
    /// Notes a command that sets something on a page, sent under this id.
    pub(crate) fn note_setting(&mut self, id: u64, command: &Command<'_>) {
        if !PageSettings::concerns(command.envelope.method) {
            return;
        }
        let params = command.envelope.params.map_or("{}", |raw| raw.get());
        if let Some(session) = self.sessions.find_mut(command.session.as_str())
            && let SessionKind::Target { settings, .. } = &mut session.kind
        {
            settings.note(id, command.envelope.method, params);
        }
    }

    /// A cdp session on this target has gone: what the others had set is set again, in the same order.
    pub(crate) fn repeat_settings(&mut self, target: &TargetId, now: Instant) {
        if self.put_off_settings(target) {
            return;
        }
        let mut repeats: Vec<(CdpSessionId, PageSetting)> = Vec::new();
        for (id, session) in self.sessions.iter() {
            if let SessionKind::Target { target: attached, settings, .. } = &session.kind
                && attached == target
            {
                repeats.extend(settings.iter().map(|setting| (id.clone(), setting.clone())));
            }
        }
        repeats.sort_by_key(|(_, setting)| setting.order);
        for (session, setting) in repeats {
            if let Some(clear) = PageSettings::clear_first(setting.method) {
                self.chore(&session, clear, "{}", now);
            }
            self.chore(&session, setting.method, &setting.params, now);
        }
    }

    fn chore(&mut self, session: &CdpSessionId, method: &str, params: &str, now: Instant) {
        let asker = Asker::House(Errand::Chore);
        let id = self.pending.insert(Pending {
            asker,
            session: Some(session.clone()),
            since: now,
            revives: false,
            guarded: None,
        });
        self.outbox.push(Output::ToBrowser(reply::raw_command(id, session, method, params)));
    }
}
