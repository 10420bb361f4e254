//! Table: every command that Chromium 156 describes, by domain, with what kind of thing the domain does. Domains and
//! commands that are not here are not known.

use crate::method_class::MethodClass::{self, Content, Everywhere, Housekeeping};

/// A domain, what its commands do unless they are listed elsewhere, and its commands.
pub(crate) const DOMAINS: &[(&str, MethodClass, &str)] = &[
    (
        "Accessibility",
        Content,
        "disable enable getPartialAXTree getFullAXTree getRootAXNode getAXNodeAndAncestors getChildAXNodes \
         queryAXTree",
    ),
    (
        "Animation",
        Content,
        "disable enable getCurrentTime getPlaybackRate releaseAnimations resolveAnimation seekAnimations \
         setPaused setPlaybackRate setTiming",
    ),
    ("Audits", Content, "getEncodedResponse disable enable checkFormsIssues"),
    (
        "CSS",
        Content,
        "addRule collectClassNames createStyleSheet disable enable forcePseudoState forceStartingStyle \
         getBackgroundColors getComputedStyleForNode resolveValues getLonghandProperties \
         getInlineStylesForNode getAnimatedStylesForNode getMatchedStylesForNode getEnvironmentVariables \
         getMediaQueries getPlatformFontsForNode getStyleSheetText getLayersForNode getLocationForSelector \
         trackComputedStyleUpdatesForNode trackComputedStyleUpdates takeComputedStyleUpdates \
         setEffectivePropertyValueForNode setPropertyRulePropertyName setKeyframeKey setMediaText \
         setContainerQueryText setContainerQueryConditionText setSupportsText setNavigationText setScopeText \
         setRuleSelector setStyleSheetText setStyleTexts startRuleUsageTracking stopRuleUsageTracking \
         takeCoverageDelta setLocalFontsEnabled",
    ),
    ("Console", Content, "clearMessages disable enable"),
    (
        "DOM",
        Content,
        "collectClassNamesFromSubtree copyTo describeNode scrollIntoViewIfNeeded disable discardSearchResults \
         enable focus getAttributes getBoxModel getContentQuads getDocument getFlattenedDocument \
         getNodesForSubtreeByStyle getNodeForLocation getOuterHTML getRelayoutBoundary getSearchResults \
         hideHighlight highlightNode highlightRect markUndoableState moveTo performSearch \
         pushNodeByPathToFrontend pushNodesByBackendIdsToFrontend querySelector querySelectorAll \
         getTopLayerElements getElementByRelation redo removeAttribute removeNode requestChildNodes \
         requestNode resolveNode setAttributeValue setAttributesAsText setFileInputFiles \
         setNodeStackTracesEnabled getNodeStackTraces getFileInfo getDetachedDomNodes setInspectedNode \
         setNodeName setNodeValue setOuterHTML undo getFrameOwner getContainerForNode \
         getQueryingDescendantsForContainer getAnchorElement forceShowPopover getImplicitAnchorCandidates \
         forceShowInterest setTextMarker clearTextMarkers",
    ),
    (
        "DOMDebugger",
        Content,
        "getEventListeners removeDOMBreakpoint removeEventListenerBreakpoint removeInstrumentationBreakpoint \
         removeXHRBreakpoint setBreakOnCSPViolation setDOMBreakpoint setEventListenerBreakpoint \
         setInstrumentationBreakpoint setXHRBreakpoint",
    ),
    ("DOMSnapshot", Content, "disable enable getSnapshot captureSnapshot"),
    ("DOMStorage", Content, "clear disable enable getDOMStorageItems removeDOMStorageItem setDOMStorageItem"),
    (
        "Debugger",
        Content,
        "continueToLocation disable enable evaluateOnCallFrame getPossibleBreakpoints getScriptSource \
         disassembleWasmModule nextWasmDisassemblyChunk getWasmBytecode getStackTrace pause pauseOnAsyncCall \
         removeBreakpoint restartFrame resume searchInContent setAsyncCallStackDepth \
         setBlackboxExecutionContexts setBlackboxPatterns setBlackboxedRanges setBreakpoint \
         setInstrumentationBreakpoint setBreakpointByUrl setBreakpointOnFunctionCall setBreakpointsActive \
         setPauseOnExceptions setReturnValue setScriptSource setSkipAllPauses setVariableValue stepInto \
         stepOut stepOver",
    ),
    (
        "Emulation",
        Housekeeping,
        "canEmulate clearDeviceMetricsOverride clearGeolocationOverride resetPageScaleFactor \
         setFocusEmulationEnabled setAutoDarkModeOverride setCPUThrottlingRate \
         setDefaultBackgroundColorOverride setSafeAreaInsetsOverride setVirtualKeyboardGeometryOverride \
         setDeviceMetricsOverride setDevicePostureOverride clearDevicePostureOverride \
         setDisplayFeaturesOverride clearDisplayFeaturesOverride setScrollbarsHidden \
         setDocumentCookieDisabled setEmitTouchEventsForMouse setEmulatedMedia setEmulatedVisionDeficiency \
         setEmulatedOSTextScale setGeolocationOverride getOverriddenSensorInformation \
         setSensorOverrideEnabled setSensorOverrideReadings setPressureSourceOverrideEnabled \
         setPressureStateOverride setIdleOverride clearIdleOverride setNavigatorOverrides setPageScaleFactor \
         setScriptExecutionDisabled setTouchEmulationEnabled setVirtualTimePolicy setLocaleOverride \
         setTimezoneOverride setVisibleSize setDisabledImageTypes setDataSaverOverride \
         setHardwareConcurrencyOverride setCPUPerformanceOverride setUserAgentOverride setAutomationOverride \
         setSmallViewportHeightDifferenceOverride getScreenInfos addScreen updateScreen removeScreen \
         setPrimaryScreen",
    ),
    ("EventBreakpoints", Content, "setInstrumentationBreakpoint removeInstrumentationBreakpoint disable"),
    (
        "Fetch",
        Content,
        "disable enable failRequest fulfillRequest continueRequest continueWithAuth continueResponse \
         getResponseBody takeResponseBodyAsStream",
    ),
    (
        "HeapProfiler",
        Content,
        "addInspectedHeapObject collectGarbage disable enable getHeapObjectId getObjectByHeapObjectId \
         getSamplingProfile startSampling startTrackingHeapObjects stopSampling stopTrackingHeapObjects \
         takeHeapSnapshot",
    ),
    ("IO", Content, "close read resolveBlob"),
    (
        "IndexedDB",
        Content,
        "clearObjectStore deleteDatabase deleteObjectStoreEntries disable enable requestData getMetadata \
         requestDatabase requestDatabaseNames",
    ),
    (
        "Input",
        Content,
        "dispatchDragEvent dispatchKeyEvent insertText imeSetComposition dispatchMouseEvent \
         dispatchTouchEvent cancelDragging emulateTouchFromMouseEvent setIgnoreInputEvents setInterceptDrags \
         synthesizePinchGesture synthesizeScrollGesture synthesizeTapGesture",
    ),
    (
        "LayerTree",
        Content,
        "compositingReasons disable enable loadSnapshot makeSnapshot profileSnapshot releaseSnapshot \
         replaySnapshot snapshotCommandLog",
    ),
    ("Log", Content, "clear disable enable startViolationsReport stopViolationsReport"),
    ("Media", Content, "enable disable"),
    (
        "Network",
        Content,
        "canClearBrowserCache canClearBrowserCookies canEmulateNetworkConditions clearBrowserCache \
         clearBrowserCookies deleteCookies disable emulateNetworkConditions emulateNetworkConditionsByRule \
         overrideNetworkState enable configureDurableMessages getAllCookies getCertificate getCookies \
         getResponseBody getRequestPostData replayXHR searchInResponseBody setBlockedURLs \
         setBypassServiceWorker setCacheDisabled setCookie setCookies setExtraHTTPHeaders setAttachDebugStack \
         setUserAgentOverride streamResourceContent getSecurityIsolationStatus enableReportingApi \
         enableDeviceBoundSessions deleteDeviceBoundSession fetchSchemefulSite loadNetworkResource \
         setCookieControls",
    ),
    (
        "Overlay",
        Content,
        "disable enable getHighlightObjectForTest getGridHighlightObjectsForTest \
         getSourceOrderHighlightObjectForTest hideHighlight highlightFrame highlightNode highlightQuad \
         highlightRect highlightSourceOrder setInspectMode setShowAdHighlights setPausedInDebuggerMessage \
         setShowDebugBorders setShowFPSCounter setShowGridOverlays setShowFlexOverlays \
         setShowScrollSnapOverlays setShowContainerQueryOverlays setShowInspectedElementAnchor \
         setShowPaintRects setShowLayoutShiftRegions setShowScrollBottleneckRects setShowHitTestBorders \
         setShowWebVitals setShowViewportSizeOnResize setShowHinge setShowDisplayCutout \
         setShowIsolatedElements setShowWindowControlsOverlay",
    ),
    (
        "Page",
        Content,
        "addScriptToEvaluateOnLoad addScriptToEvaluateOnNewDocument bringToFront captureScreenshot \
         captureSnapshot clearDeviceMetricsOverride clearDeviceOrientationOverride clearGeolocationOverride \
         createIsolatedWorld deleteCookie disable enable getAppManifest getInstallabilityErrors \
         getManifestIcons getAppId getSubApps getSiblingSubApps getAdScriptAncestry getFrameTree \
         getLayoutMetrics getNavigationHistory resetNavigationHistory getResourceContent getResourceTree \
         handleJavaScriptDialog navigate navigateToHistoryEntry printToPDF reload \
         removeScriptToEvaluateOnLoad removeScriptToEvaluateOnNewDocument screencastFrameAck searchInResource \
         setAdBlockingEnabled setBypassCSP getPermissionsPolicyState getOriginTrials setDeviceMetricsOverride \
         setDeviceOrientationOverride setFontFamilies setFontSizes setDocumentContent setDownloadBehavior \
         setGeolocationOverride setLifecycleEventsEnabled setTouchEmulationEnabled startScreencast \
         startScreenRecording stopScreenRecording stopLoading crash close setWebLifecycleState stopScreencast \
         produceCompilationCache addCompilationCache clearCompilationCache setSPCTransactionMode \
         setRPHRegistrationMode generateTestReport waitForDebugger setInterceptFileChooserDialog \
         setPrerenderingAllowed getAnnotatedPageContent",
    ),
    ("Performance", Content, "disable enable setTimeDomain getMetrics"),
    ("PerformanceTimeline", Content, "enable"),
    (
        "Profiler",
        Content,
        "disable enable getBestEffortCoverage setSamplingInterval start startPreciseCoverage stop \
         stopPreciseCoverage takePreciseCoverage",
    ),
    (
        "Runtime",
        Content,
        "awaitPromise callFunctionOn compileScript disable discardConsoleEntries enable evaluate getIsolateId \
         getHeapUsage getProperties globalLexicalScopeNames queryObjects releaseObject releaseObjectGroup \
         runIfWaitingForDebugger runScript setAsyncCallStackDepth setCustomObjectFormatterEnabled \
         setMaxCallStackSizeToCapture terminateExecution addBinding removeBinding getExceptionDetails",
    ),
    (
        "Security",
        Content,
        "disable enable setIgnoreCertificateErrors handleCertificateError setOverrideCertificateErrors",
    ),
    (
        "ServiceWorker",
        Content,
        "deliverPushMessage disable dispatchSyncEvent dispatchPeriodicSyncEvent enable \
         setForceUpdateOnPageLoad skipWaiting startWorker stopAllWorkers stopWorker unregister \
         updateRegistration",
    ),
    ("WebAudio", Content, "enable disable getRealtimeData"),
    (
        "WebAuthn",
        Content,
        "enable disable addVirtualAuthenticator setResponseOverrideBits removeVirtualAuthenticator \
         addCredential getCredential getCredentials removeCredential clearCredentials setUserVerified \
         setAutomaticPresenceSimulation setCredentialProperties",
    ),
    (
        "Browser",
        Everywhere,
        "setPermission grantPermissions resetPermissions setDownloadBehavior cancelDownload close crash \
         crashGpuProcess getVersion getBrowserCommandLine addMockCamera getHistograms getHistogram \
         getWindowBounds getWindowForTarget setWindowBounds setContentsSize setDockTile executeBrowserCommand \
         addPrivacySandboxEnrollmentOverride getGlobalPrivacyControl setGlobalPrivacyControl",
    ),
    ("Cast", Everywhere, "enable disable setSinkToUse startDesktopMirroring startTabMirroring stopCasting"),
    ("DeviceAccess", Everywhere, "enable disable selectPrompt cancelPrompt"),
    (
        "Extensions",
        Everywhere,
        "triggerAction loadUnpacked getExtensions uninstall getStorageItems removeStorageItems \
         clearStorageItems setStorageItems",
    ),
    (
        "FedCm",
        Everywhere,
        "enable disable selectAccount clickDialogButton openUrl dismissDialog resetCooldown",
    ),
    ("FileSystem", Everywhere, "getDirectory"),
    (
        "Memory",
        Everywhere,
        "getDOMCounters getDOMCountersForLeakDetection prepareForLeakDetection forciblyPurgeJavaScriptMemory \
         setPressureNotificationsSuppressed simulatePressureNotification startSampling stopSampling \
         getAllTimeSamplingProfile getBrowserSamplingProfile getSamplingProfile",
    ),
    ("Preload", Everywhere, "enable disable"),
    (
        "PWA",
        Everywhere,
        "getOsAppState install uninstall launch launchFilesInApp openCurrentPageInApp changeAppUserSettings",
    ),
    (
        "Storage",
        Everywhere,
        "getStorageKeyForFrame getStorageKey clearDataForOrigin clearDataForStorageKey getCookies setCookies \
         clearCookies getUsageAndQuota overrideQuotaForOrigin trackCacheStorageForOrigin \
         trackCacheStorageForStorageKey trackIndexedDBForOrigin trackIndexedDBForStorageKey \
         untrackCacheStorageForOrigin untrackCacheStorageForStorageKey untrackIndexedDBForOrigin \
         untrackIndexedDBForStorageKey getTrustTokens clearTrustTokens getPrivateVerificationTokens \
         getPrivateVerificationTokensIssuerConfigs clearPrivateVerificationTokens \
         deletePrivateVerificationToken setPrivateVerificationTokensTracking setStorageBucketTracking \
         deleteStorageBucket runBounceTrackingMitigations",
    ),
    ("SystemInfo", Everywhere, "getInfo getFeatureState getProcessInfo"),
    (
        "Target",
        Everywhere,
        "activateTarget attachToTarget attachToBrowserTarget closeTarget exposeDevToolsProtocol \
         createBrowserContext getBrowserContexts createTarget detachFromTarget disposeBrowserContext \
         getTargetInfo getTargets sendMessageToTarget setAutoAttach autoAttachRelated setDiscoverTargets \
         setRemoteLocations getDevToolsTarget openDevTools",
    ),
    ("Tethering", Everywhere, "bind unbind"),
    (
        "Tracing",
        Everywhere,
        "end getCategories getTrackEventDescriptor recordClockSyncMarker requestMemoryDump start",
    ),
];
