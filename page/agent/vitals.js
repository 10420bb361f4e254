// How the document performed for a person: paints, shifts, interactions and long tasks, as the browser noted them.
// Knows nothing of what is good.

/** Everything of a kind that the browser has kept; it keeps a bounded number of each. */
function keptEntries(type) {
  if (!PerformanceObserver.supportedEntryTypes.includes(type)) return [];
  const observer = new PerformanceObserver(() => {});
  observer.observe({ type, buffered: true });
  const entries = observer.takeRecords();
  observer.disconnect();
  return entries;
}

/** An element in a few letters: `button#pay`. */
function shortNameOf(node) {
  const element = node instanceof Element ? node : node?.parentElement;
  if (!element) return undefined;
  const first = element.classList.item(0);
  return element.localName + (element.id ? `#${element.id}` : first ? `.${first}` : "");
}

/** The largest sum of shifts that follow each other within a second and within five seconds in all. */
function layoutShift() {
  const entries = keptEntries("layout-shift").filter((entry) => !entry.hadRecentInput);
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

/** Interactions that are remembered: the slowest. */
const INTERACTIONS_KEPT = 256;

/** The slowest event of each interaction. */
const slowestEvents = new Map();

function noteInteractions(entries) {
  for (const entry of entries) {
    if (!entry.interactionId) continue;
    const known = slowestEvents.get(entry.interactionId);
    if (known === undefined || known.duration < entry.duration) slowestEvents.set(entry.interactionId, entry);
  }
  if (slowestEvents.size <= 2 * INTERACTIONS_KEPT) return;
  const ordered = slowestOrdered();
  slowestEvents.clear();
  for (const entry of ordered.slice(0, INTERACTIONS_KEPT)) slowestEvents.set(entry.interactionId, entry);
}

function slowestOrdered() {
  return [...slowestEvents.values()].sort((first, second) => second.duration - first.duration);
}

/** Watches from the document's start: of events of less than 104 ms the browser keeps none for who asks later. */
const interactionObserver = new PerformanceObserver((list) => noteInteractions(list.getEntries()));
for (const type of ["event", "first-input"]) {
  if (PerformanceObserver.supportedEntryTypes.includes(type)) interactionObserver.observe({ type, buffered: true, durationThreshold: 16 });
}

/** The interactions, each by its slowest event; of many, the one that two in a hundred are slower than. */
function interaction() {
  noteInteractions(interactionObserver.takeRecords());
  const ordered = slowestOrdered();
  const count = performance.interactionCount ?? ordered.length;
  const chosen = ordered[Math.min(Math.floor(count / 50), ordered.length - 1)];
  return { value: chosen?.duration ?? null, count, event: chosen?.name, element: shortNameOf(chosen?.target) };
}

/** Tasks of more than 50 ms. Told by frames that took long when nobody had asked for tasks. */
function longTasks() {
  const tasks = keptEntries("longtask");
  const frames = tasks.length > 0 ? [] : keptEntries("long-animation-frame").filter((frame) => frame.blockingDuration > 0);
  const durations = [...tasks, ...frames].map((entry) => entry.duration);
  return { count: durations.length, total: durations.reduce((sum, one) => sum + one, 0), longest: Math.max(0, ...durations) };
}

/** How the document performed so far; times are milliseconds since it was asked for. */
agent.vitals = () => {
  const navigation = performance.getEntriesByType("navigation")[0];
  const paint = performance.getEntriesByName("first-contentful-paint")[0];
  const largest = keptEntries("largest-contentful-paint").at(-1);
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
