//! Table: what a browser behind WebDriver BiDi cannot do, by CDP method. `UNSUPPORTED_HERE`, `doctor`, `status`, the docs
//! and the descriptions of tools use these sentences.

/// A part of Tabwire that works only in part, or not at all, in Firefox.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gap {
    /// The CDP methods that are refused. A name that ends with `.` stands for a whole domain.
    pub methods: &'static [&'static str],
    /// Actions that do not work because of it.
    pub actions: &'static [&'static str],
    /// What is missing, in one sentence.
    pub sentence: &'static str,
}

const fn gap(
    methods: &'static [&'static str],
    actions: &'static [&'static str],
    sentence: &'static str,
) -> Gap {
    Gap { methods, actions, sentence }
}

/// Every gap, in the order of the documentation.
pub const GAPS: &[Gap] = &[
    gap(&["Tracing."], &["trace"], "Firefox records no performance traces over WebDriver BiDi."),
    gap(
        &["Emulation.setCPUThrottlingRate"],
        &["throttle"],
        "Firefox cannot slow down its processor use over WebDriver BiDi.",
    ),
    gap(
        &["Network.emulateNetworkConditions"],
        &["throttle"],
        "Firefox cannot limit the speed of its network over WebDriver BiDi; only `offline` works.",
    ),
    gap(
        &["Page.startScreencast"],
        &["record"],
        "Firefox sends no screencast over WebDriver BiDi: the dashboard shows a picture each second, and pages cannot be recorded.",
    ),
    gap(
        &["Emulation.setTouchEmulationEnabled", "Input.synthesizeTapGesture"],
        &["emulate"],
        "Firefox emulates no touch screen over WebDriver BiDi: `tap` works, but pages are not told that there is one.",
    ),
    gap(
        &["Input.dispatchDragEvent"],
        &["drag"],
        "Firefox starts HTML drags but never drops them over WebDriver BiDi; `drag` moves what a page drags by mouse events.",
    ),
    gap(
        &["Emulation.setEmulatedMedia", "Emulation.setEmulatedVisionDeficiency"],
        &["emulate"],
        "Firefox emulates no media features (colour scheme, reduced motion, print) over WebDriver BiDi.",
    ),
    gap(
        &["Browser.setPermission"],
        &["clipboard"],
        "Firefox has no permissions for the clipboard: `clipboard paste` works, reading and writing do not.",
    ),
    gap(
        &["Emulation.setDefaultBackgroundColorOverride"],
        &[],
        "Firefox takes no screenshots with a transparent background over WebDriver BiDi.",
    ),
    gap(
        &["Runtime.terminateExecution", "Debugger.", "DOMDebugger.", "Profiler.", "HeapProfiler.", "Memory."],
        &["inspect"],
        "Firefox has no debugger, profiler or list of event listeners over WebDriver BiDi; a script that never ends cannot be interrupted.",
    ),
    gap(&["Browser.cancelDownload"], &[], "Firefox cannot cancel a download over WebDriver BiDi."),
    gap(
        &[
            "Fetch.takeResponseBodyAsStream",
            "Fetch.getResponseBody",
            "Network.loadNetworkResource",
            "IO.resolveBlob",
        ],
        &["request"],
        "Firefox gives no body of a response that is still paused over WebDriver BiDi.",
    ),
    gap(
        &["Fetch.continueRequest"],
        &["route"],
        "Firefox aborts a script's request whose URL is changed over WebDriver BiDi: such a change is refused, and the request goes on unchanged.",
    ),
    gap(
        &["Network.setBypassServiceWorker"],
        &[],
        "Firefox cannot bypass service workers over WebDriver BiDi: `state` leaves out the storage of origins that have one.",
    ),
    gap(
        &[
            "Page.getResourceContent",
            "Page.getResourceTree",
            "Page.searchInResource",
            "Page.setDocumentContent",
        ],
        &[],
        "Firefox does not list the resources of a page over WebDriver BiDi.",
    ),
    gap(
        &["Input.imeSetComposition"],
        &[],
        "Firefox composes no text with an input method over WebDriver BiDi.",
    ),
    gap(&["Browser.crash", "Page.crash"], &[], "Firefox cannot be crashed over WebDriver BiDi."),
    gap(
        &["Accessibility.", "CSS.", "DOM.", "Overlay.", "Audits.", "Security.", "Storage.", "ServiceWorker."],
        &[],
        "This DevTools method has no counterpart in WebDriver BiDi.",
    ),
];

