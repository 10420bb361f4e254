//! Every common tool through `tabwire mcp`, and the errors of wrong calls.

use serde_json::{Value, json};

use crate::mcp::client::{McpClient, text_of};
use crate::support::fixture_site::FixtureSite;
use crate::support::world::World;

/// Calls a tool; returns its whole result.
type Calling<'a> = dyn FnMut(&str, Value) -> Value + 'a;

/// Uses every default tool once, on pages of the fixture site.
pub(crate) fn use_every_tool(site: &FixtureSite, listed: &[String], call: &mut Calling<'_>) {
    let mut used: Vec<&str> = Vec::new();
    let mut check = |tool: &'static str, arguments: Value, expected: &str| -> String {
        used.push(tool);
        let result = call(tool, arguments.clone());
        assert_ne!(result["isError"], true, "{tool} {arguments}: {result}");
        let text = text_of(&result);
        assert!(text.contains(expected), "{tool} {arguments} lacks {expected:?}: {text}");
        text
    };
    check("navigate", json!({"url": site.page("/form")}), "# \"Form\"");
    let seen = check("snapshot", json!({}), "textbox \"Name\"");
    let line = seen.lines().find(|line| line.contains("textbox \"Name\"")).expect("the field");
    let given = line.split(['[', ']']).nth(1).expect("a ref").to_owned();
    check("fill", json!({"ref": given, "value": "Anna"}), "value: \"Anna\"");
    check("type", json!({"selector": "#notes", "text": "abc"}), "typed");
    check("press", json!({"keys": ["d"], "selector": "#notes"}), "pressed");
    check("select", json!({"selector": "#colour", "options": ["Green"]}), "Green");
    let both = json!([{"target": "#agree", "value": true}, {"target": "label=Name", "value": "Ben"}]);
    check("fill_form", json!({"fields": both}), "");
    check(
        "eval",
        json!({"expression": "document.forms[0].name.value + document.forms[0].notes.value"}),
        "Benabcd",
    );
    check("find", json!({"text": "Send"}), "button");
    check("hover", json!({"selector": "#submit"}), "button");
    check("click", json!({"selector": "role=button[name=\"Send\"]"}), "clicked");
    check("navigate", json!({"url": site.page("/plain")}), "/plain");
    check("navigate", json!({"url": site.page("/article")}), "/article");
    check("back", json!({}), "/plain");
    check("forward", json!({}), "/article");
    check("reload", json!({}), "/article");
    check("get_text", json!({}), "<page ");
    check("get_html", json!({"selector": "h1"}), "h1");
    check("read_as_markdown", json!({}), "<page ");
    check("extract_links", json!({}), "");
    check("scroll", json!({"to": "bottom"}), "");
    check("scroll", json!({"by": [0, -10]}), "scrolled");
    check("scroll", json!({"by": "0,-10"}), "scrolled");
    check("scroll", json!({"to": [0, 0]}), "at 0,0");
    check("press", json!({"keys": "Escape"}), "pressed Escape");
    check("wait_for", json!({"load": "load"}), "");
    check("tab_new", json!({"url": site.page("/dialogs")}), "Dialogs");
    check("click", json!({"selector": "#alert"}), "alert text");
    check("dialog", json!({"answer": "accept"}), "");
    let tabs = check("tabs_list", json!({}), "Dialogs");
    let line = tabs.lines().find(|line| line.contains("/article")).expect("the first tab");
    let first =
        line.split_whitespace().find(|word| word.matches(':').count() == 2).expect("an id").to_owned();
    check("tab_select", json!({"tab": first}), "article");
    check("tab_close", json!({"tab": first}), "closed");
    check("download_file", json!({"url": site.page("/download/report.txt")}), "report");
    check("status", json!({}), "state: active");
    used.push("screenshot");
    let result = call("screenshot", json!({}));
    let image =
        result["content"].as_array().and_then(|blocks| blocks.iter().find(|block| block["type"] == "image"));
    let image = image.unwrap_or_else(|| panic!("no image: {result}"));
    assert_eq!(image["mimeType"], "image/png");
    assert!(image["data"].as_str().is_some_and(|data| data.starts_with("iVBOR")), "a PNG");
    used.push("more");
    let long = call("eval", json!({"expression": "'long '.repeat(12000)"}));
    let cut = text_of(&long);
    let (_, handle) = cut.rsplit_once("handle \"").expect("a handle");
    let handle = handle.trim_end_matches('"').to_owned();
    assert!(long.to_string().len() < 50_000, "it was cut");
    let rest = text_of(&call("more", json!({"handle": handle})));
    assert!(rest.starts_with("<page ") && rest.contains("long long"), "{}", &rest[..60]);
    for tool in listed {
        assert!(used.contains(&tool.as_str()), "{tool} is not used by this test");
    }
}

