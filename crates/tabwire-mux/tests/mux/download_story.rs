//! Downloads where several clients share a context: every client gets its own files and events, and no
//! others.

use serde_json::{Value, json};
use tabwire_mux::Share;

use crate::support::stage::Stage;

fn staged() -> Stage {
    let mut stage = Stage::new();
    stage.mux.stage_downloads("/staging".into());
    stage
}

fn set_behavior(stage: &mut Stage, client: u64, behavior: &str, path: &str) {
    let params = json!({"behavior": behavior, "downloadPath": path, "eventsEnabled": true});
    assert_eq!(stage.ask(client, "", "Browser.setDownloadBehavior", params), json!({}));
}

fn begin(stage: &mut Stage, frame: &str, guid: &str) {
    let params = json!({"frameId": frame, "guid": guid, "url": "", "suggestedFilename": "../report.txt"});
    let control = stage.control.clone();
    stage.browser.event(&control, "Browser.downloadWillBegin", params);
    stage.flow();
}

fn progress(stage: &mut Stage, guid: &str, state: &str) {
    let control = stage.control.clone();
    stage.browser.event(&control, "Browser.downloadProgress", json!({"guid": guid, "state": state}));
    stage.flow();
}

fn download_events(stage: &mut Stage, client: u64) -> Vec<String> {
    let word = |frame: &Value| {
        let state = frame["params"]["state"].as_str().unwrap_or("begins");
        Some(format!("{} {state}", frame["params"]["guid"].as_str()?))
    };
    stage.take_frames(client).iter().filter_map(word).collect()
}

#[test]
fn files_go_to_the_client_whose_page_fetched_them() {
    let mut stage = staged();
    stage.join(1);
    stage.join(2);
    let (first, second) = (stage.create(1), stage.create(2));
    set_behavior(&mut stage, 1, "allowAndName", "/one");
    set_behavior(&mut stage, 2, "allow", "/two");
    begin(&mut stage, &first, "g1");
    begin(&mut stage, &second, "g2");
    progress(&mut stage, "g1", "completed");
    progress(&mut stage, "g2", "completed");
    // A site's suggestion decides the file name, never the directory.
    assert_eq!(
        stage.take_notices(),
        ["1: move /staging/g1 to /one/g1", "2: move /staging/g2 to /two/report.txt"]
    );
    assert_eq!(download_events(&mut stage, 1), ["g1 begins"], "completes only after the file is in place");
    stage.mux.download_placed(1, true);
    stage.mux.download_placed(2, false);
    stage.settle();
    assert_eq!(download_events(&mut stage, 1), ["g1 completed"]);
    assert_eq!(download_events(&mut stage, 2), ["g2 begins", "g2 canceled"]);
}

#[test]
fn a_client_does_not_change_another_clients_downloads() {
    let mut stage = staged();
    stage.join(1);
    stage.join(2);
    let page = stage.create(1);
    set_behavior(&mut stage, 1, "allowAndName", "/one");
    set_behavior(&mut stage, 2, "allowAndName", "/two");
    let heard = |stage: &mut Stage| {
        stage.take_methods().into_iter().filter(|method| method == "Browser.setDownloadBehavior").count()
    };
    assert_eq!(heard(&mut stage), 1, "the control session sets it once for all clients");
    set_behavior(&mut stage, 2, "default", "");
    stage.leave(2);
    assert_eq!(heard(&mut stage), 0);
    begin(&mut stage, &page, "g1");
    progress(&mut stage, "g1", "completed");
    assert_eq!(stage.take_notices(), ["1: move /staging/g1 to /one/g1"]);
    stage.leave(1);
    assert_eq!(heard(&mut stage), 1, "and resets it when no client wants files");
}

