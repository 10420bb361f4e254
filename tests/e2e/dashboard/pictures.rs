//! The pictures of docs/dashboard.md. `cargo xtask pictures` copies them from `target/screenshots`.

use serde_json::json;

use crate::support::chromium::Chromium;
use crate::support::dashboard_page::{Dashboard, dashboard_url};
use crate::support::http_server::{Response, TinyServer};
use crate::support::wait::eventually;
use crate::support::world::{World, wait};

const SHOP: &str = "<!doctype html><meta charset=utf-8><title>Your basket — Alder & Finch</title><link rel=icon href=data:,><style>\
    * { box-sizing: border-box } body { margin: 0; font: 16px system-ui, sans-serif; background: #faf8f3; color: #22261f } \
    header { display: flex; gap: 28px; align-items: center; padding: 20px 60px; background: #24382e; color: #fff } \
    main { display: grid; grid-template-columns: 1fr 340px; gap: 44px; padding: 30px 60px } ul { padding: 0 } \
    li { display: flex; gap: 20px; padding: 18px 0; border-top: 1px solid #e2ddd0; list-style: none } li i { width: 62px; height: 84px; border-radius: 4px; background: #3f6b7c } \
    li:nth-child(2) i { background: #7b9352 } li:nth-child(3) i { background: #b06a3b } li b { display: block; margin-bottom: 6px } li span:last-child { margin-left: auto } \
    aside { align-self: start; padding: 26px; border: 1px solid #e2ddd0; border-radius: 10px; background: #fff } aside p { display: flex; justify-content: space-between } \
    input, button { width: 100%; padding: 12px; border: 1px solid #ccc; border-radius: 6px; font: inherit } button { margin-top: 14px; border: 0; background: #b5532a; color: #fff }</style>\
    <header><b>Alder & Finch</b><span>New</span><span>Fiction</span><span>Nature</span><span>Children</span></header>\
    <main><section><h1>Your basket</h1><p>3 books, usually dispatched within one day</p><ul>\
    <li><i></i><span><b>The Salt Path</b>Raynor Winn</span><span>£10.99</span></li><li><i></i><span><b>Braiding Sweetgrass</b>Robin Wall Kimmerer</span><span>£12.99</span></li>\
    <li><i></i><span><b>The Living Mountain</b>Nan Shepherd</span><span>£9.99</span></li></ul></section>\
    <aside><h2>Summary</h2><p>Books <span>£33.97</span></p><p>Delivery <span>£2.80</span></p><p><b>Total</b> <b>£36.77</b></p>\
    <input id=voucher aria-label='Voucher code' placeholder='Voucher code'><button id=pay>Go to checkout</button></aside></main>";

const MAIL: &str = "<!doctype html><meta charset=utf-8><title>Inbox (12)</title><link rel=icon href=data:,><style>body { margin: 0; font: 18px system-ui, sans-serif } \
    p { display: flex; gap: 40px; margin: 0; padding: 18px 40px; border-bottom: 1px solid #e4e7ec } b { width: 220px }</style>\
    <p><b>Alder & Finch</b>Your voucher SPRING is waiting<p><b>Mira Okafor</b>Re: reading list for the trip<p><b>City Library</b>Two loans are due on Friday\
    <p><b>Larkpay</b>Your statement for October<p><b>Jonas Berg</b>Photos from Sunday<p><b>Tram Works</b>Line 4 is diverted this week<p><b>Garden Club</b>Minutes";

fn shop() -> TinyServer {
    TinyServer::start("127.0.0.1:0", |request| {
        Response::page(if request.path == "/mail" { MAIL } else { SHOP })
    })
}

#[test]
fn the_pictures_of_the_documentation_are_made() {
    let (world, shop, browser) = (World::new(), shop(), Chromium::with_port());
    let url = |path: &str| shop.url("shop.localhost", path);
    let codex = |arguments: &[&str]| {
        drop(world.run(&[&["--as", "Codex", "--session", "work"], arguments].concat()).succeeded());
    };
    codex(&["open", "--trail", &url("/basket")]);
    world.run(&["--as", "Claude Code", "--session", "mail", "open", &url("/mail")]).succeeded();
    codex(&["snapshot"]);
    codex(&["fill", "#voucher", "SPRING"]);
    codex(&["screenshot"]);
    codex(&["click", "#pay"]);
    world.run(&["allow", "https://alderfinch.example", "--act", "--without-terminal"]).succeeded();
    let mut page = Dashboard::open(&browser, &dashboard_url(&world));
    page.becomes(
        "[...document.querySelectorAll('.thumbnail img')].filter((one) => one.naturalWidth > 0).length === 2",
    );
    page.save_docs_image("dashboard-wall", 1280);
    page.show_view("live/work");
    page.shows_frame();
    page.becomes("[...document.querySelectorAll('#latest img')].some((one) => one.naturalWidth > 0)");
    let asked = world.start(&[
        "--json",
        "--as",
        "Codex",
        "open",
        "--session",
        "pay",
        "--policy",
        "guarded",
        "https://pay.larkpay.example/",
    ]);
    page.shows("Codex wants to see and open pages of");
    page.becomes("[...document.querySelectorAll('.answers button')].every((one) => !one.disabled)");
    // The mark is shown for some seconds.
    codex(&["click", "#pay"]);
    page.becomes("document.querySelectorAll('.overlay .box').length === 1");
    page.save_docs_image("dashboard-stage", 1280);
    page.use_size(400, 800);
    page.run("document.querySelector('#questions').scrollIntoView({block: 'center'})");
    page.save_docs_image("dashboard-question", 400);
    page.press("No");
    wait(asked, &["open"]);
    page.shows_frame();
    page.press("Take over");
    page.shows("You have taken over this tab.");
    let waiting =
        world.start(&["--json", "--as", "Codex", "--session", "work", "click", "#pay", "--timeout", "60s"]);
    page.shows("Codex waits for you");
    page.save_docs_image("dashboard-taken", 1280);
    page.press("Give it back");
    wait(waiting, &["click"]).succeeded();
    page.show_view("timeline");
    page.shows("Details");
    page.becomes(
        "[...document.querySelectorAll('[aria-label=Session] option')].some(({value}) => value === 'work')",
    );
    page.run("(() => { const one = document.querySelector('[aria-label=Session]'); one.value = 'work'; one.dispatchEvent(new Event('input')); })()");
    eventually("the session alone", 20, || {
        page.run("!document.getElementById('view-body').innerText.includes('larkpay')") == true
    });
    page.press("Replay");
    page.becomes("document.querySelector('.replay-screenshot img')?.naturalWidth > 0");
    page.becomes("document.querySelectorAll('.strip img').length > 3");
    page.save_docs_image("dashboard-replay", 1280);
    page.show_view("policy");
    page.becomes("document.getElementById('scopes').hidden");
    page.shows("alderfinch.example");
    page.save_docs_image("dashboard-policy", 1280);
    assert_eq!(page.run("violations"), json!([]));
}
