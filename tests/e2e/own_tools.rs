//! The usual tools in the user's own browser: the bodies that show them in a launched one, told there.

use crate::either_browser::in_own_browser;
use crate::fixture_site::FixtureSite;
use crate::own_tabs::connected_browser;
use crate::policy::guarded;
use crate::{action, evidence, files, mcp_every_tool, network, policy_bypass, reading};

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
        evidence::record_trace_and_measure,
        evidence::tell_differences,
    ]);
}

#[test]
fn files_are_had_and_given_in_the_users_own_browser_as_in_a_launched_one() {
    in_own_browser(&[files::download, files::stay_within_the_roots]);
}

#[test]
fn t31_a_page_of_the_users_own_browser_gives_the_agent_no_file_until_that_is_granted() {
    let world = guarded().with("TABWIRE_UPSTREAM", "extension");
    let _browser = connected_browser(&world);
    // By a click of its user's: after the first download Chrome itself lets no script begin another.
    policy_bypass::write_no_file_until_granted(&world, &FixtureSite::start(), &["click", "#disposition"]);
    world.run(&["close"]).succeeded();
}

#[test]
fn requests_are_seen_and_changed_in_the_users_own_browser_as_in_a_launched_one() {
    in_own_browser(&[network::change_requests, network::replay_a_visit, network::go_offline_and_log_in]);
}
