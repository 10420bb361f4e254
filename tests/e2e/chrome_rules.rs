//! The rules that a program which stands in for Chrome keeps, each with the tests that show it. A table: a rule whose
//! test is renamed or removed is noticed here.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// A rule in a sentence, and the tests that would fail without it.
type Rule = (&'static str, &'static [&'static str]);

/// Whose browser it is, and how it is come by.
const START: &[Rule] = &[
    (
        "The profile directory says which browser is meant; whoever names the same one gets the same browser.",
        &[
            "one_profile_is_one_browser_whoever_launches_it",
            "two_mcp_servers_share_one_profile_and_one_browser",
        ],
    ),
    (
        "A browser that runs on the profile is used as it is: it keeps its port and is not started anew.",
        &[
            "a_browser_that_ran_before_is_used_and_left_running",
            "a_browser_that_runs_on_windows_is_attached_to_keeps_its_port_and_is_left_running",
        ],
    ),
    (
        "A browser is started only when none on the profile can be used.",
        &[
            "a_browser_of_windows_is_found_launched_asked_relayed_and_stopped_through_one_powershell",
            "starting_becomes_connected_when_a_browser_is_attached_or_launched",
        ],
    ),
    (
        "One directory is one directory, however it is written.",
        &[
            "a_browser_of_windows_is_found_launched_asked_relayed_and_stopped_through_one_powershell",
            "one_directory_has_one_name",
        ],
    ),
    (
        "A browser on the profile that has no port is in the way, and is said to be.",
        &[
            "what_stands_in_the_way_of_a_start_is_said_and_nothing_is_started",
            "a_browser_that_runs_on_windows_is_attached_to_keeps_its_port_and_is_left_running",
        ],
    ),
    (
        "A browser with a window is none without one, on this system and on Windows.",
        &[
            "one_profile_is_one_browser_whoever_launches_it",
            "closing_a_reused_browser_with_a_window_closes_the_connection_and_not_the_window",
            "a_browser_of_windows_is_found_launched_asked_relayed_and_stopped_through_one_powershell",
        ],
    ),
    (
        "Flag and both descriptors make a pipe, a port makes a listener, both make both, neither is an error.",
        &[
            "the_transport_is_what_the_launcher_asks_for",
            "it_tells_its_version_and_what_is_missing",
            "puppeteer_launches_it_by_port_and_by_both_at_once",
        ],
    ),
    (
        "The flag for a pipe without descriptors ends it with exit code 1 and a sentence.",
        &["it_tells_its_version_and_what_is_missing"],
    ),
    (
        "The user's environment counts more than the launcher's arguments.",
        &[
            "the_environment_counts_more_than_the_launcher",
            "a_windows_profile_is_kept_and_restored_when_the_launcher_mistook_it_for_one_of_this_system",
        ],
    ),
    (
        "The port on Windows is our own flag's, then the environment's, then the launcher's, then any.",
        &["the_port_there_is_ours_to_say_then_the_users_then_the_launchers_then_any"],
    ),
    (
        "A port that was insisted on and is taken is an error; one that was wished for is not.",
        &["what_windows_refuses_is_told_and_nothing_hangs"],
    ),
    (
        "A browser that was started is asked for its version until it has a websocket.",
        &[
            "a_lost_relay_and_a_lost_browser_of_windows_come_back_with_the_next_request",
            "with_one_loopback_frames_go_to_windows_directly",
        ],
    ),
    (
        "What is asked before the browser is there waits for it.",
        &["a_request_before_the_browser_is_there_waits"],
    ),
    (
        "Values stand behind an equals sign or as the next argument; unknown flags are passed on in their order.",
        &[
            "values_come_behind_an_equals_sign_or_as_the_next_argument",
            "what_is_not_known_is_passed_on_in_its_order",
        ],
    ),
    (
        "It listens on this machine only, whatever address a launcher names.",
        &["an_address_to_listen_on_is_dropped_and_told", "a_head_is_read_and_only_loopback_names_pass"],
    ),
];

/// What a lost browser leads to.
const LOSS: &[Rule] = &[
    (
        "On a pipe a lost browser ends it, with the reason logged, and its launcher starts it again.",
        &[
            "a_loss_in_pipe_mode_ends_the_stand_in",
            "a_library_by_pipe_is_told_that_its_browser_was_killed_and_launches_it_again",
            "mcp_servers_drive_it_and_start_it_again_when_its_browser_was_killed",
            "a_launcher_by_pipe_is_logged_and_its_frames_where_that_is_wanted",
        ],
    ),
    (
        "On a pipe and a port at once a lost browser ends it too.",
        &["a_library_by_pipe_is_told_that_its_browser_was_killed_and_launches_it_again"],
    ),
    (
        "On a port it stays and listens, and forwards nothing until there is a browser again.",
        &[
            "a_loss_in_port_mode_degrades_at_once",
            "the_next_request_brings_a_lost_browser_back",
            "a_library_on_a_port_goes_on_in_another_browser_when_its_own_was_killed",
        ],
    ),
    (
        "A broken connection is a loss at once; nobody waits for a program in between to end.",
        &[
            "a_strong_signal_without_a_weak_one_is_a_loss_all_the_same",
            "a_lost_relay_and_a_lost_browser_of_windows_come_back_with_the_next_request",
        ],
    ),
    (
        "A detached inspector or target proves nothing alone.",
        &[
            "weak_signals_alone_change_nothing",
            "attach_and_detach_events_are_followed_and_the_latter_is_a_weak_signal",
        ],
    ),
    (
        "With a broken connection within two seconds they say that the browser is gone.",
        &[
            "a_weak_signal_within_two_seconds_of_a_strong_one_says_that_the_browser_is_gone",
            "a_transport_error_alone_is_unclear_and_with_a_weak_signal_near_it_the_browser_is_gone",
        ],
    ),
    ("Ten of them are remembered.", &["ten_weak_signals_are_remembered", "only_the_last_ten_are_remembered"]),
    (
        "Why the browser went changes nothing about how it comes back.",
        &[
            "on_a_port_a_killed_daemon_takes_its_browser_along_and_the_stand_in_waits_for_the_next_request",
            "the_next_request_brings_a_lost_browser_back",
        ],
    ),
];

/// How a browser comes back.
const RECOVERY: &[Rule] = &[
    (
        "Closing a browser that is gone is answered here, under the same id, and starts none.",
        &[
            "browser_close_while_the_browser_is_gone_is_answered_here_and_starts_nothing",
            "closing_a_browser_that_is_gone_is_answered_with_the_same_id",
            "the_next_request_brings_a_lost_browser_back",
        ],
    ),
    (
        "Any other request brings a browser back: the live one on the profile first, a new one second.",
        &[
            "a_recovery_attaches_to_a_live_browser_on_the_profile_before_it_starts_one",
            "the_next_request_brings_a_lost_browser_back",
            "a_lost_relay_and_a_lost_browser_of_windows_come_back_with_the_next_request",
        ],
    ),
    (
        "One recovery serves all that is asked meanwhile, and each request is answered once, in its turn.",
        &[
            "the_next_request_starts_one_recovery_and_the_others_wait_for_it",
            "on_a_port_a_killed_daemon_takes_its_browser_along_and_the_stand_in_waits_for_the_next_request",
            "what_waits_is_bounded_and_keeps_its_order",
        ],
    ),
    (
        "What the client had wished for on its root is acknowledged before anything that waited is sent.",
        &[
            "nothing_is_flushed_before_the_bootstrap_is_acknowledged",
            "the_bootstrap_is_what_the_client_had_asked_for_on_its_root",
            "the_next_request_brings_a_lost_browser_back",
        ],
    ),
    (
        "A page that is made after a recovery comes with its cdp session, as it did before.",
        &[
            "the_next_request_brings_a_lost_browser_back",
            "a_library_on_a_port_goes_on_in_another_browser_when_its_own_was_killed",
        ],
    ),
    (
        "Requests of our own have ids of their own, and their answers go no further.",
        &[
            "answers_to_our_own_requests_are_known_and_only_those",
            "the_next_request_brings_a_lost_browser_back",
        ],
    ),
    (
        "That something was attached or detached is told to the client all the same.",
        &[
            "the_next_request_brings_a_lost_browser_back",
            "every_unanswered_request_is_answered_and_every_session_ended_children_first",
        ],
    ),
    (
        "A recovery that fails ends it, with exit code 1 and the reason.",
        &[
            "a_failed_recovery_ends_the_stand_in",
            "a_killed_daemon_is_survived_and_a_browser_that_cannot_come_back_ends_it",
        ],
    ),
    ("A browser may be gone for any time.", &["degraded_waits_for_the_next_request_without_a_limit"]),
    (
        "A browser that goes again while it comes back is a loss like any other.",
        &["a_browser_lost_during_recovery_is_a_loss_like_any_other"],
    ),
];

/// What is ended, and what is left running.
const END: &[Rule] = &[
    (
        "A browser with a window, and one that ran before, are left running.",
        &[
            "closing_a_reused_browser_with_a_window_closes_the_connection_and_not_the_window",
            "a_browser_that_ran_before_is_used_and_left_running",
            "a_browser_that_runs_on_windows_is_attached_to_keeps_its_port_and_is_left_running",
        ],
    ),
    (
        "One without a window that was started for a launcher ends with it.",
        &["playwright_and_puppeteer_launch_it_by_pipe", "a_port_is_served_as_chrome_serves_it"],
    ),
    (
        "It ends also when something is killed that cannot clean up: stand-in, launcher, daemon.",
        &[
            "nothing_is_orphaned_whatever_is_killed",
            "nothing_is_orphaned_on_a_port_either",
            "nothing_is_orphaned_when_playwright_or_an_mcp_server_is_killed",
            "on_a_port_a_killed_daemon_takes_its_browser_along_and_the_stand_in_waits_for_the_next_request",
            "a_launcher_by_pipe_reaches_windows_though_it_mistook_the_profile_for_one_of_this_system",
        ],
    ),
    (
        "On Windows only the main process on that profile and port is ended, without a window, of the same program.",
        &[
            "a_browser_of_windows_is_found_launched_asked_relayed_and_stopped_through_one_powershell",
            "the_script_ends_only_what_it_has_looked_at_and_knows_every_word",
        ],
    ),
    (
        "While its browser is gone it ends only when it is asked to, is of no use any more, or cannot go on.",
        &[
            "on_a_port_a_killed_daemon_takes_its_browser_along_and_the_stand_in_waits_for_the_next_request",
            "a_signal_or_a_fatal_error_closes_from_every_state",
            "nothing_is_orphaned_on_a_port_either",
        ],
    ),
    (
        "A port that cannot be listened on ends it at once.",
        &["what_stands_in_the_way_of_a_start_is_said_and_nothing_is_started"],
    ),
    (
        "The first launcher out leaves the browser to the other.",
        &[
            "one_profile_is_one_browser_whoever_launches_it",
            "a_recovery_attaches_to_a_live_browser_on_the_profile_before_it_starts_one",
        ],
    ),
    (
        "A directory that a launcher made by mistake is removed only when it is empty and no link.",
        &[
            "a_directory_made_by_mistake_is_removed_only_when_it_is_empty_and_no_link",
            "a_launcher_by_pipe_reaches_windows_though_it_mistook_the_profile_for_one_of_this_system",
        ],
    ),
];

/// The states and what leads from one to another.
const STATES: &[Rule] = &[
    (
        "Starting becomes connected with a browser, attached or launched.",
        &["starting_becomes_connected_when_a_browser_is_attached_or_launched"],
    ),
    ("Connected becomes degraded with a loss on a port.", &["a_loss_in_port_mode_degrades_at_once"]),
    (
        "Degraded becomes connected when a request has brought a browser back.",
        &["nothing_is_flushed_before_the_bootstrap_is_acknowledged"],
    ),
    (
        "Connected becomes closing with a loss on a pipe, a signal or what cannot be mended.",
        &["a_loss_in_pipe_mode_ends_the_stand_in", "a_signal_or_a_fatal_error_closes_from_every_state"],
    ),
    (
        "Degraded becomes closing with a signal or a failed recovery.",
        &["a_signal_or_a_fatal_error_closes_from_every_state", "a_failed_recovery_ends_the_stand_in"],
    ),
];

/// What can be seen from outside.
const SEEN: &[Rule] = &[
    (
        "Transport, state, ownership, profile and port are logged under fixed names.",
        &[
            "a_port_is_served_as_chrome_serves_it",
            "a_launcher_by_pipe_is_logged_and_its_frames_where_that_is_wanted",
            "a_browser_that_ran_before_is_used_and_left_running",
        ],
    ),
    (
        "So are recoveries: the attempt, the bootstrap, the result, what was answered here, the signs of the loss.",
        &[
            "the_next_request_brings_a_lost_browser_back",
            "a_killed_daemon_is_survived_and_a_browser_that_cannot_come_back_ends_it",
            "what_is_logged_has_the_names_that_are_documented",
        ],
    ),
    (
        "All is logged only when that is asked for, frames are written only when that is asked for.",
        &[
            "on_a_port_all_is_logged_when_asked_for_and_secrets_only_among_frames",
            "only_its_owner_can_read_it_and_a_directory_of_everybodys_is_refused",
            "a_file_and_their_number_are_bounded_and_the_end_is_said",
        ],
    ),
];

/// What launchers can rely on.
const LAUNCHERS: &[Rule] = &[
    (
        "Each launcher's recipe works as it is printed.",
        &[
            "the_recipes_for_libraries_run_as_they_are_printed",
            "the_recipes_for_mcp_servers_run_as_they_are_printed",
            "the_recipe_for_a_port_runs_as_it_is_printed",
            "chromedriver_launches_it_and_finds_its_port_in_the_profile",
        ],
    ),
    (
        "Libraries find no difference to Chromium itself.",
        &[
            "playwright_finds_no_difference_to_chromium_itself",
            "puppeteer_finds_no_difference_to_chromium_itself",
        ],
    ),
    (
        "A port answers as Chromium's own, and is nobody's beyond this machine or from a web page.",
        &[
            "a_port_answers_as_chromiums_own",
            "a_port_has_a_websocket_for_each_page_as_chromiums_own",
            "the_protocol_is_asked_for_once_and_kept_for_every_stand_in",
            "a_port_is_served_as_chrome_serves_it",
        ],
    ),
    (
        "Flags that weaken the browser are refused unless they are allowed.",
        &["dangerous_flags_are_refused_unless_they_are_allowed"],
    ),
];

/// The Windows around a WSL system.
const WINDOWS: &[Rule] = &[
    (
        "Windows is meant where its names are used, or where that is said.",
        &["windows_is_meant_when_it_is_said_or_when_its_names_are_used"],
    ),
    (
        "A profile of Windows that a launcher took for one of this system is restored.",
        &[
            "a_windows_profile_is_kept_and_restored_when_the_launcher_mistook_it_for_one_of_this_system",
            "a_windows_path_is_found_again_behind_the_launchers_own_directory",
        ],
    ),
    (
        "A directory of this system has one of Windows that stands for it.",
        &["profiles_of_this_system_have_one_of_their_own_and_those_of_a_moment_share_one"],
    ),
    (
        "Paths are converted by the system's tool, else by their drive, else through the share.",
        &[
            "a_path_is_converted_by_the_systems_tool_else_by_its_drive_else_through_the_share",
            "paths_of_flags_that_write_files_are_converted_and_others_are_left_alone",
        ],
    ),
    (
        "The program is one of Windows, and is looked for where Windows has it.",
        &["the_program_is_one_of_windows_or_is_looked_for_there"],
    ),
    (
        "One loopback for both systems makes a relay needless.",
        &[
            "one_loopback_is_what_the_system_calls_mirrored",
            "with_one_loopback_frames_go_to_windows_directly",
        ],
    ),
    (
        "One PowerShell is spoken to, whatever it does, and nothing hangs for it.",
        &[
            "a_powershell_that_is_well_answers_and_ends_when_nobody_holds_it",
            "one_that_hangs_is_ended_and_whoever_else_waits_is_told",
            "an_answer_to_somebody_else_is_nobodys",
            "what_windows_refuses_is_told_and_nothing_hangs",
        ],
    ),
];

const ALL: &[&[Rule]] = &[START, LOSS, RECOVERY, END, STATES, SEEN, LAUNCHERS, WINDOWS];

/// The names of the functions in a file that are tests.
fn tests_in(text: &str) -> impl Iterator<Item = &str> {
    text.split("#[test]\n").chain(text.split("#[tokio::test]\n")).skip(1).filter_map(|part| {
        let (_, rest) = part.lines().next()?.split_once("fn ")?;
        rest.split('(').next()
    })
}

fn collect_tests(directory: &Path, found: &mut BTreeSet<String>) {
    for path in fs::read_dir(directory).expect("it is there").flatten().map(|entry| entry.path()) {
        if path.is_dir() && !path.ends_with("node_modules") {
            collect_tests(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            let text = fs::read_to_string(&path).expect("text");
            found.extend(tests_in(&text).map(str::to_owned));
        }
    }
}

#[test]
fn every_rule_of_a_stand_in_has_its_tests() {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut found = BTreeSet::new();
    for place in
        ["crates/tabwire/src/chrome", "crates/tabwire-daemon/src", "crates/tabwire-mux/src", "tests/e2e"]
    {
        collect_tests(&root.join(place), &mut found);
    }
    let named = ALL.iter().flat_map(|rules| rules.iter()).flat_map(|(rule, tests)| {
        assert!(!tests.is_empty(), "nothing shows: {rule}");
        tests.iter().map(move |test| (*rule, *test))
    });
    let missing: Vec<_> = named.filter(|(_, test)| !found.contains(*test)).collect();
    assert!(missing.is_empty(), "{missing:#?}");
}
