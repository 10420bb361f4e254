//! Repeats clients' page settings after another CDP session on the page is detached.

use std::time::Instant;

use tabwire_api::{CdpSessionId, TargetId};

use crate::mux::Mux;
use crate::routing::from_client::Command;
use crate::routing::pending::InternalCommand;
use crate::session::page_settings::{PageSetting, PageSettings};
use crate::session::table::SessionKind;
use crate::state::BrowserState;

impl Mux {
    /// A CDP session on this target is detached: repeats the settings of the others, in their original order.
    pub(crate) fn repeat_settings(&mut self, target: &TargetId, now: Instant) {
        if self.state.put_off_settings(target) {
            return;
        }
        let mut repeats: Vec<(CdpSessionId, PageSetting)> = Vec::new();
        for (id, session) in self.state.sessions.iter() {
            if let SessionKind::Target { target: attached, settings, .. } = &session.kind
                && attached == target
            {
                repeats.extend(settings.iter().map(|setting| (id.clone(), setting.clone())));
            }
        }
        repeats.sort_by_key(|(_, setting)| setting.order);
        for (session, setting) in repeats {
            if let Some(clear) = PageSettings::clear_first(setting.method) {
                self.router.send(Some(&session), clear, "{}", InternalCommand::FireAndForget, now);
            }
            self.router.send(
                Some(&session),
                setting.method,
                &setting.params,
                InternalCommand::FireAndForget,
                now,
            );
        }
    }
}

impl BrowserState {
    /// Records a command that sets an override on a page, sent under this id.
    pub(crate) fn record_setting(&mut self, id: u64, command: &Command<'_>) {
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
}
