// The clipboard API of the page.

function clipboardApi() {
  if (navigator.clipboard) return navigator.clipboard;
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
