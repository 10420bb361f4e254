//! Table: what kind of thing a CDP method or event is. What is not listed is unknown, and guarded sessions refuse it.

use crate::known_methods::DOMAINS;

/// What kind of thing a CDP command does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MethodClass {
    /// Neither shows nor changes what is on a page: turning events on, sizes, attaching.
    Housekeeping,
    /// Shows or changes what is on the page it is sent to.
    Content,
    /// Goes to an address that it names.
    Travel,
    /// Shows or changes something of every site, or runs in pages that come later.
    Everywhere,
    /// Not known, so refused.
    Unknown,
}

/// Commands that are of another kind than their domain.
const METHODS: &[(&str, MethodClass)] = &[
    ("Browser.close", MethodClass::Housekeeping),
    ("Browser.getVersion", MethodClass::Housekeeping),
    ("Browser.getWindowForTarget", MethodClass::Housekeeping),
    ("Browser.getWindowBounds", MethodClass::Housekeeping),
    ("DOM.enable", MethodClass::Housekeeping),
    ("DOM.disable", MethodClass::Housekeeping),
    ("Emulation.setUserAgentOverride", MethodClass::Housekeeping),
    ("Input.setInterceptDrags", MethodClass::Housekeeping),
    ("Input.setIgnoreInputEvents", MethodClass::Housekeeping),
    ("Log.enable", MethodClass::Housekeeping),
    ("Log.disable", MethodClass::Housekeeping),
    ("Log.clear", MethodClass::Housekeeping),
    ("Network.enable", MethodClass::Housekeeping),
    ("Network.disable", MethodClass::Housekeeping),
    ("Network.setBypassServiceWorker", MethodClass::Housekeeping),
    ("Network.setCacheDisabled", MethodClass::Housekeeping),
    ("Network.emulateNetworkConditions", MethodClass::Housekeeping),
    ("Network.loadNetworkResource", MethodClass::Travel),
    ("Network.getAllCookies", MethodClass::Everywhere),
    ("Network.getCookies", MethodClass::Everywhere),
    ("Network.setCookie", MethodClass::Everywhere),
    ("Network.setCookies", MethodClass::Everywhere),
    ("Network.deleteCookies", MethodClass::Everywhere),
    ("Network.deleteDeviceBoundSession", MethodClass::Everywhere),
    ("Network.clearBrowserCookies", MethodClass::Everywhere),
    ("Network.clearBrowserCache", MethodClass::Everywhere),
    ("Network.setExtraHTTPHeaders", MethodClass::Everywhere),
    ("Page.enable", MethodClass::Housekeeping),
    ("Page.disable", MethodClass::Housekeeping),
    ("Page.bringToFront", MethodClass::Housekeeping),
    ("Page.close", MethodClass::Housekeeping),
    ("Page.createIsolatedWorld", MethodClass::Housekeeping),
    ("Page.getFrameTree", MethodClass::Housekeeping),
    ("Page.getNavigationHistory", MethodClass::Housekeeping),
    ("Page.navigateToHistoryEntry", MethodClass::Housekeeping),
    ("Page.screencastFrameAck", MethodClass::Housekeeping),
    ("Page.setInterceptFileChooserDialog", MethodClass::Housekeeping),
    ("Page.setLifecycleEventsEnabled", MethodClass::Housekeeping),
    ("Page.setPrerenderingAllowed", MethodClass::Housekeeping),
    ("Page.setWebLifecycleState", MethodClass::Housekeeping),
    ("Page.stopLoading", MethodClass::Housekeeping),
    ("Page.stopScreencast", MethodClass::Housekeeping),
    ("Page.reload", MethodClass::Housekeeping),
    ("Page.crash", MethodClass::Unknown),
    ("Page.addScriptToEvaluateOnNewDocument", MethodClass::Everywhere),
    ("Page.addScriptToEvaluateOnLoad", MethodClass::Everywhere),
    ("Page.removeScriptToEvaluateOnNewDocument", MethodClass::Housekeeping),
    ("Page.setBypassCSP", MethodClass::Everywhere),
    ("Page.setDownloadBehavior", MethodClass::Everywhere),
    ("Page.navigate", MethodClass::Travel),
    ("Performance.enable", MethodClass::Housekeeping),
    ("Performance.disable", MethodClass::Housekeeping),
    ("Runtime.enable", MethodClass::Housekeeping),
    ("Runtime.disable", MethodClass::Housekeeping),
    ("Runtime.addBinding", MethodClass::Housekeeping),
    ("Runtime.removeBinding", MethodClass::Housekeeping),
    ("Runtime.releaseObject", MethodClass::Housekeeping),
    ("Runtime.releaseObjectGroup", MethodClass::Housekeeping),
    ("Runtime.runIfWaitingForDebugger", MethodClass::Housekeeping),
    ("Runtime.terminateExecution", MethodClass::Housekeeping),
    ("Runtime.discardConsoleEntries", MethodClass::Housekeeping),
    ("Target.activateTarget", MethodClass::Housekeeping),
    ("Target.attachToBrowserTarget", MethodClass::Housekeeping),
    ("Target.attachToTarget", MethodClass::Housekeeping),
    ("Target.closeTarget", MethodClass::Housekeeping),
    ("Target.createBrowserContext", MethodClass::Housekeeping),
    ("Target.createTarget", MethodClass::Travel),
    ("Target.detachFromTarget", MethodClass::Housekeeping),
    ("Target.disposeBrowserContext", MethodClass::Housekeeping),
    ("Target.getBrowserContexts", MethodClass::Housekeeping),
    ("Target.getTargets", MethodClass::Housekeeping),
    ("Target.setAutoAttach", MethodClass::Housekeeping),
    ("Target.setDiscoverTargets", MethodClass::Housekeeping),
    ("Target.setRemoteLocations", MethodClass::Unknown),
    ("Fetch.disable", MethodClass::Housekeeping),
    ("Fetch.continueRequest", MethodClass::Housekeeping),
    ("Fetch.failRequest", MethodClass::Housekeeping),
    ("IO.close", MethodClass::Housekeeping),
];

