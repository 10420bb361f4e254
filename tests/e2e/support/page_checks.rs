//! Checks of what people see: contrast, names for screen readers, ids, and every control by keyboard.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::support::cdp_client::CdpClient;
use crate::support::wait::find_eventually;

/// Texts with too little contrast (WCAG AA), controls without a name, and violations of the policy so far.
pub(crate) const FAULTS: &str = "(() => { \
    const parse = (text) => { const [r, g, b, a = 1] = text.match(/[\\d.]+/g).map(Number); return [r, g, b, a]; }; \
    const light = ([r, g, b]) => { const part = (v) => (v /= 255) <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4; \
        return .2126 * part(r) + .7152 * part(g) + .0722 * part(b); }; \
    const over = ([r, g, b, a], under) => [r, g, b].map((v, i) => v * a + under[i] * (1 - a)); \
    const behind = (one) => { if (!one) return [255, 255, 255]; const own = parse(getComputedStyle(one).backgroundColor); \
        return own[3] === 1 ? own : over(own, behind(one.parentElement)); }; \
    const faults = []; \
    for (const one of document.querySelectorAll('body *')) { \
        const text = [...one.childNodes].filter((node) => node.nodeType === 3).map((node) => node.data.trim()).join(''); \
        if (text === '' || !one.checkVisibility({opacityProperty: true}) || one.closest('.screen-reader, :disabled, option')) continue; \
        const style = getComputedStyle(one), under = behind(one), own = over(parse(style.color), under); \
        const [high, low] = [light(own), light(under)].sort((a, b) => b - a); \
        const ratio = (high + .05) / (low + .05); \
        const isLarge = parseFloat(style.fontSize) >= 24 || (parseFloat(style.fontSize) >= 18.66 && style.fontWeight >= 700); \
        if (ratio < (isLarge ? 3 : 4.5)) faults.push(`${text.slice(0, 40)}: ${ratio.toFixed(2)}`); \
    } \
    for (const one of document.querySelectorAll('button, a[href], input, textarea, select, [tabindex=\"0\"], dialog, canvas, img:not([alt])')) { \
        const name = one.getAttribute('aria-label') || one.textContent.trim() || one.labels?.[0]?.textContent.trim() || one.getAttribute('aria-labelledby'); \
        if (!name) faults.push(`no name: ${one.outerHTML.slice(0, 80)}`); \
    } \
    const ids = [...document.querySelectorAll('[id]')].map((one) => one.id); \
    for (const id of new Set(ids.filter((id, at) => ids.indexOf(id) !== at))) faults.push(`twice: #${id}`); \
    for (const one of document.querySelectorAll('[aria-labelledby], [aria-controls], [aria-activedescendant]')) \
        for (const name of ['aria-labelledby', 'aria-controls', 'aria-activedescendant']) \
            for (const id of (one.getAttribute(name) ?? '').split(' ').filter(Boolean)) if (!document.getElementById(id)) faults.push(`${name} has no #${id}`); \
    if (document.documentElement.scrollWidth > innerWidth) faults.push(`wider than its window: ${document.documentElement.scrollWidth}`); \
    return [...faults, ...(window.violations ?? [])]; \
})()";

/// Names every enabled control and returns the names; radio buttons of a group count as one, and so do the tabs of a list,
/// of which one is a Tab stop.
pub(crate) const CONTROLS: &str = "(() => { \
    const all = [...document.querySelectorAll('a[href], button, input, textarea, select, summary')]; \
    const usable = all.filter((one) => !one.disabled && one.tabIndex >= 0 && one.checkVisibility({visibilityProperty: true})); \
    const nameOf = (one) => one.type === 'radio' ? 'group ' + one.name \
        : one.tagName + ' ' + (one.id || one.getAttribute('aria-label') || one.textContent.trim()); \
    window.nameOf = nameOf; \
    window.textOf = (one) => { const copy = one.cloneNode(true); for (const part of copy.querySelectorAll('[aria-hidden=true]')) part.remove(); return copy.textContent.trim(); }; \
    return [...new Set(usable.map(nameOf))]; \
})()";

/// The focused control: its name, and whether an outline of at least 2 px shows it within the view.
pub(crate) const FOCUSED: &str = "(() => { \
    const one = document.activeElement; \
    if (!one || one === document.body) return null; \
    const { outlineStyle, outlineWidth } = getComputedStyle(one); \
    const { top, bottom } = one.getBoundingClientRect(); \
    const isSeen = outlineStyle !== 'none' && parseFloat(outlineWidth) >= 2 && bottom > 0 && top < innerHeight; \
    return [window.nameOf(one), isSeen, one.getAttribute('aria-label') ?? window.textOf(one)]; \
})()";

/// A page that takes keys.
pub(crate) trait KeyPage {
    fn evaluate(&mut self, expression: &str) -> Value;
    fn key(&mut self, key: &str);
}

/// Moves through the page with Tab only; every control must be reached with a visible focus.
pub(crate) fn check_stops(page: &mut impl KeyPage) {
    let wanted: BTreeSet<String> = serde_json::from_value(page.evaluate(CONTROLS)).expect("names");
    assert!(wanted.len() > 3, "{wanted:?}");
    let mut reached = BTreeSet::new();
    for _ in 0..wanted.len() * 2 + 8 {
        page.key("Tab");
        let focused = page.evaluate(FOCUSED);
        let Some(name) = focused[0].as_str() else { continue };
        assert_eq!(focused[1], true, "the focus on {name} is not visible");
        reached.insert(name.to_owned());
    }
    let missed: Vec<_> = wanted.difference(&reached).collect();
    assert!(missed.is_empty(), "not reached by keys: {missed:?}");
}

/// Moves with Tab to the control with this text or label.
pub(crate) fn tab_to(page: &mut impl KeyPage, text: &str) {
    let found = find_eventually(20, || {
        page.evaluate(CONTROLS);
        page.key("Tab");
        page.evaluate(FOCUSED)[2].as_str().is_some_and(|focused| focused.starts_with(text)).then_some(())
    });
    assert!(found.is_some(), "Tab does not reach {text:?}: {}", page.evaluate("document.body.innerText"));
}

/// Moves with Tab to the control with this text and presses a key.
pub(crate) fn press_by_key(page: &mut impl KeyPage, text: &str, key: &str) {
    tab_to(page, text);
    page.key(key);
}

/// Presses and releases a key; `Control+` may stand before it.
pub(crate) fn send_key(client: &mut CdpClient, session: &str, key: &str) {
    let (modifiers, key) = key.strip_prefix("Control+").map_or((0, key), |key| (2, key));
    let (code, number, text) = match key {
        "Tab" => ("Tab", 9, ""),
        "Enter" => ("Enter", 13, "\r"),
        "Escape" => ("Escape", 27, ""),
        " " => ("Space", 32, " "),
        "End" => ("End", 35, ""),
        "Home" => ("Home", 36, ""),
        "ArrowLeft" => ("ArrowLeft", 37, ""),
        "ArrowUp" => ("ArrowUp", 38, ""),
        "ArrowRight" => ("ArrowRight", 39, ""),
        "ArrowDown" => ("ArrowDown", 40, ""),
        "k" => ("KeyK", 75, ""),
        other => panic!("unknown key {other}"),
    };
    for kind in ["keyDown", "keyUp"] {
        let mut event = json!({"type": kind, "key": key, "code": code, "windowsVirtualKeyCode": number, "modifiers": modifiers});
        if kind == "keyDown" && !text.is_empty() {
            event["text"] = json!(text);
        }
        client.call("Input.dispatchKeyEvent", event, Some(session));
    }
}
