//! Table: methods of the browser as a whole, its targets, storage and devices.

use super::Effect::{Changes, Reads};
use super::Reach::{EverySite, Navigation, Refused, Setting};
use super::Row;

pub(super) const ROWS: &[Row] = &[
    ("Browser", Setting, Reads, "close getVersion getWindowForTarget getWindowBounds"),
    (
        "Browser",
        EverySite,
        Changes,
        "setPermission grantPermissions resetPermissions setDownloadBehavior cancelDownload crash \
         crashGpuProcess getBrowserCommandLine addMockCamera getHistograms getHistogram setWindowBounds \
         setContentsSize setDockTile executeBrowserCommand addPrivacySandboxEnrollmentOverride \
         getGlobalPrivacyControl setGlobalPrivacyControl",
    ),
    // Titles and URLs of targets without a grant are filtered.
    (
        "Target",
        Setting,
        Reads,
        "activateTarget attachToBrowserTarget attachToTarget closeTarget createBrowserContext \
         detachFromTarget disposeBrowserContext getBrowserContexts getTargetInfo getTargets setAutoAttach \
         setDiscoverTargets",
    ),
    ("Target", Navigation, Reads, "createTarget"),
    ("Target", EverySite, Reads, "autoAttachRelated"),
    // These would bypass the checks.
    (
        "Target",
        Refused,
        Changes,
        "exposeDevToolsProtocol sendMessageToTarget setRemoteLocations getDevToolsTarget openDevTools",
    ),
    (
        "Storage",
        EverySite,
        Changes,
        "getStorageKeyForFrame getStorageKey clearDataForOrigin clearDataForStorageKey getCookies setCookies \
         clearCookies getUsageAndQuota overrideQuotaForOrigin trackCacheStorageForOrigin \
         trackCacheStorageForStorageKey trackIndexedDBForOrigin trackIndexedDBForStorageKey \
         untrackCacheStorageForOrigin untrackCacheStorageForStorageKey untrackIndexedDBForOrigin \
         untrackIndexedDBForStorageKey getTrustTokens clearTrustTokens getPrivateVerificationTokens \
         getPrivateVerificationTokensIssuerConfigs clearPrivateVerificationTokens \
         deletePrivateVerificationToken setPrivateVerificationTokensTracking setStorageBucketTracking \
         deleteStorageBucket runBounceTrackingMitigations",
    ),
    (
        "Cast",
        EverySite,
        Changes,
        "enable disable setSinkToUse startDesktopMirroring startTabMirroring stopCasting",
    ),
    ("DeviceAccess", EverySite, Changes, "enable disable selectPrompt cancelPrompt"),
    (
        "Extensions",
        EverySite,
        Changes,
        "triggerAction getExtensions uninstall getStorageItems removeStorageItems clearStorageItems \
         setStorageItems",
    ),
    // An extension reads files of this machine and reaches every site, denied ones included.
    ("Extensions", Refused, Changes, "loadUnpacked"),
    (
        "FedCm",
        EverySite,
        Changes,
        "enable disable selectAccount clickDialogButton openUrl dismissDialog resetCooldown",
    ),
    ("FileSystem", EverySite, Reads, "getDirectory"),
    (
        "PWA",
        EverySite,
        Changes,
        "getOsAppState install uninstall launch launchFilesInApp openCurrentPageInApp changeAppUserSettings",
    ),
    ("SystemInfo", EverySite, Reads, "getInfo getFeatureState getProcessInfo"),
    ("Tethering", EverySite, Changes, "bind unbind"),
    (
        "BluetoothEmulation",
        Refused,
        Changes,
        "enable setSimulatedCentralState disable simulatePreconnectedPeripheral simulateAdvertisement \
         simulateGATTOperationResponse simulateCharacteristicOperationResponse \
         simulateDescriptorOperationResponse addService removeService addCharacteristic \
         removeCharacteristic addDescriptor removeDescriptor simulateGATTDisconnection",
    ),
    ("DigitalCredentials", Refused, Changes, "setVirtualWalletBehavior"),
    (
        "SmartCardEmulation",
        Refused,
        Changes,
        "enable disable reportEstablishContextResult reportReleaseContextResult reportListReadersResult \
         reportGetStatusChangeResult reportBeginTransactionResult reportPlainResult reportConnectResult \
         reportDataResult reportStatusResult reportError",
    ),
];