/// The tools of a list, by name.
pub(crate) fn names(list: &Value) -> Vec<String> {
    let tools = list["result"]["tools"].as_array().expect("tools").iter();
    tools.filter_map(|tool| Some(tool["name"].as_str()?.to_owned())).collect()
}

#[test]
fn every_common_tool_works_over_stdio_and_reports_errors() {
    let (world, site) = (World::new().with_whole_chromium(), FixtureSite::start());
    use_every_tool_over_stdio(&world, &site);
    assert!(world.browser_processes().is_empty(), "its browser has ended with it");
}

/// Uses every default tool, resource and prompt over stdio, and checks the errors of wrong calls.
pub(crate) fn use_every_tool_over_stdio(world: &World, site: &FixtureSite) {
    let mut client = McpClient::start(world, &["--policy", "open"]);
    let list = client.ask("tools/list", json!({}));
    assert!(list["result"].to_string().len() <= 16_000, "4,000 tokens");
    use_every_tool(site, &names(&list), &mut |tool, arguments| client.call(tool, arguments));

    let output = client.failure("click", json!({"ref": "e9999"}));
    assert!(output.starts_with("REF_EXPIRED: ") && output.contains("\nnext: "), "{output}");
    let output = client.failure("click", json!({"ref": "e1", "selector": "#a"}));
    assert!(output.starts_with("BAD_ARGS: "), "{output}");
    let output = client.failure("fill", json!({"selector": "#a", "text": "x"}));
    assert!(output.contains("value") && output.contains("selector"), "the valid list: {output}");
    let output = client.failure("navigate", json!({"url": "file:///etc/passwd"}));
    assert!(!output.contains("root:"), "{output}");
    let output = client.failure("eval", json!({"expression": "throw new Error('of the page')"}));
    assert!(output.contains("of the page"), "the result contains the page's exception: {output}");
    let output = client.failure("wait_for", json!({"text": "never there", "timeout_ms": 100}));
    assert!(output.starts_with("TIMEOUT: ") && output.contains("\nnext: "), "{output}");
    let unknown = client.ask("tools/call", json!({"name": "clik", "arguments": {}}));
    assert!(unknown["error"]["message"].as_str().is_some_and(|text| text.contains("`click`")), "{unknown}");

    for (uri, expected) in [
        ("tabwire://snapshot", "<page "),
        ("tabwire://page.md", "<page "),
        ("tabwire://console", "<page "),
        ("tabwire://requests", "<page "),
        ("tabwire://log", "navigate ok"),
    ] {
        let read = client.ask("resources/read", json!({"uri": uri}));
        let text = read["result"]["contents"][0]["text"].as_str().unwrap_or_default();
        assert!(text.contains(expected), "{uri}: {read}");
    }
    assert!(client.ask("resources/read", json!({"uri": "tabwire://other"}))["error"].is_object());
    let guide = client.ask("prompts/get", json!({"name": "drive"}));
    assert!(
        guide["result"]["messages"][0]["content"]["text"]
            .as_str()
            .is_some_and(|text| text.contains("snapshot"))
    );
    client.close();
    assert!(client.process.wait().expect("it ends").success());
    let status = world.find_status().expect("the daemon keeps running");
    assert_eq!(status["sessions"], json!([]), "no session is left");
}
