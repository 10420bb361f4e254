//! Scripts through the real program: `execute`, `run`, `reset` and the MCP tools.

mod api;
mod command_line;
mod examples;
mod hostile;
mod limits;
mod mcp;
mod policy;
pub(crate) mod repl;
mod test_runner;

use crate::support::world::World;

/// A page with controls, a list, a frame, a dialog and a late element.
pub(super) const PAGE: &str = r#"<!doctype html><title>Shop</title><h1>Items</h1>
<ul><li class="item">Apple <button onclick="this.textContent='Bought'">Buy</button></li>
<li class="item">Pear <button>Buy</button></li></ul>
<label>Name <input id="name" placeholder="Your name"></label>
<label><input type="checkbox" id="agree"> Agree</label>
<select id="size"><option value="s">Small</option><option value="l">Large</option></select>
<iframe srcdoc="<button onclick='this.textContent=1+1'>Inside</button>"></iframe>
<p id="gone" hidden>Hidden</p><a href="/next" data-testid="next" title="Go on">Next</a><img alt="A cat">
<button id="ask" onclick="document.title = confirm('Sure?') ? 'yes' : 'no'">Ask</button>
<button id="open" onclick="window.open('about:blank')">Open</button><div id="late"></div>
<input id="secret" type="password" value="hunter2">
<script>setTimeout(() => { late.innerHTML = '<b>Late</b>' }, 200)</script>"#;

/// Runs code in the default session, and returns what is printed.
pub(super) fn execute(world: &World, code: &str) -> String {
    world.run(&["execute", code]).succeeded().text().to_owned()
}

/// Code that shows the page first.
pub(super) fn on_page(code: &str) -> String {
    let html = serde_json::to_string(PAGE).expect("a text");
    format!("await page.goto('data:text/html,' + encodeURIComponent({html}));\n{code}")
}

/// Runs lines of code after `start`, each in a function of its own; each must print what it returns as expected.
pub(super) fn check_lines(world: &World, start: &str, lines: &[(&str, &str)]) {
    let shown = "const show = async (run) => { try { console.log(JSON.stringify(await run()) ?? 'undefined') } \
                 catch (error) { console.log(`FAILED ${error.message.split('\\n')[0]}`) } };";
    let code: Vec<String> =
        lines.iter().map(|(code, _)| format!("await show(async () => {code});")).collect();
    let printed = execute(world, &format!("{shown}\n{start}\n{}", code.join("\n")));
    let printed: Vec<&str> = printed.lines().collect();
    for (at, (code, expected)) in lines.iter().enumerate() {
        assert_eq!(printed.get(at), Some(expected), "{code}: {printed:#?}");
    }
}
