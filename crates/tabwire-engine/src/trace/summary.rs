//! Summarises a trace for one page: paints, shifts, interactions, long tasks, scripts.

use std::collections::HashMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tabwire_api::FrameId;

use crate::snapshot::{LinkTarget, PageText};
use crate::trace::web_vitals::{LongTasks, Measure, Metric};

/// Scripts in the summary of a trace: the slowest ones.
const TRACE_SCRIPTS_REPORTED: usize = 5;

/// Scripts of a trace whose time is summed.
const TRACE_SCRIPTS: usize = 1_000;

/// Names of the relevant events.
const RELEVANT: [&str; 7] = [
    "navigationStart",
    "firstContentfulPaint",
    "largestContentfulPaint::Candidate",
    "LayoutShift",
    "EventTiming",
    "RunTask",
    "EvaluateScript",
];

/// Long tasks last at least this many microseconds.
const LONG_TASK: f64 = 50_000.0;

/// Longest gap between shifts of one window, and longest window, in microseconds.
const SHIFT_GAP: f64 = 1_000_000.0;
const SHIFT_WINDOW: f64 = 5_000_000.0;

#[derive(Deserialize)]
struct TraceEvent {
    name: String,
    #[serde(default)]
    ts: f64,
    #[serde(default)]
    dur: f64,
    #[serde(default)]
    pid: i64,
    #[serde(default)]
    tid: i64,
    #[serde(default)]
    args: Value,
}

/// The summary of a trace for a page.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub(crate) struct TraceSummary {
    /// Total number of events.
    pub events: u64,
    /// Largest contentful paint of the last loaded page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lcp: Option<Measure>,
    /// First contentful paint of that page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fcp: Option<Measure>,
    /// Cumulative layout shift since that page was loaded.
    pub cls: Measure,
    /// The slowest interaction.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inp: Option<Measure>,
    /// Tasks of more than 50 ms on the page's main thread.
    pub long_tasks: LongTasks,
    /// The scripts that took longest to evaluate.
    pub scripts: Vec<ScriptTime>,
}

/// Evaluation time of a script.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub(crate) struct ScriptTime {
    /// Its URL.
    pub url: String,
    /// Milliseconds.
    pub milliseconds: f64,
}

/// Parses the events of a trace.
#[derive(Debug)]
pub(crate) struct TraceReader {
    frame: FrameId,
    events: u64,
    navigation: Option<f64>,
    first_paint: Option<f64>,
    largest_paint: Option<f64>,
    shifts: Vec<(f64, f64)>,
    interaction: Option<f64>,
    /// The page's main threads so far; a new site has a new process.
    threads: Vec<(i64, i64)>,
    /// Long tasks of every thread, because later events identify the page's threads.
    tasks: HashMap<(i64, i64), LongTasks>,
    scripts: HashMap<String, f64>,
}

impl TraceReader {
    /// Summarises for a page, by its main frame.
    pub(crate) fn new(frame: FrameId) -> Self {
        Self {
            frame,
            events: 0,
            navigation: None,
            first_paint: None,
            largest_paint: None,
            shifts: Vec::new(),
            interaction: None,
            threads: Vec::new(),
            tasks: HashMap::new(),
            scripts: HashMap::new(),
        }
    }

    /// Adds one event.
    pub(crate) fn take(&mut self, event: &[u8]) {
        self.events += 1;
        // Most events are irrelevant; a substring check is much cheaper than parsing.
        let matters = RELEVANT.iter().any(|name| memchr::memmem::find(event, name.as_bytes()).is_some());
        if let Some(event) = matters.then(|| serde_json::from_slice::<TraceEvent>(event).ok()).flatten() {
            self.read(&event);
        }
    }

    fn read(&mut self, event: &TraceEvent) {
        let data = event.args.get("data");
        let of_data = |name: &str| data.and_then(|data| data.get(name));
        let frame = event.args.get("frame").or_else(|| of_data("frame")).and_then(Value::as_str);
        let is_ours = frame == Some(self.frame.as_str());
        match event.name.as_str() {
            "RunTask" if event.dur >= LONG_TASK => {
                self.tasks.entry((event.pid, event.tid)).or_default().add(event.dur / 1_000.0);
            }
            "EvaluateScript" => {
                let url = of_data("url").and_then(Value::as_str).filter(|url| !url.is_empty());
                let known = self.scripts.len() < TRACE_SCRIPTS;
                if let Some(url) = url.filter(|url| known || self.scripts.contains_key(*url)) {
                    *self.scripts.entry(url.to_owned()).or_default() += event.dur / 1_000.0;
                }
            }
            "navigationStart" if is_ours => {
                self.navigation = Some(event.ts);
                (self.first_paint, self.largest_paint) = (None, None);
                self.shifts.clear();
                self.add_main_thread(event);
            }
            "firstContentfulPaint" if is_ours => {
                self.first_paint = Some(event.ts);
                self.add_main_thread(event);
            }
            "largestContentfulPaint::Candidate" if is_ours => self.largest_paint = Some(event.ts),
            "LayoutShift" if is_ours => {
                let had_input = of_data("had_recent_input").and_then(Value::as_bool).unwrap_or_default();
                let score = of_data("score").and_then(Value::as_f64).unwrap_or_default();
                if !had_input {
                    self.shifts.push((event.ts, score));
                }
                self.add_main_thread(event);
            }
            "EventTiming" if is_ours => {
                let is_interaction = of_data("interactionId").and_then(Value::as_u64).unwrap_or_default() > 0;
                if let Some(took) = of_data("duration").and_then(Value::as_f64).filter(|_| is_interaction) {
                    self.interaction = Some(self.interaction.unwrap_or_default().max(took));
                }
            }
            _ => {}
        }
    }

