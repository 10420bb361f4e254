// Sentences for the states of a live view, and actions in plain words.
// @ts-check

/** @typedef {{icon: string, title: string, text: string, command?: string}} StateText */

/**
 * The text in place of a page; none when the page is shown.
 * @param {string} state
 * @param {{session: string, refused: string | null}} facts
 * @returns {StateText | null}
 */
export function stateText(state, { session, refused }) {
  switch (state) {
    case "no_session":
      return { icon: "tabs", title: "This session does not run.", text: "This command starts it:", command: `tabwire --session ${session} open https://example.com` };
    case "no_tab":
      return { icon: "tabs", title: "This session has no open tab.", text: "A tab is shown as soon as an agent opens one." };
    case "crashed":
      return { icon: "ban", title: "The page has crashed.", text: "Take over and reload it, or let the agent open a page." };
    case "refused":
      return { icon: "shield", title: "This page may not be shown.", text: `The policy does not allow reading ${refused || "it"}, so no image of it is captured.` };
    case "elsewhere":
      return { icon: "hand", title: "Another dashboard has taken over this tab.", text: "What is typed there is not shown here." };
    case "hidden":
      return { icon: "tabs", title: "The tab is hidden.", text: "Its browser draws it again when it comes to the front." };
    case "connecting":
      return { icon: "screen", title: "Waiting for the first image.", text: "" };
    default:
      return null;
  }
}

const VERBS = new Map(Object.entries({
  back: "goes back", check: "checks a box", click: "clicks", close: "closes a tab", cookies: "reads cookies", dblclick: "double-clicks", dialog: "answers a dialog",
  download: "downloads a file", drag: "drags", eval: "runs code", execute: "runs a script", extract: "reads the page", fill: "fills a field", fill_form: "fills a form",
  find: "looks for an element", focus: "focuses a field", forward: "goes forward", get: "reads an element", hover: "points at an element", mouse: "moves the mouse",
  navigate: "opens a page", open: "opens a page", pdf: "prints the page", press: "presses a key", raw: "sends CDP commands", read: "reads the page", record: "records the page",
  reload: "reloads the page", screenshot: "takes a screenshot", scroll: "scrolls", search: "searches the page", select_option: "chooses an option", snapshot: "reads the page",
  tab_select: "changes the tab", tabs: "lists the tabs", tap: "taps", text: "reads the page", type_keys: "types", uncheck: "unchecks a box", upload: "gives a file", wait_for: "waits for the page",
}));

/**
 * An action in plain words.
 * @param {string} action
 */
export const verbOf = (action) => VERBS.get(action) ?? `runs ${action}`;
