//! Every common tool through `tabwire mcp`, and the errors of wrong calls.

use serde_json::{Value, json};

use crate::mcp::client::{McpClient, text_of};
use crate::support::either_browser::launched;
use crate::support::fixture_site::FixtureSite;
use crate::support::world::World;

/// Calls a tool; its whole result.
type Calling<'a> = dyn FnMut(&str, Value) -> Value + 'a;

/// Uses every usual tool once, on pages of the fixture site.
pub(crate) fn use_every_tool(site: &FixtureSite, listed: &[String], call: &mut Calling<'_>) {
    let mut used: Vec<&str> = Vec::new();
    let mut tell = |tool: &'static str, arguments: Value, expected: &str| -> String {
        used.push(tool);
        let result = call(tool, arguments.clone());
        assert_ne!(result["isError"], true, "{tool} {arguments}: {result}");
        let text = text_of(&result);
        assert!(text.contains(expected), "{tool} {arguments} lacks {expected:?}: {text}");
        text
    };
    tell("navigate", json!({"url": site.page("/form")}), "# \"Form\"");
    let seen = tell("snapshot", json!({}), "textbox \"Name\"");
    let line = seen.lines().find(|line| line.contains("textbox \"Name\"")).expect("the field");
    let given = line.split(['[', ']']).nth(1).expect("a ref").to_owned();
    tell("fill", json!({"ref": given, "value": "Anna"}), "value: \"Anna\"");
    tell("type", json!({"selector": "#notes", "text": "abc"}), "typed");
    tell("press", json!({"keys": ["d"], "selector": "#notes"}), "pressed");
    tell("select", json!({"selector": "#colour", "options": ["Green"]}), "Green");
    let both = json!([{"target": "#agree", "value": true}, {"target": "label=Name", "value": "Ben"}]);
    tell("fill_form", json!({"fields": both}), "");
    tell(
        "eval",
        json!({"expression": "document.forms[0].name.value + document.forms[0].notes.value"}),
        "Benabcd",
    );
    tell("hover", json!({"selector": "#submit"}), "button");
    tell("click", json!({"selector": "role=button[name=\"Send\"]"}), "clicked");
    tell("navigate", json!({"url": site.page("/plain")}), "/plain");
    tell("navigate", json!({"url": site.page("/article")}), "/article");
    tell("back", json!({}), "/plain");
    tell("forward", json!({}), "/article");
    tell("reload", json!({}), "/article");
    tell("get_text", json!({}), "<page ");
    tell("get_html", json!({"selector": "h1"}), "h1");
    tell("read_as_markdown", json!({}), "<page ");
    tell("extract_links", json!({}), "");
    tell("scroll", json!({"to": "bottom"}), "");
    tell("wait_for", json!({"load": "load"}), "");
    tell("tab_new", json!({"url": site.page("/dialogs")}), "Dialogs");
    tell("click", json!({"selector": "#alert"}), "alert text");
    tell("dialog", json!({"answer": "accept"}), "");
    let tabs: Value = serde_json::from_str(&tell("tabs_list", json!({}), "Dialogs")).expect("data");
    let is_first = |tab: &&Value| tab["url"].as_str().is_some_and(|url| url.contains("/article"));
    let first = tabs["tabs"].as_array().and_then(|tabs| tabs.iter().find(is_first)).expect("the first tab");
    let first = first["tab"].as_str().expect("an id").to_owned();
    tell("tab_select", json!({"tab": first}), "article");
    tell("tab_close", json!({"tab": first}), "closed");
    tell("download_file", json!({"url": site.page("/download/report.txt")}), "report");
    tell("status", json!({}), "state: active");
    used.push("screenshot");
    let picture = call("screenshot", json!({}));
    let image =
        picture["content"].as_array().and_then(|blocks| blocks.iter().find(|block| block["type"] == "image"));
    let image = image.unwrap_or_else(|| panic!("no picture: {picture}"));
    assert_eq!(image["mimeType"], "image/png");
    assert!(image["data"].as_str().is_some_and(|data| data.starts_with("iVBOR")), "a PNG");
    used.push("more");
    let long = call("eval", json!({"expression": "'long '.repeat(12000)"}));
    let handle = long["structuredContent"]["more"].as_str().expect("a handle").to_owned();
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
    launched(|world, site| {
        use_every_tool_over_stdio(world, site);
        assert!(world.browser_processes().is_empty(), "its browser has ended with it");
    });
}

/// What a client over stdio may ask for as a matter of course, and what it is told when it asks wrongly.
pub(crate) fn use_every_tool_over_stdio(world: &World, site: &FixtureSite) {
    let mut client = McpClient::start(world, &["--policy", "open"]);
    let list = client.ask("tools/list", json!({}));
    assert!(list["result"].to_string().len() <= 16_000, "4,000 tokens");
    use_every_tool(site, &names(&list), &mut |tool, arguments| client.call(tool, arguments));

    let told = client.failure("click", json!({"ref": "e9999"}));
    assert!(told.starts_with("REF_EXPIRED: ") && told.contains("\nnext: "), "{told}");
    let told = client.failure("click", json!({"ref": "e1", "selector": "#a"}));
    assert!(told.starts_with("BAD_ARGS: "), "{told}");
    let told = client.failure("fill", json!({"selector": "#a", "text": "x"}));
    assert!(told.contains("value") && told.contains("selector"), "the valid list: {told}");
    let told = client.failure("navigate", json!({"url": "file:///etc/passwd"}));
    assert!(!told.contains("root:"), "{told}");
    let told = client.failure("eval", json!({"expression": "throw new Error('of the page')"}));
    assert!(told.contains("of the page"), "what a page throws is an answer: {told}");
    let told = client.failure("wait_for", json!({"text": "never there", "timeout_ms": 100}));
    assert!(told.starts_with("TIMEOUT: ") && told.contains("\nnext: "), "{told}");
    let unknown = client.ask("tools/call", json!({"name": "clik", "arguments": {}}));
    assert!(unknown["error"]["message"].as_str().is_some_and(|text| text.contains("`click`")), "{unknown}");

    for (uri, expected) in [
        ("tabwire://snapshot", "<page "),
        ("tabwire://page.md", "<page "),
        ("tabwire://console", "<page "),
        ("tabwire://requests", "<page "),
        ("tabwire://journal", "navigate ok"),
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
    let status = world.find_status().expect("the daemon goes on");
    assert_eq!(status["sessions"], json!([]), "no session is left");
}
