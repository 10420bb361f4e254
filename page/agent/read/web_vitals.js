// Web vitals: paints, layout shifts, interactions and long tasks, from the browser's performance entries.

/** The buffered entries of a type; the browser keeps a bounded number. */
function bufferedEntries(type) {
  if (!PerformanceObserver.supportedEntryTypes.includes(type)) return [];
  const observer = new PerformanceObserver(() => {});
  observer.observe({ type, buffered: true });
  const entries = observer.takeRecords();
  observer.disconnect();
  return entries;
}

/** A short label of an element: `button#pay`. */
function shortNameOf(node) {
  const element = node instanceof Element ? node : node?.parentElement;
  if (!element) return undefined;
  const first = element.classList.item(0);
  return element.localName + (element.id ? `#${element.id}` : first ? `.${first}` : "");
}

/** The largest session window of shifts: gaps under one second, at most five seconds in total. Firefox measures none. */
function layoutShift() {
  if (!PerformanceObserver.supportedEntryTypes.includes("layout-shift")) return { value: null, count: 0 };
  const entries = bufferedEntries("layout-shift").filter((entry) => !entry.hadRecentInput);
  let [worst, sum, start, last] = [0, 0, -Infinity, -Infinity];
  let [source, greatest] = [undefined, 0];
  for (const entry of entries) {
    if (entry.startTime - last > 1000 || entry.startTime - start > 5000) [sum, start] = [0, entry.startTime];
    last = entry.startTime;
    sum += entry.value;
    worst = Math.max(worst, sum);
    if (entry.value > greatest) [greatest, source] = [entry.value, entry.sources?.[0]?.node];
  }
  return { value: worst, count: entries.length, element: shortNameOf(source) };
}

/** Most interactions kept: the slowest. */
const MAX_INTERACTIONS = 256;

const slowestEvents = new Map();

function noteInteractions(entries) {
  for (const entry of entries) {
    if (!entry.interactionId) continue;
    const known = slowestEvents.get(entry.interactionId);
    if (known === undefined || known.duration < entry.duration) slowestEvents.set(entry.interactionId, entry);
  }
  if (slowestEvents.size <= 2 * MAX_INTERACTIONS) return;
  const ordered = slowestOrdered();
  slowestEvents.clear();
  for (const entry of ordered.slice(0, MAX_INTERACTIONS)) slowestEvents.set(entry.interactionId, entry);
}

function slowestOrdered() {
  return [...slowestEvents.values()].sort((first, second) => second.duration - first.duration);
}

/** Observes from document start: the browser buffers no event shorter than 104 ms for later observers. */
const interactionObserver = new PerformanceObserver((list) => noteInteractions(list.getEntries()));
for (const type of ["event", "first-input"]) {
  if (PerformanceObserver.supportedEntryTypes.includes(type)) interactionObserver.observe({ type, buffered: true, durationThreshold: 16 });
}

/** The slowest event of each interaction; of many, the 98th percentile. */
function interaction() {
  noteInteractions(interactionObserver.takeRecords());
  const ordered = slowestOrdered();
  const count = performance.interactionCount ?? ordered.length;
  const chosen = ordered[Math.min(Math.floor(count / 50), ordered.length - 1)];
  return { value: chosen?.duration ?? null, count, event: chosen?.name, element: shortNameOf(chosen?.target) };
}

/** Tasks over 50 ms. Uses long animation frames when no observer requested long tasks. Firefox measures none. */
function longTasks() {
  if (!PerformanceObserver.supportedEntryTypes.includes("longtask")) return null;
  const tasks = bufferedEntries("longtask");
  const frames = tasks.length > 0 ? [] : bufferedEntries("long-animation-frame").filter((frame) => frame.blockingDuration > 0);
  const durations = [...tasks, ...frames].map((entry) => entry.duration);
  return { count: durations.length, total: durations.reduce((sum, one) => sum + one, 0), longest: Math.max(0, ...durations) };
}

/** The vitals so far; times are milliseconds since navigation start. */
agent.vitals = () => {
  const navigation = performance.getEntriesByType("navigation")[0];
  const paint = performance.getEntriesByName("first-contentful-paint")[0];
  const largest = bufferedEntries("largest-contentful-paint").at(-1);
  const since = navigation?.activationStart ?? 0;
  const after = (time) => (time > 0 ? Math.max(0, time - since) : null);
  return {
    url: location.href,
    hidden: document.visibilityState === "hidden",
    firstByte: after(navigation?.responseStart),
    firstPaint: after(paint?.startTime),
    largestPaint: { value: after(largest?.startTime), element: shortNameOf(largest?.element) },
    loaded: after(navigation?.loadEventEnd),
    shift: layoutShift(),
    interaction: interaction(),
    tasks: longTasks(),
  };
};
