//! Table: methods that show or change the elements of documents.

use super::Effect::{Changes, Reads};
use super::Reach::{Document, EverySite, Frame, Page, Refused, Setting};
use super::Row;

pub(super) const ROWS: &[Row] = &[
    ("Accessibility", Setting, Reads, "disable"),
    // Trees name frames, but a tree of one frame is asked for by ids of nodes as well.
    (
        "Accessibility",
        Document,
        Reads,
        "enable getPartialAXTree getFullAXTree getRootAXNode getAXNodeAndAncestors getChildAXNodes queryAXTree",
    ),
    ("Animation", Setting, Reads, "disable enable"),
    ("Animation", Document, Reads, "getCurrentTime getPlaybackRate resolveAnimation"),
    ("Animation", Document, Changes, "releaseAnimations seekAnimations setPaused setPlaybackRate setTiming"),
    ("CSS", Setting, Reads, "disable"),
    (
        "CSS",
        Document,
        Reads,
        "collectClassNames enable getBackgroundColors getComputedStyleForNode resolveValues \
         getLonghandProperties getInlineStylesForNode getAnimatedStylesForNode getMatchedStylesForNode \
         getEnvironmentVariables getMediaQueries getPlatformFontsForNode getStyleSheetText getLayersForNode \
         getLocationForSelector trackComputedStyleUpdatesForNode trackComputedStyleUpdates \
         takeComputedStyleUpdates startRuleUsageTracking stopRuleUsageTracking takeCoverageDelta",
    ),
    // Styles load images and fonts from anywhere, with the page's own values in their URLs.
    (
        "CSS",
        Document,
        Changes,
        "addRule createStyleSheet forcePseudoState forceStartingStyle setEffectivePropertyValueForNode \
         setPropertyRulePropertyName setKeyframeKey setMediaText setContainerQueryText \
         setContainerQueryConditionText setSupportsText setNavigationText setScopeText setRuleSelector \
         setStyleSheetText setStyleTexts setLocalFontsEnabled",
    ),
    ("DOM", Setting, Reads, "disable enable hideHighlight discardSearchResults"),
    (
        "DOM",
        Document,
        Reads,
        "collectClassNamesFromSubtree describeNode getAttributes getBoxModel getContentQuads getDocument \
         getFlattenedDocument getNodesForSubtreeByStyle getNodeForLocation getOuterHTML getRelayoutBoundary \
         getSearchResults highlightNode highlightRect performSearch pushNodeByPathToFrontend \
         pushNodesByBackendIdsToFrontend querySelector querySelectorAll getTopLayerElements \
         getElementByRelation requestChildNodes requestNode resolveNode setNodeStackTracesEnabled \
         getNodeStackTraces getFileInfo getDetachedDomNodes setInspectedNode getFrameOwner \
         getContainerForNode getQueryingDescendantsForContainer getAnchorElement getImplicitAnchorCandidates",
    ),
    (
        "DOM",
        Document,
        Changes,
        "copyTo scrollIntoViewIfNeeded focus markUndoableState moveTo redo removeAttribute removeNode \
         setAttributeValue setAttributesAsText setFileInputFiles setNodeName setNodeValue setOuterHTML undo \
         forceShowPopover forceShowInterest setTextMarker clearTextMarkers",
    ),
    ("DOMDebugger", Document, Reads, "getEventListeners"),
    (
        "DOMDebugger",
        Document,
        Changes,
        "removeDOMBreakpoint removeEventListenerBreakpoint removeInstrumentationBreakpoint \
         removeXHRBreakpoint setBreakOnCSPViolation setDOMBreakpoint setEventListenerBreakpoint \
         setInstrumentationBreakpoint setXHRBreakpoint",
    ),
    ("DOMSnapshot", Setting, Reads, "disable"),
    ("DOMSnapshot", Document, Reads, "enable getSnapshot captureSnapshot"),
    // The storage of any frame in the process can be named.
    ("DOMStorage", Setting, Reads, "disable"),
    ("DOMStorage", Document, Reads, "enable getDOMStorageItems"),
    ("DOMStorage", Document, Changes, "clear removeDOMStorageItem setDOMStorageItem"),
    ("IndexedDB", Setting, Reads, "disable"),
    ("IndexedDB", Document, Reads, "enable requestData getMetadata requestDatabase requestDatabaseNames"),
    ("IndexedDB", Document, Changes, "clearObjectStore deleteDatabase deleteObjectStoreEntries"),
    (
        "CacheStorage",
        Refused,
        Reads,
        "deleteCache deleteEntry requestCacheNames requestCachedResponse requestEntries",
    ),
    ("FindInPage", Refused, Reads, "findFirst findNext findPrev stop"),
    // Input goes to the frame below the position, or to the focused one, whichever process it is in.
    (
        "Input",
        Page,
        Changes,
        "dispatchDragEvent dispatchKeyEvent insertText imeSetComposition dispatchMouseEvent \
         dispatchTouchEvent cancelDragging emulateTouchFromMouseEvent synthesizePinchGesture \
         synthesizeScrollGesture synthesizeTapGesture",
    ),
    ("Input", Setting, Reads, "setIgnoreInputEvents setInterceptDrags"),
    ("LayerTree", Setting, Reads, "disable"),
    (
        "LayerTree",
        Page,
        Reads,
        "compositingReasons enable loadSnapshot makeSnapshot profileSnapshot releaseSnapshot replaySnapshot \
         snapshotCommandLog",
    ),
    ("Media", Setting, Reads, "disable"),
    ("Media", Document, Reads, "enable"),
    ("Overlay", Setting, Reads, "disable hideHighlight"),
    (
        "Overlay",
        Document,
        Reads,
        "enable getHighlightObjectForTest getGridHighlightObjectsForTest \
         getSourceOrderHighlightObjectForTest highlightFrame highlightNode highlightQuad highlightRect \
         highlightSourceOrder setInspectMode",
    ),
    (
        "Overlay",
        Page,
        Reads,
        "setShowAdHighlights setPausedInDebuggerMessage setShowDebugBorders setShowFPSCounter \
         setShowGridOverlays setShowFlexOverlays setShowScrollSnapOverlays setShowContainerQueryOverlays \
         setShowInspectedElementAnchor setShowPaintRects setShowLayoutShiftRegions \
         setShowScrollBottleneckRects setShowHitTestBorders setShowWebVitals setShowViewportSizeOnResize \
         setShowHinge setShowDisplayCutout setShowIsolatedElements setShowWindowControlsOverlay",
    ),
    ("WebAudio", Setting, Reads, "disable"),
    ("WebAudio", Document, Reads, "enable getRealtimeData"),
    // An authenticator has the credentials of every frame of the page.
    ("WebAuthn", Setting, Reads, "disable"),
    (
        "WebAuthn",
        Page,
        Changes,
        "enable addVirtualAuthenticator setResponseOverrideBits removeVirtualAuthenticator addCredential \
         getCredential getCredentials removeCredential clearCredentials setUserVerified \
         setAutomaticPresenceSimulation setCredentialProperties",
    ),
    ("WebMCP", Refused, Changes, "enable disable invokeTool cancelInvocation"),
    ("Autofill", Refused, Changes, "trigger setAddresses disable enable"),
    ("Ads", Refused, Reads, "getAdMetrics getAdScripts"),
    ("Audits", Setting, Reads, "disable"),
    // Issues name requests and cookies of any site.
    ("Audits", EverySite, Reads, "enable checkFormsIssues"),
    ("Audits", super::Reach::Request, Reads, "getEncodedResponse"),
    ("PerformanceTimeline", Document, Reads, "enable"),
    ("Performance", Setting, Reads, "disable enable setTimeDomain"),
    ("Performance", Frame, Reads, "getMetrics"),
];
