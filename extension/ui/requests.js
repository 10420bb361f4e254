// The requests of a view (popup, options, side panel) to the worker, which responds to each with the state.
// @ts-check

/** Requests that change nothing. */
const READS = ["state", "dial"];

/**
 * A function that sends requests. Responses do not arrive in the order in which the worker read the state: one that is
 * older than the shown state is not shown, nor is one to a request from before the user's last one. Such a state would
 * undo on the page what the user has just chosen.
 * @template {{readAt: number}} State
 * @param {(state: State) => void} show
 * @returns {(request: Record<string, unknown>) => Promise<State>}
 */
export function createRequests(show) {
  let sent = 0;
  let users = 0;
  let shownAt = 0;
  return async (request) => {
    const turn = ++sent;
    if (!READS.includes(String(request.ask))) users = turn;
    const state = await chrome.runtime.sendMessage(request);
    if (state && turn >= users && state.readAt >= shownAt) {
      shownAt = state.readAt;
      show(state);
    }
    return state;
  };
}