/// What is weaker in guarded sessions.
pub const GUARDED: &[&str] = &[
    "Firefox reports no remote addresses of responses: in guarded sessions Tabwire resolves the host name of a page before the page is requested, and judges by that address.",
    "New workers cannot be paused over WebDriver BiDi: in guarded sessions they reach what their page reaches, and there are no shared workers.",
    "A file that the policy does not allow is deleted when Firefox has written it, because downloads cannot be cancelled.",
];

/// Why a cookie with a partition is refused.
pub(crate) const PARTITIONED: &str = "Firefox does not report the partitions of cookies over WebDriver BiDi: `cookies` sets none with a partition.";

/// What is missing besides methods: facts that Firefox does not report.
pub const MISSING_FACTS: &[&str] = &[
    "Firefox does not report WebSocket frames, server-sent events and detailed timing over WebDriver BiDi: the list of requests lacks them.",
    "Firefox reports responses of service workers as responses of the cache.",
    "Firefox prints a file without pages when the page has none of the wanted ones.",
    PARTITIONED,
    "Firefox measures no layout shifts and long tasks: `vitals` says so.",
    "A snapshot of a page lacks a cross-site frame that is inside of a frame that the page can read; `frame` selects it.",
    "Input names a tab, not a document: an event can reach a document that commits at the same moment.",
    "Firefox gives a downloaded file the ending of its response's type.",
    "Firefox keeps its `navigator.platform` when another user agent is emulated.",
    "New workers cannot be paused over WebDriver BiDi: init scripts do not run in workers.",
    "A history that the page itself moves through is known only in part.",
    "Clients of the DevTools protocol (Playwright, Puppeteer) use a Firefox session only in part, on request, and only if it is open.",
];

/// The sentence for a method that is not supported.
#[must_use]
pub fn sentence_of(method: &str) -> &'static str {
    let matches = |name: &&str| *name == method || name.ends_with('.') && method.starts_with(*name);
    // The last row is for everything else.
    let found = GAPS.iter().find(|gap| gap.methods.iter().any(matches));
    found.map_or("This DevTools method has no counterpart in WebDriver BiDi.", |gap| gap.sentence)
}

/// Every sentence: of the table, of what Firefox does not report, and of guarded sessions.
pub fn sentences() -> impl Iterator<Item = &'static str> {
    let table = GAPS.iter().map(|gap| gap.sentence);
    table.chain(MISSING_FACTS.iter().copied()).chain(GUARDED.iter().copied())
}

/// The gap of an action, if it has one.
pub fn of_action(action: &str) -> impl Iterator<Item = &'static Gap> + '_ {
    GAPS.iter().filter(move |gap| gap.actions.contains(&action))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn methods_have_the_sentence_of_their_row() {
        assert!(sentence_of("Tracing.start").contains("traces"));
        assert!(sentence_of("Page.startScreencast").contains("screencast"));
        assert!(sentence_of("Foo.bar").contains("no counterpart"));
        assert_eq!(of_action("trace").count(), 1);
    }

    #[test]
    fn the_page_about_firefox_has_every_sentence() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/firefox.md");
        let page = std::fs::read_to_string(path).expect("docs/firefox.md");
        for sentence in sentences() {
            assert!(page.contains(sentence), "docs/firefox.md lacks: {sentence}");
        }
        let methods = GAPS.iter().flat_map(|gap| gap.methods).filter(|name| !name.ends_with('.'));
        for name in methods.chain(GAPS.iter().flat_map(|gap| gap.actions)) {
            assert!(page.contains(&format!("`{name}`")), "docs/firefox.md lacks {name}");
        }
    }

    #[test]
    fn no_method_stands_twice() {
        let mut all: Vec<_> = GAPS.iter().flat_map(|gap| gap.methods).collect();
        all.sort_unstable();
        let count = all.len();
        all.dedup();
        assert_eq!(all.len(), count);
    }
}
