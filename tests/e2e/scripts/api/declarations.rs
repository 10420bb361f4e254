//! The declaration file: what it lists is there, and what is there is listed.

use std::collections::BTreeSet;
use std::fs;

use tabwire_script::declarations::{globals, members};

use crate::scripts::execute;
use crate::support::fixture_site::FixtureSite;
use crate::support::world::World;

/// Members of classes that are not for scripts.
const INTERNAL: &[&str] = &[
    "constructor",
    "chain",
    "call",
    "act",
    "emit",
    "target",
    "steps",
    "timeouts",
    "reference",
    "adopt",
    "closed",
    "as",
    "modifiers",
    "setPlace",
    "isOwn",
    "hasFrame",
    "firstAs",
    "noteSize",
    "ownContext",
    "addedHeaders",
    "size",
    "facts",
    "isMain",
    "frameParams",
    "ownPage",
    "kind",
    "handlePage",
    "handleFacts",
    "isPlainValue",
    "located",
    "baseURL",
    "number",
    "update",
    "known",
    "grantTo",
    "frameId",
    "changedUrl",
    "readPart",
    "sentHeaderNames",
    "phases",
    "requestMethod",
    "next",
    "allowOrigin",
    "take",
    "eventListeners",
    "routeHandlers",
    "toString",
];

/// Members that are for scripts in another class.
const INTERNAL_HERE: &[(&str, &str)] = &[
    ("Locator", "owner"),
    ("Locator", "text"),
    ("PageAssertions", "toBeOK"),
    ("PageRequest", "page"),
    ("TestInfo", "mark"),
    ("TestInfo", "rearm"),
    ("AbortSignal", "end"),
    ("URLSearchParams", "reset"),
];

/// Code that makes an object of each class of the API, on the fixture site.
const OBJECTS: &str = r#"
import { test } from '@playwright/test';
const site = args[0];
await page.goto(site + '/plain');
await page.setContent('<a>x</a><iframe srcdoc="<p>f</p>"></iframe><input type=file><a id=get download=a.txt href="data:text/plain,x">Get</a>');
const h = await page.evaluateHandle(() => ({}));
const e = await page.$('a');
const f = page.frames()[1];
let route, dialog;
await page.route('**/api/routed', async (r) => { route = r; await r.fulfill({ body: '' }) });
page.on('dialog', async (d) => { dialog = d; await d.dismiss() });
const [request, response] = await Promise.all([page.waitForRequest('**/api/routed'), page.waitForResponse('**/api/routed'), page.evaluate(() => fetch('/api/routed').then(() => 0))]);
const answer = await page.request.get('/plain');
const cdp = await context.newCDPSession(page);
await page.evaluate(() => alert('x'));
const [chooser] = await Promise.all([page.waitForEvent('filechooser'), page.click('input[type=file]')]);
const [download] = await Promise.all([page.waitForEvent('download'), page.click('#get')]);
const [message] = await Promise.all([page.waitForEvent('console'), page.evaluate(() => console.log(1))]);
const [socket] = await Promise.all([page.waitForEvent('websocket'), page.evaluate(() => { globalThis.own = new WebSocket(location.origin.replace('http', 'ws') + '/none') })]);
const [worker] = await Promise.all([page.waitForEvent('worker'), page.evaluate(() => { globalThis.other = new Worker(URL.createObjectURL(new Blob(['setInterval(() => {}, 1000)']))) })]);
let info;
test('a test', async () => { info = test.info(); console.log([SUBJECTS].join(';')); await page.goto('about:blank'); });
"#;

/// Code that lists the members of an object and of its classes.
const LIST: &str = "const list = (object) => { const names = new Set(Object.getOwnPropertyNames(object)); \
    for (let p = Object.getPrototypeOf(object); p !== null && p !== Object.prototype && p !== Function.prototype; p = Object.getPrototypeOf(p)) \
    for (const name of Object.getOwnPropertyNames(p)) names.add(name); \
    if (typeof object === 'function') for (const name of ['length', 'name', 'prototype']) names.delete(name); return [...names].join(); };";

