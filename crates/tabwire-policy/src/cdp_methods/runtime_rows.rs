//! Table: methods that run, pause or inspect code.

use super::Effect::{Changes, Reads};
use super::Reach::{Document, EverySite, Frame, Refused, Setting};
use super::Row;

pub(super) const ROWS: &[Row] = &[
    (
        "Runtime",
        Setting,
        Reads,
        "disable discardConsoleEntries enable releaseObject releaseObjectGroup runIfWaitingForDebugger \
         setAsyncCallStackDepth setCustomObjectFormatterEnabled setMaxCallStackSizeToCapture \
         terminateExecution addBinding removeBinding",
    ),
    // An object id names its execution context, which names its frame.
    (
        "Runtime",
        Frame,
        Changes,
        "awaitPromise callFunctionOn compileScript evaluate runScript getProperties globalLexicalScopeNames \
         queryObjects getExceptionDetails",
    ),
    ("Runtime", Document, Reads, "getIsolateId getHeapUsage"),
    ("Debugger", Setting, Reads, "disable resume"),
    // Ids of scripts and breakpoints do not reveal their frame.
    (
        "Debugger",
        Document,
        Reads,
        "enable getPossibleBreakpoints getScriptSource disassembleWasmModule nextWasmDisassemblyChunk \
         getWasmBytecode getStackTrace searchInContent",
    ),
    (
        "Debugger",
        Document,
        Changes,
        "continueToLocation evaluateOnCallFrame pause pauseOnAsyncCall removeBreakpoint restartFrame \
         setAsyncCallStackDepth setBlackboxExecutionContexts setBlackboxPatterns setBlackboxedRanges \
         setBreakpoint setInstrumentationBreakpoint setBreakpointByUrl setBreakpointOnFunctionCall \
         setBreakpointsActive setPauseOnExceptions setReturnValue setScriptSource setSkipAllPauses \
         setVariableValue stepInto stepOut stepOver",
    ),
    ("EventBreakpoints", Setting, Reads, "disable"),
    ("EventBreakpoints", Document, Changes, "setInstrumentationBreakpoint removeInstrumentationBreakpoint"),
    // A heap or profile covers a process, which may contain other pages.
    ("HeapProfiler", Setting, Reads, "disable"),
    (
        "HeapProfiler",
        EverySite,
        Reads,
        "addInspectedHeapObject collectGarbage enable getHeapObjectId getObjectByHeapObjectId \
         getSamplingProfile startSampling startTrackingHeapObjects stopSampling stopTrackingHeapObjects \
         takeHeapSnapshot",
    ),
    ("Profiler", Setting, Reads, "disable"),
    (
        "Profiler",
        EverySite,
        Reads,
        "enable getBestEffortCoverage setSamplingInterval start startPreciseCoverage stop \
         stopPreciseCoverage takePreciseCoverage",
    ),
    (
        "Memory",
        EverySite,
        Reads,
        "getDOMCounters getDOMCountersForLeakDetection prepareForLeakDetection forciblyPurgeJavaScriptMemory \
         setPressureNotificationsSuppressed simulatePressureNotification startSampling stopSampling \
         getAllTimeSamplingProfile getBrowserSamplingProfile getSamplingProfile",
    ),
    (
        "Tracing",
        EverySite,
        Reads,
        "end getCategories getTrackEventDescriptor recordClockSyncMarker requestMemoryDump start",
    ),
    ("Schema", Refused, Reads, "getDomains"),
    ("CrashReportContext", Refused, Reads, "getEntries"),
];
