//! Turns in the side panel: messages, tool calls, questions, stop, steer.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::chat::records::PNG;
use crate::own_browser::extension_ui::states::open_tabs;
use crate::panel::appearance::check_widths;
use crate::panel::{items, latest_chat, panel_with, say};
use crate::support::extension_pages::ExtensionView;
use crate::support::fixture_site::FixtureSite;
use crate::support::page_checks::press_by_key;
use crate::support::wait::eventually;

/// Whether all answers of questions can be pressed.
pub(crate) const READY: &str = "(() => { const all = [...document.querySelectorAll('.answers button')]; \
    return all.length > 0 && all.every((one) => !one.disabled); })()";

#[test]
fn a_message_in_the_panel_is_answered_by_the_agent() {
    let (world, _browser, mut panel) = panel_with("codex-acp", "");
    panel.shows("Choose an agent");
    panel.shows("Codex");
    say(&mut panel, "say Hello from the **agent**, and <img src=x onerror=document.title='gone'> is text.");
    panel.becomes(
        "the reply is drawn as Markdown",
        "document.querySelector('.theirs strong')?.textContent === 'agent'",
    );
    panel.becomes(
        "and tags stay text",
        "document.querySelector('.talk img') === null && document.title === 'Tabwire'",
    );
    panel.shows("onerror=document.title");
    panel.shows("Context: unavailable");
    eventually("the agent waits", 20, || latest_chat(&world)["state"] == "idle");
    let chat = latest_chat(&world);
    assert_eq!(chat["agent"], "codex");
    assert!(items(&world, "agent")[0]["text"].as_str().is_some_and(|text| text.starts_with("Hello from")));
    // Options of the agent are chosen in its menu.
    panel.press("Agent and its options");
    panel.evaluate("(() => { const one = [...document.querySelectorAll('.option select')].find((one) => [...one.options].some(({value}) => value === 'large')); one.value = 'large'; one.dispatchEvent(new Event('change')); })()");
    panel.press("Agent and its options");
    eventually("it is kept", 20, || latest_chat(&world)["chosen_options"]["model"] == "large");
    say(&mut panel, "set");
    panel.shows("\"model\":\"large\"");
    eventually("the agent waits", 20, || latest_chat(&world)["state"] == "idle");
}

#[test]
fn a_question_is_answered_in_the_panel_by_pointer_and_by_keys() {
    let site = FixtureSite::start();
    let (world, _browser, mut panel) = panel_with("codex-acp", "");
    let call = |page: &str| format!("tool navigate {{\"url\": \"{}\"}}", site.page(page));
    say(&mut panel, &call("/plain"));
    panel.shows("wants to see and open pages of");
    // A click of a script is no answer.
    panel.becomes("its buttons are enabled", READY);
    panel.evaluate("document.querySelector('.answers button').click()");
    panel.shows("wants to see and open pages of");
    panel.press("No");
    panel.shows("not allowed: see and open");
    panel.shows("the side panel in Chromium");
    eventually("the agent waits", 20, || latest_chat(&world)["state"] == "idle");

    panel.take_keys();
    say(&mut panel, &call("/form"));
    panel.becomes("its buttons are enabled", READY);
    press_by_key(&mut panel, "This session", " ");
    panel.shows("allowed for this session: see and open");
    panel.becomes(
        "the step has succeeded",
        "[...document.querySelectorAll('.work > summary')].at(-1).textContent.startsWith('Navigate')",
    );
    eventually("the agent waits", 20, || latest_chat(&world)["state"] == "idle");
    let steps = items(&world, "step");
    assert_eq!(steps.last().map(|step| step["succeeded"].clone()), Some(Value::Bool(true)), "{steps:?}");
}

