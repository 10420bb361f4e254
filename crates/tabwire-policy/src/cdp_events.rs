//! Table: what each CDP event reveals. An event without a row needs a grant for every site.

use std::collections::HashMap;
use std::sync::LazyLock;

/// What an event reveals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventReach {
    /// Nothing of a document: ids, times and states. Their URLs, names and texts are filtered one by one.
    Plain,
    /// The frame or execution context that it names; without one, every frame of the target's process.
    Frame,
    /// Every frame of the target that is in the target's own process.
    Document,
    /// Every frame that the page shows.
    Page,
    /// The request in `requestId`.
    Request,
    /// Any site.
    EverySite,
}

/// Events of one domain that have the same rule.
const ROWS: &[(&str, EventReach, &str)] = &[
    ("Accessibility", EventReach::Document, "loadComplete nodesUpdated"),
    (
        "Animation",
        EventReach::Document,
        "animationCanceled animationCreated animationStarted animationUpdated",
    ),
    (
        "CSS",
        EventReach::Document,
        "fontsUpdated mediaQueryResultChanged styleSheetAdded styleSheetChanged styleSheetRemoved \
         computedStyleUpdated",
    ),
    ("Console", EventReach::Document, "messageAdded"),
    (
        "DOM",
        EventReach::Document,
        "attributeModified adoptedStyleSheetsModified attributeRemoved characterDataModified \
         childNodeCountUpdated childNodeInserted childNodeRemoved distributedNodesUpdated \
         inlineStyleInvalidated pseudoElementAdded topLayerElementsUpdated scrollableFlagUpdated \
         adRelatedStateUpdated affectedByStartingStylesFlagUpdated pseudoElementRemoved setChildNodes \
         shadowRootPopped shadowRootPushed",
    ),
    ("DOM", EventReach::Plain, "documentUpdated"),
    (
        "DOMStorage",
        EventReach::Document,
        "domStorageItemAdded domStorageItemRemoved domStorageItemUpdated domStorageItemsCleared",
    ),
    ("Debugger", EventReach::Frame, "scriptParsed scriptFailedToParse"),
    ("Debugger", EventReach::Document, "breakpointResolved paused"),
    ("Debugger", EventReach::Plain, "resumed"),
    ("Emulation", EventReach::Plain, "virtualTimeBudgetExpired screenOrientationLockChanged"),
    ("Fetch", EventReach::Plain, "requestPaused authRequired"),
    ("Input", EventReach::Page, "dragIntercepted"),
    ("Inspector", EventReach::Plain, "detached targetCrashed targetReloadedAfterCrash workerScriptLoaded"),
    ("LayerTree", EventReach::Page, "layerPainted layerTreeDidChange"),
    ("Log", EventReach::Document, "entryAdded"),
    (
        "Media",
        EventReach::Document,
        "playerPropertiesChanged playerEventsAdded playerMessagesLogged playerErrorsRaised playerCreated",
    ),
    (
        "Network",
        EventReach::Plain,
        "loadingFailed loadingFinished requestServedFromCache resourceChangedPriority",
    ),
    (
        "Network",
        EventReach::Request,
        "dataReceived eventSourceMessageReceived requestWillBeSent signedExchangeReceived responseReceived \
         webSocketClosed webSocketCreated webSocketFrameError webSocketFrameReceived webSocketFrameSent \
         webSocketHandshakeResponseReceived webSocketWillSendHandshakeRequest requestWillBeSentExtraInfo \
         responseReceivedExtraInfo responseReceivedEarlyHints trustTokenOperationDone",
    ),
    (
        "Overlay",
        EventReach::Document,
        "inspectNodeRequested nodeHighlightRequested inspectPanelShowRequested inspectedElementWindowRestored",
    ),
    ("Overlay", EventReach::Page, "screenshotRequested"),
    ("Overlay", EventReach::Plain, "inspectModeCanceled"),
    // Their URLs, names and messages are filtered.
    (
        "Page",
        EventReach::Plain,
        "domContentEventFired frameAttached frameClearedScheduledNavigation frameDetached \
         frameSubtreeWillBeDetached frameNavigated documentOpened frameResized frameStartedNavigating \
         frameRequestedNavigation frameScheduledNavigation frameStartedLoading frameStoppedLoading \
         downloadWillBegin downloadProgress interstitialHidden interstitialShown javascriptDialogClosed \
         javascriptDialogOpening lifecycleEvent loadEventFired navigatedWithinDocument \
         screencastVisibilityChanged windowOpen",
    ),
    ("Page", EventReach::Frame, "fileChooserOpened"),
    ("Page", EventReach::Document, "backForwardCacheNotUsed compilationCacheProduced"),
    ("Page", EventReach::Page, "screencastFrame"),
    ("Performance", EventReach::Document, "metrics"),
    ("PerformanceTimeline", EventReach::Document, "timelineEventAdded"),
    (
        "Runtime",
        EventReach::Plain,
        "executionContextCreated executionContextDestroyed executionContextsCleared",
    ),
    ("Runtime", EventReach::Plain, "exceptionRevoked"),
    ("Runtime", EventReach::Frame, "bindingCalled consoleAPICalled exceptionThrown inspectRequested"),
    ("WebAudio", EventReach::Document, "contextCreated contextWillBeDestroyed contextChanged"),
    ("WebAudio", EventReach::Document, "audioListenerCreated audioListenerWillBeDestroyed audioNodeCreated"),
    (
        "WebAudio",
        EventReach::Document,
        "audioNodeWillBeDestroyed audioParamCreated audioParamWillBeDestroyed",
    ),
    (
        "WebAudio",
        EventReach::Document,
        "nodesConnected nodesDisconnected nodeParamConnected nodeParamDisconnected",
    ),
    ("WebAuthn", EventReach::Page, "credentialAdded credentialDeleted credentialUpdated credentialAsserted"),
];

static RULES: LazyLock<HashMap<String, EventReach>> = LazyLock::new(|| {
    let named = |(domain, reach, events): &(&str, EventReach, &'static str)| {
        let (domain, reach) = ((*domain).to_owned(), *reach);
        events.split_whitespace().map(move |event| (format!("{domain}.{event}"), reach)).collect::<Vec<_>>()
    };
    ROWS.iter().flat_map(named).collect()
});

impl EventReach {
    /// Every event that has a row.
    pub fn all() -> impl Iterator<Item = (&'static str, Self)> {
        RULES.iter().map(|(event, reach)| (event.as_str(), *reach))
    }

    /// What an event reveals.
    #[must_use]
    pub fn of(event: &str) -> Self {
        RULES.get(event).copied().unwrap_or(Self::EverySite)
    }
}
