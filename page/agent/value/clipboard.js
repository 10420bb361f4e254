// The clipboard API of the page.

function clipboardApi() {
  // Chrome hides it from documents without an origin, Firefox does not.
  if (navigator.clipboard && location.origin !== "null") return navigator.clipboard;
  return fail("NOT_ACTIONABLE", "The clipboard is not available on insecure pages.", "Use the clipboard on an https or localhost page.");
}

async function withClipboard(work) {
  const clipboard = clipboardApi();
  try {
    return await work(clipboard);
  } catch (error) {
    return fail("NOT_ACTIONABLE", `The browser refused the clipboard: ${shorten(String(error?.message ?? error))}`, "Another window may have the focus, or a permissions policy blocks it.");
  }
}

/** The origin and the state of a permission. */
agent.permission = async ({ name }) => {
  clipboardApi();
  const { origin } = location;
  try {
    return { origin, state: (await navigator.permissions.query({ name })).state };
  } catch {
    return { origin, state: "prompt" };
  }
};

agent.readClipboard = () => withClipboard((clipboard) => clipboard.readText());
agent.writeClipboard = ({ text }) => withClipboard(async (clipboard) => (await clipboard.writeText(text), null));