/// Expressions with their interfaces.
const SUBJECTS: &[(&str, &str)] = &[
    ("page", "Page"),
    ("page.locator('a')", "Locator"),
    ("page.frameLocator('iframe')", "FrameLocator"),
    ("f", "Frame"),
    ("h", "JSHandle"),
    ("e", "ElementHandle"),
    ("page.keyboard", "Keyboard"),
    ("page.mouse", "Mouse"),
    ("page.touchscreen", "Touchscreen"),
    ("page.localStorage", "PageStorage"),
    ("request", "PageRequest"),
    ("response", "PageResponse"),
    ("route", "Route"),
    ("answer", "APIResponse"),
    ("page.request", "APIRequestContext"),
    ("cdp", "CDPSession"),
    ("dialog", "Dialog"),
    ("chooser", "FileChooser"),
    ("download", "Download"),
    ("message", "ConsoleMessage"),
    ("socket", "PageWebSocket"),
    ("worker", "PageWorker"),
    ("context", "BrowserContext"),
    ("browser", "Browser"),
    ("browser.browserType()", "BrowserType"),
    ("expect", "Expect"),
    ("expect(page.locator('a'))", "LocatorAssertions"),
    ("expect(page)", "PageAssertions"),
    ("expect(answer)", "ResponseAssertions"),
    ("expect(1)", "ValueAssertions"),
    ("test", "Test"),
    ("info", "TestInfo"),
    ("fs", "ScriptFiles"),
    ("console", "Console"),
    ("tabwire", "TabwireActions"),
    ("executeSignal", "AbortSignal"),
    ("new URL('http://a.test/')", "URL"),
    ("new URLSearchParams()", "URLSearchParams"),
    ("new TextEncoder()", "TextEncoder"),
    ("new TextDecoder()", "TextDecoder"),
    ("new AbortController()", "AbortController"),
    ("new Headers()", "Headers"),
];

fn names_of(list: &str) -> BTreeSet<String> {
    list.split(',')
        .filter(|name| !name.is_empty() && !INTERNAL.contains(name) && !name.starts_with('_'))
        .map(str::to_owned)
        .collect()
}

#[test]
fn types_and_classes_have_the_same_members() {
    let (world, site) = (World::new(), FixtureSite::start());
    let parts: Vec<String> = SUBJECTS.iter().map(|(subject, _)| format!("list({subject})")).collect();
    let code = format!("{LIST}\n{}", OBJECTS.replace("SUBJECTS", &parts.join(", ")));
    fs::write(world.home().join("list.spec.ts"), code).expect("written");
    let printed = world.run(&["run", "list.spec.ts", &site.page("")]).succeeded().stdout;
    let printed = printed.lines().next().unwrap_or_default();
    let mut faults = Vec::new();
    for ((subject, interface), list) in SUBJECTS.iter().zip(printed.split(';')) {
        let there = names_of(list);
        let listed: BTreeSet<String> =
            members(interface).iter().map(|member| member.name.to_owned()).collect();
        let is_public = |name: &&String| !INTERNAL_HERE.contains(&(*interface, name.as_str()));
        for name in there.difference(&listed).filter(is_public) {
            faults.push(format!("{interface}.{name} is not in tabwire.d.ts ({subject})"));
        }
        for name in listed.difference(&there).filter(|name| *name != "toString") {
            faults.push(format!("{interface}.{name} is not there ({subject})"));
        }
    }
    let listed: Vec<&str> = globals().iter().map(|global| global.name).collect();
    let in_page = ["document", "window", "location", "navigator", "localStorage"];
    let names: Vec<&str> = listed.iter().copied().filter(|name| !in_page.contains(name)).collect();
    let missing = execute(
        &world,
        &format!("{:?}.filter((name) => typeof globalThis[name] === 'undefined').join()", names),
    );
    assert_eq!(missing, "", "globals that are not there");
    let own = execute(
        &world,
        "const kept = new Set(Object.getOwnPropertyNames(Object.getPrototypeOf(async function () {}).constructor.prototype)); \
         Object.getOwnPropertyNames(globalThis).filter((name) => /^[a-z]/.test(name)).join()",
    );
    let of_language = [
        "globalThis",
        "undefined",
        "parseInt",
        "parseFloat",
        "isNaN",
        "isFinite",
        "decodeURI",
        "decodeURIComponent",
        "encodeURI",
        "encodeURIComponent",
        "escape",
        "unescape",
        "eval",
        "queueMicrotask",
        "performance",
        "list",
        "kept",
        "navigator",
    ];
    for name in names_of(&own) {
        if !listed.contains(&name.as_str()) && !of_language.contains(&name.as_str()) {
            faults.push(format!("the global {name} is not in tabwire.d.ts"));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn the_command_prints_the_declaration_file() {
    let world = World::new();
    let printed = world.run(&["types"]).succeeded().stdout;
    assert_eq!(printed, tabwire_script::declarations::TYPES);
}
