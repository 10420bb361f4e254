// Times as people write them.
// @ts-check

/** @param {number} milliseconds since 1970 */
export function clockTime(milliseconds) {
  const when = new Date(milliseconds);
  const time = when.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", second: "2-digit", hour12: false });
  if (when.toDateString() === new Date().toDateString()) return time;
  return `${when.toLocaleDateString([], { month: "short", day: "numeric" })}, ${time.slice(0, 5)}`;
}

/**
 * How long ago: "now", "12 s ago", "3 min ago", "2 h ago", or the date.
 * @param {number} milliseconds since 1970
 * @param {number} [now]
 */
export function ago(milliseconds, now = Date.now()) {
  const seconds = Math.max(0, Math.round((now - milliseconds) / 1000));
  if (seconds < 5) return "now";
  if (seconds < 60) return `${seconds} s ago`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ago`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)} h ago`;
  return new Date(milliseconds).toLocaleDateString([], { year: "numeric", month: "short", day: "numeric" });
}

/** @param {number} seconds */
export function duration(seconds) {
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.round(seconds / 60)} min`;
  return `${Math.round(seconds / 3600)} h`;
}