/// Events that tell where a page is and what it is made of, not what is on it. All others are content.
const PLAIN_EVENTS: &[&str] = &[
    "Fetch.authRequired",
    "Fetch.requestPaused",
    "Inspector.detached",
    "Inspector.targetCrashed",
    "Inspector.targetReloadedAfterCrash",
    "Network.loadingFailed",
    "Network.loadingFinished",
    "Page.domContentEventFired",
    "Page.frameAttached",
    "Page.frameDetached",
    "Page.frameNavigated",
    "Page.frameResized",
    "Page.frameStartedLoading",
    "Page.frameStartedNavigating",
    "Page.frameStoppedLoading",
    "Page.frameSubtreeWillBeDetached",
    "Page.javascriptDialogClosed",
    "Page.lifecycleEvent",
    "Page.loadEventFired",
    "Page.navigatedWithinDocument",
    "Runtime.executionContextCreated",
    "Runtime.executionContextDestroyed",
    "Runtime.executionContextsCleared",
];

/// Commands that take away what its user has kept in a browser, on every site or by name of any. Those that may name a
/// browser context do no harm in one that their client made.
const DESTRUCTIVE: &[&str] = &[
    "Browser.resetPermissions",
    "Extensions.clearStorageItems",
    "Extensions.removeStorageItems",
    "Extensions.uninstall",
    "Network.clearBrowserCache",
    "Network.clearBrowserCookies",
    "Network.deleteDeviceBoundSession",
    "PWA.uninstall",
    "Storage.clearCookies",
    "Storage.clearDataForOrigin",
    "Storage.clearDataForStorageKey",
    "Storage.clearPrivateVerificationTokens",
    "Storage.clearTrustTokens",
    "Storage.deletePrivateVerificationToken",
    "Storage.deleteStorageBucket",
    "Storage.runBounceTrackingMitigations",
];

impl MethodClass {
    /// Whether a command takes away what its user has kept in a browser.
    #[must_use]
    pub fn is_destructive(method: &str) -> bool {
        DESTRUCTIVE.contains(&method)
    }

    /// What kind of thing a command does.
    #[must_use]
    pub fn of(method: &str) -> Self {
        if let Some((_, class)) = METHODS.iter().find(|(name, _)| *name == method) {
            return *class;
        }
        let Some((domain, command)) = method.split_once('.') else { return Self::Unknown };
        let known = DOMAINS.iter().find(|(name, _, _)| *name == domain);
        let is_there = |commands: &str| commands.split_whitespace().any(|known| known == command);
        known.filter(|(_, _, commands)| is_there(commands)).map_or(Self::Unknown, |(_, class, _)| *class)
    }

    /// Whether an event tells what is on a page.
    #[must_use]
    pub fn is_content_event(method: &str) -> bool {
        !method.starts_with("Target.") && !PLAIN_EVENTS.contains(&method)
    }
}
