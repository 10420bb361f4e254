//! Table: methods about requests, their bodies, and streams.

use super::Effect::{Changes, Reads};
use super::Reach::{Document, EverySite, Frame, Refused, Request, Setting, Stream};
use super::Row;

pub(super) const ROWS: &[Row] = &[
    // Each paused request is judged by its own URL. Without a page, requests of all pages are paused.
    ("Fetch", Setting, Reads, "disable"),
    ("Fetch", Frame, Reads, "enable"),
    // These continue or fail a paused request; with other parameters they change it.
    ("Fetch", Request, Reads, "continueRequest continueResponse continueWithAuth failRequest"),
    ("Fetch", Request, Changes, "fulfillRequest getResponseBody takeResponseBodyAsStream"),
    ("IO", Setting, Reads, "close"),
    ("IO", Stream, Reads, "read"),
    ("IO", Frame, Reads, "resolveBlob"),
    (
        "Network",
        Setting,
        Reads,
        "canClearBrowserCache canClearBrowserCookies canEmulateNetworkConditions disable \
         emulateNetworkConditions emulateNetworkConditionsByRule overrideNetworkState enable \
         configureDurableMessages setBypassServiceWorker setCacheDisabled setAttachDebugStack \
         setUserAgentOverride fetchSchemefulSite",
    ),
    ("Network", Document, Reads, "setBlockedURLs getSecurityIsolationStatus"),
    (
        "Network",
        Request,
        Reads,
        "getResponseBody getRequestPostData searchInResponseBody streamResourceContent",
    ),
    ("Network", Request, Changes, "replayXHR"),
    // Cookies, certificates, reports and headers are those of any site.
    (
        "Network",
        EverySite,
        Changes,
        "clearBrowserCache clearBrowserCookies deleteCookies getAllCookies getCertificate getCookies \
         setCookie setCookies setExtraHTTPHeaders enableReportingApi enableDeviceBoundSessions \
         deleteDeviceBoundSession setCookieControls",
    ),
    // Follows redirects to anywhere, with the browser's cookies and without the page's rules.
    ("Network", Refused, Reads, "loadNetworkResource"),
    ("Security", Setting, Reads, "disable"),
    (
        "Security",
        EverySite,
        Changes,
        "enable setIgnoreCertificateErrors handleCertificateError setOverrideCertificateErrors",
    ),
    // Registrations of every site are listed and can be named.
    ("ServiceWorker", Setting, Reads, "disable"),
    (
        "ServiceWorker",
        EverySite,
        Changes,
        "deliverPushMessage dispatchSyncEvent dispatchPeriodicSyncEvent enable setForceUpdateOnPageLoad \
         skipWaiting startWorker stopAllWorkers stopWorker unregister updateRegistration",
    ),
    ("Preload", Setting, Reads, "disable"),
    ("Preload", EverySite, Reads, "enable"),
    ("BackgroundService", Refused, Reads, "startObserving stopObserving setRecording clearEvents"),
];