#[test]
fn unowned_pages_serve_all_clients_and_unwanted_files_are_removed() {
    let mut stage = staged();
    stage.join(1);
    stage.join(2);
    set_behavior(&mut stage, 1, "allowAndName", "/one");
    set_behavior(&mut stage, 2, "allowAndName", "/two");
    begin(&mut stage, "T-002.", "g1");
    progress(&mut stage, "g1", "completed");
    assert_eq!(stage.take_notices(), ["1: copy /staging/g1 to /one/g1", "2: move /staging/g1 to /two/g1"]);
    let page = stage.create(1);
    begin(&mut stage, &page, "g2");
    set_behavior(&mut stage, 1, "default", "");
    progress(&mut stage, "g2", "completed");
    assert_eq!(stage.take_notices(), ["drop /staging/g2"]);
}

#[test]
fn a_client_that_denies_downloads_has_them_cancelled() {
    let mut stage = staged();
    stage.join(1);
    stage.join(2);
    let page = stage.create(1);
    set_behavior(&mut stage, 1, "deny", "");
    set_behavior(&mut stage, 2, "allowAndName", "/two");
    stage.take_methods();
    begin(&mut stage, &page, "g1");
    assert!(stage.take_methods().contains(&"Browser.cancelDownload".to_owned()));
    progress(&mut stage, "g1", "canceled");
    assert_eq!(download_events(&mut stage, 1), ["g1 begins", "g1 canceled"]);
    assert!(download_events(&mut stage, 2).is_empty());
}

#[test]
fn download_in_own_context_is_reported_to_its_client_only() {
    let mut stage = staged();
    stage.join(1);
    stage.join(2);
    set_behavior(&mut stage, 2, "allowAndName", "/two");
    let context = stage.ask_for(1, "Target.createBrowserContext", json!({}), "browserContextId");
    let page =
        stage.ask_for(1, "Target.createTarget", json!({"url": "", "browserContextId": context}), "targetId");
    let session = stage.attach(1, &page);
    let params = json!({
        "behavior": "allowAndName", "downloadPath": "/own", "browserContextId": context, "eventsEnabled": true,
    });
    stage.ask(1, "", "Browser.setDownloadBehavior", params);
    // A frame of the page that is not a target.
    stage.browser.event(&session, "Page.frameAttached", json!({"frameId": "F1", "parentFrameId": page}));
    stage.flow();
    begin(&mut stage, "F1", "g1");
    progress(&mut stage, "g1", "completed");
    assert!(stage.take_notices().is_empty());
    assert_eq!(download_events(&mut stage, 1), ["g1 begins", "g1 completed"]);
    assert!(download_events(&mut stage, 2).is_empty());
}

#[test]
fn partition_downloads_are_staged_and_reported_in_the_partition_only() {
    let mut stage = staged();
    let home = stage.reserve_context("a");
    stage.join_in(1, "a", Share::UserTabs);
    stage.join_in(2, "a", Share::UserTabs);
    stage.join_in(3, "c", Share::UserTabs);
    stage.join(4);
    stage.take_heard();
    for (client, path) in [(1, "/one"), (2, "/two"), (3, "/three"), (4, "/four")] {
        set_behavior(&mut stage, client, "allowAndName", path);
    }
    let asked = std::mem::take(&mut stage.browser.heard);
    let asked: Vec<&Value> = asked.iter().map(|(_, heard)| &heard.params["browserContextId"]).collect();
    assert_eq!(
        asked,
        [&json!(home), &Value::Null],
        "once for the partition's context, once for the default one"
    );
    let pages = [stage.create(1), stage.open_tab(Some("a")), stage.open_tab(Some("c"))];
    for (page, guid) in pages.iter().zip(["g1", "g2", "g3"]) {
        begin(&mut stage, page, guid);
        progress(&mut stage, guid, "completed");
    }
    assert_eq!(
        stage.take_notices(),
        [
            "1: move /staging/g1 to /one/g1",
            "2: copy /staging/g2 to /one/g2",
            "3: move /staging/g2 to /two/g2",
            "4: move /staging/g3 to /three/g3",
        ]
    );
    assert!(download_events(&mut stage, 4).is_empty());
    set_behavior(&mut stage, 1, "deny", "");
    stage.leave(2);
    stage.take_heard();
    begin(&mut stage, &pages[0], "g4");
    let cancelled = std::mem::take(&mut stage.browser.heard);
    assert_eq!(cancelled[0].1.params, json!({"guid": "g4", "browserContextId": home}));
}