#[test]
fn images_and_files_of_the_panel_reach_the_agent() {
    let (world, _browser, mut panel) = panel_with("codex-acp", "");
    let (image, notes) = (world.home().join("dot.png"), world.home().join("notes.txt"));
    std::fs::write(&image, STANDARD.decode(PNG).expect("base64")).expect("written");
    std::fs::write(&notes, "Blue door.").expect("written");
    panel.shows("Choose an agent");
    panel.choose_files("input[type=file]", &[&image.to_string_lossy(), &notes.to_string_lossy()]);
    panel.shows("dot.png");
    panel.shows("notes.txt");
    check_widths(&mut panel, "attached");
    say(&mut panel, "heard");
    panel.shows("Heard: text image resource");
    let sent = items(&world, "user");
    assert_eq!((&sent[0]["images"], &sent[0]["files"]), (&json!(1), &json!(["notes.txt"])));
    panel.shows("1 image · notes.txt");
    // Something else is refused where it is chosen.
    std::fs::write(&notes, [0, 1, 2]).expect("written");
    panel.choose_files("input[type=file]", &[&notes.to_string_lossy()]);
    panel.shows("notes.txt is neither an image nor text.");
}

#[test]
fn the_panel_shows_what_the_agent_saw() {
    let site = FixtureSite::start();
    let (world, _browser, mut panel) = panel_with("codex-acp", "");
    let origin = site.page("").trim_end_matches('/').to_owned();
    world.run(&["allow", &origin, "--without-terminal"]).succeeded();
    say(
        &mut panel,
        &format!("tool navigate {{\"url\": \"{}\"}}\ntool screenshot {{}}\nsay Seen.", site.page("/form")),
    );
    panel.becomes(
        "it replies",
        "document.querySelector('.theirs:last-of-type')?.textContent.includes('Seen.')",
    );
    panel.press("Screenshot");
    panel.becomes("its screenshot is shown", "document.querySelector('.work .shot img')?.naturalWidth > 100");
    check_widths(&mut panel, "steps");
}

#[test]
fn the_first_answer_of_popup_and_panel_counts() {
    let site = FixtureSite::start();
    let (world, browser, mut panel) = panel_with("codex-acp", "");
    open_tabs(&browser, &["about:blank"]);
    say(&mut panel, &format!("tool navigate {{\"url\": \"{}\"}}", site.page("/plain")));
    panel.shows("wants to see and open pages of");
    let mut popup = ExtensionView::popup(&browser);
    popup.shows("wants to see and open pages of");
    popup.becomes("its buttons are enabled", READY);
    popup.press("No");
    panel.shows("not allowed: see and open");
    panel.shows("the extension in Chromium");
    eventually("the agent waits", 20, || latest_chat(&world)["state"] == "idle");
}

#[test]
fn a_request_for_the_shell_is_answered_in_the_panel() {
    let (world, _browser, mut panel) = panel_with("claude-agent-acp", "");
    say(&mut panel, "shell rm -rf /");
    panel.shows("asks to run");
    panel.shows("Tabwire’s policy does not cover it.");
    panel.becomes("its buttons are enabled", READY);
    panel.press("Reject");
    panel.shows("The shell was refused.");
    panel.shows("Reject: rm -rf /");
    assert_eq!(items(&world, "question")[0]["outcome"]["answered"], "no");
}

#[test]
fn a_turn_is_steered_queued_after_and_stopped() {
    let (world, _browser, mut panel) = panel_with("codex-acp", "");
    say(&mut panel, "wait");
    panel.shows("Waiting.");
    panel.type_into("textarea", "say This came later.");
    panel.press("Send after this turn");
    panel.shows("waits for the end of the turn");
    say(&mut panel, "faster");
    panel.shows("Steered: faster");
    panel.shows("sent into the turn");
    panel.shows("This came later.");
    panel.shows_no_more("waits for the end of the turn");
    // It is where it was sent: below what the turn before has said.
    let order = "[...document.querySelectorAll('.talk > article')].map((one) => one.textContent)";
    let order = panel.evaluate(order);
    let order: Vec<&str> = order.as_array().expect("messages").iter().filter_map(Value::as_str).collect();
    let at = |text: &str| order.iter().position(|one| one.starts_with(text));
    assert!(at("say This came later.") > at("Waiting."), "{order:?}");
    say(&mut panel, "hang");
    panel.becomes(
        "it works",
        "[...document.querySelectorAll('button.stop')].some((one) => one.checkVisibility())",
    );
    eventually("it hangs", 20, || latest_chat(&world)["state"] == "working");
    panel.press("Stop");
    eventually("it has stopped", 20, || latest_chat(&world)["state"] == "idle");
    panel.becomes("the button is gone", "!document.querySelector('button.stop').checkVisibility()");
}
