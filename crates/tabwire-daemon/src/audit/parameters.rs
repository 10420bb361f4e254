//! How much the audit log shows of the parameters of an action or event.
//!
//! Actions declare it in their own files. The table here is for events of the log that are not actions.

use tabwire_api::LogVisibility::{self, Keyword, Path, Url};
use tabwire_engine::find_action;

/// A parameter and how much of it the log shows.
pub(crate) type LoggedParameter = (&'static str, LogVisibility);

const RULING: &[LoggedParameter] = &[
    ("site", Keyword),
    ("which", Keyword),
    ("capabilities", Keyword),
    ("term", Keyword),
    ("id", Keyword),
    ("answer", Keyword),
];

const HOLD: &[LoggedParameter] = &[("scope", Keyword), ("agent", Keyword)];

const EVENTS: &[(&str, &[LoggedParameter])] = &[
    ("cdp_connect", &[("share", Keyword)]),
    ("cdp_port", &[("port", Keyword), ("open", Keyword)]),
    ("execute", &[("bytes", Keyword), ("hash", Keyword), ("file", Keyword)]),
    ("client_disconnect", &[("kind", Keyword), ("client", Keyword), ("program", Keyword)]),
    ("upstream_switch", &[("from", Keyword), ("to", Keyword)]),
    ("policy_allow", RULING),
    ("policy_deny", RULING),
    ("policy_revoke", RULING),
    ("approval_answer", RULING),
    ("question_asked", &[("id", Keyword), ("action", Keyword), ("site", Keyword), ("capability", Keyword)]),
    ("question_expired", &[("id", Keyword)]),
    ("tab_opened", &[("url", Url)]),
    ("navigated", &[("url", Url)]),
    ("download_began", &[("url", Url), ("name", Path)]),
    ("events_dropped", &[("count", Keyword)]),
    ("pause", HOLD),
    ("stop", HOLD),
    ("resume", HOLD),
];

/// The parameters of an action or event that the log shows; none for an unknown name.
pub(crate) fn logged_parameters(name: &str) -> Vec<(String, LogVisibility)> {
    if let Some(action) = find_action(name) {
        let shown = action.parameter_list();
        return shown.iter().filter_map(|one| Some((one.name.clone(), one.log?))).collect();
    }
    let event = EVENTS.iter().find(|(event, _)| *event == name).map(|(_, shown)| *shown);
    event.into_iter().flatten().map(|(name, visibility)| ((*name).to_owned(), *visibility)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn t39_lists_of_secrets_are_counted_and_unknown_names_show_nothing() {
        for (action, name) in [("press", "keys"), ("headers", "headers"), ("route", "header")] {
            let parameters = logged_parameters(action);
            let shown = parameters.iter().find(|(parameter, _)| parameter == name);
            assert_eq!(shown.map(|(_, visibility)| *visibility), Some(LogVisibility::Count), "{action}");
        }
        assert!(logged_parameters("no_such_action").is_empty());
        assert_eq!(logged_parameters("policy_allow").len(), RULING.len());
    }
}
