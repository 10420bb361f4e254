//! The usual tools in the user's own browser: the bodies that show them in a launched one, told there.

use crate::either_browser::in_own_browser;
use crate::{action, evidence, files, mcp_every_tool, network, reading};

#[test]
fn every_usual_tool_works_over_stdio_in_the_users_own_browser() {
    in_own_browser(&[mcp_every_tool::use_every_tool_over_stdio]);
}

#[test]
fn the_users_own_browser_is_acted_in_as_a_launched_one() {
    in_own_browser(&[
        action::act_by_ref,
        action::act_in_one_line,
        action::act_in_batches,
        action::open_an_alert,
    ]);
}

#[test]
fn the_users_own_browser_is_read_as_a_launched_one() {
    in_own_browser(&[
        reading::read_a_page,
        reading::tell_values,
        evidence::keep_evidence,
        evidence::tell_differences,
    ]);
}

#[test]
fn files_are_had_and_given_in_the_users_own_browser_as_in_a_launched_one() {
    in_own_browser(&[files::download, files::stay_within_the_roots]);
}

#[test]
fn requests_are_seen_and_changed_in_the_users_own_browser_as_in_a_launched_one() {
    in_own_browser(&[network::change_requests, network::replay_a_visit, network::go_offline_and_log_in]);
}
