//! The common tools in the user's own browser: the same test bodies as in a launched one.

use crate::browser::{action, capture, files, network, reading};
use crate::mcp::every_tool;
use crate::own_browser::tabs::connected_browser;
use crate::policy::grants::guarded;
use crate::policy::hostile::bypass;
use crate::support::either_browser::in_own_browser;
use crate::support::fixture_site::FixtureSite;

#[test]
fn every_usual_tool_works_over_stdio_in_the_users_own_browser() {
    in_own_browser(&[every_tool::use_every_tool_over_stdio]);
}

#[test]
fn input_works_in_the_users_own_browser_as_in_a_launched_one() {
    in_own_browser(&[
        action::act_by_ref,
        action::act_in_one_line,
        action::act_in_batches,
        action::open_an_alert,
    ]);
}

#[test]
fn reading_works_in_the_users_own_browser_as_in_a_launched_one() {
    in_own_browser(&[
        reading::read_a_page,
        reading::show_values,
        capture::save_captures,
        capture::record_trace_and_measure,
        capture::show_differences,
    ]);
}

#[test]
fn files_work_in_the_users_own_browser_as_in_a_launched_one() {
    in_own_browser(&[files::download, files::stay_within_the_roots]);
}

#[test]
fn t31_own_browser_downloads_need_a_grant() {
    let world = guarded().with("TABWIRE_UPSTREAM", "extension");
    let _browser = connected_browser(&world);
    // By a user's click: after the first download, Chrome lets no script start another.
    bypass::write_no_file_until_granted(&world, &FixtureSite::start(), &["click", "#disposition"]);
    world.run(&["close"]).succeeded();
}

#[test]
fn requests_work_in_the_users_own_browser_as_in_a_launched_one() {
    in_own_browser(&[network::change_requests, network::replay_a_visit, network::go_offline_and_log_in]);
}
