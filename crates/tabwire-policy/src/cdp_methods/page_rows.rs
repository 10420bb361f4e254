//! Table: methods of a page as a whole, and settings of what it is shown on.

use super::Effect::{Changes, Reads};
use super::Reach::{Document, EverySite, Frame, Navigation, Page, Refused, Setting};
use super::Row;

pub(super) const ROWS: &[Row] = &[
    // Their data about frames without a grant is filtered.
    (
        "Page",
        Setting,
        Reads,
        "enable disable bringToFront close getFrameTree getNavigationHistory getResourceTree reload \
         removeScriptToEvaluateOnLoad removeScriptToEvaluateOnNewDocument screencastFrameAck \
         setInterceptFileChooserDialog setLifecycleEventsEnabled setPrerenderingAllowed setWebLifecycleState \
         stopLoading stopScreencast stopScreenRecording clearDeviceMetricsOverride \
         clearDeviceOrientationOverride clearGeolocationOverride setDeviceMetricsOverride \
         setDeviceOrientationOverride setFontFamilies setFontSizes setGeolocationOverride \
         setTouchEmulationEnabled setAdBlockingEnabled setRPHRegistrationMode",
    ),
    // The URL of the history entry is judged.
    ("Page", Navigation, Reads, "navigate navigateToHistoryEntry"),
    ("Page", Frame, Reads, "createIsolatedWorld getLayoutMetrics getPermissionsPolicyState getOriginTrials"),
    // The dialog may belong to any frame.
    ("Page", Document, Changes, "handleJavaScriptDialog"),
    ("Page", Frame, Changes, "setDocumentContent resetNavigationHistory waitForDebugger"),
    (
        "Page",
        Document,
        Reads,
        "getAppManifest getInstallabilityErrors getManifestIcons getAppId getSubApps getSiblingSubApps \
         getAdScriptAncestry getResourceContent searchInResource produceCompilationCache",
    ),
    ("Page", Document, Changes, "setSPCTransactionMode generateTestReport clearCompilationCache"),
    (
        "Page",
        Page,
        Reads,
        "captureScreenshot captureSnapshot printToPDF startScreencast startScreenRecording \
         getAnnotatedPageContent",
    ),
    // Code for documents that come later, and what holds for all of them.
    (
        "Page",
        EverySite,
        Changes,
        "addScriptToEvaluateOnLoad addScriptToEvaluateOnNewDocument addCompilationCache deleteCookie \
         setBypassCSP setDownloadBehavior",
    ),
    ("Page", Refused, Changes, "crash"),
    // Sizes, media and sensors of the target: none shows or changes a document.
    (
        "Emulation",
        Setting,
        Reads,
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
    ("DeviceOrientation", Refused, Changes, "clearDeviceOrientationOverride setDeviceOrientationOverride"),
    ("HeadlessExperimental", Refused, Reads, "beginFrame disable enable"),
    ("Inspector", Refused, Reads, "disable enable"),
    ("Log", Setting, Reads, "clear disable enable stopViolationsReport"),
    ("Log", Document, Reads, "startViolationsReport"),
    ("Console", Setting, Reads, "clearMessages disable enable"),
];