    /// Records that this thread is a main thread of the page.
    fn add_main_thread(&mut self, event: &TraceEvent) {
        let thread = (event.pid, event.tid);
        if !self.threads.contains(&thread) {
            self.threads.push(thread);
        }
    }

    /// The summary.
    pub(crate) fn finish(mut self) -> TraceSummary {
        let since = |time: Option<f64>| Some((time? - self.navigation?) / 1_000.0);
        let (largest, first) = (since(self.largest_paint), since(self.first_paint));
        let mut tasks = LongTasks::default();
        for found in self.threads.iter().filter_map(|thread| self.tasks.get(thread)) {
            tasks.count += found.count;
            tasks.total += found.total;
            tasks.longest = tasks.longest.max(found.longest);
        }
        let mut scripts: Vec<ScriptTime> = self
            .scripts
            .into_iter()
            .map(|(url, took)| ScriptTime {
                url: LinkTarget::new(&url).within(160).to_string(),
                milliseconds: (took * 10.0).round() / 10.0,
            })
            .collect();
        scripts.sort_by(|first, second| second.milliseconds.total_cmp(&first.milliseconds));
        scripts.truncate(TRACE_SCRIPTS_REPORTED);
        TraceSummary {
            events: self.events,
            lcp: largest.map(|value| Metric::LargestPaint.measure(value, None)),
            fcp: first.map(|value| Metric::FirstPaint.measure(value, None)),
            cls: Metric::Shift.measure(worst_window(&mut self.shifts), None),
            inp: self.interaction.map(|value| Metric::Interaction.measure(value, None)),
            long_tasks: tasks.rounded(),
            scripts,
        }
    }
}

/// The largest window of shifts.
fn worst_window(shifts: &mut [(f64, f64)]) -> f64 {
    shifts.sort_by(|first, second| first.0.total_cmp(&second.0));
    let (mut worst, mut sum, mut start, mut last) = (0.0_f64, 0.0, f64::NEG_INFINITY, f64::NEG_INFINITY);
    for (time, score) in shifts {
        if *time - last > SHIFT_GAP || *time - start > SHIFT_WINDOW {
            (sum, start) = (0.0, *time);
        }
        last = *time;
        sum += *score;
        worst = worst.max(sum);
    }
    worst
}

impl TraceSummary {
    /// The summary as lines.
    pub(crate) fn lines(&self) -> Vec<String> {
        let unloaded = "no page was loaded during the trace";
        let mut lines = vec![
            Metric::LargestPaint.line(self.lcp.as_ref(), unloaded),
            Metric::Shift.line(Some(&self.cls), ""),
            Metric::Interaction.line(self.inp.as_ref(), "no interaction"),
            self.long_tasks.line(),
        ];
        lines.extend(self.scripts.iter().map(|script| {
            format!("script: {} ms {}", script.milliseconds, PageText::cut(&script.url, 160).quoted())
        }));
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_events_of_the_page_count() {
        let mut reader = TraceReader::new(FrameId::new("F"));
        for event in [
            r#"{"name":"RunTask","ts":5,"dur":80000,"pid":1,"tid":2}"#,
            r#"{"name":"RunTask","ts":5,"dur":90000,"pid":9,"tid":9}"#,
            r#"{"name":"navigationStart","ts":1000000,"pid":1,"tid":2,"args":{"frame":"F"}}"#,
            r#"{"name":"largestContentfulPaint::Candidate","ts":1100000,"pid":1,"tid":2,"args":{"frame":"F"}}"#,
            r#"{"name":"largestContentfulPaint::Candidate","ts":9100000,"pid":1,"tid":2,"args":{"frame":"G"}}"#,
            r#"{"name":"LayoutShift","ts":1200000,"args":{"frame":"F","data":{"score":0.2,"had_recent_input":false}}}"#,
            r#"{"name":"LayoutShift","ts":1300000,"args":{"frame":"F","data":{"score":0.7,"had_recent_input":true}}}"#,
            r#"{"name":"EventTiming","args":{"data":{"frame":"F","interactionId":3,"duration":240}}}"#,
            r#"{"name":"EvaluateScript","dur":3000,"args":{"data":{"url":"http://a/x.js"}}}"#,
            "not JSON RunTask",
        ] {
            reader.take(event.as_bytes());
        }
        let summary = reader.finish();
        assert_eq!(summary.events, 10);
        assert_eq!(summary.lcp.map(|measure| measure.value), Some(100.0));
        assert_eq!((summary.cls.value, summary.inp.map(|measure| measure.value)), (0.2, Some(240.0)));
        assert_eq!(summary.long_tasks, LongTasks { count: 1, total: 80.0, longest: 80.0 });
        assert_eq!(summary.scripts[0].milliseconds, 3.0);
    }
}
