// The clipboard as a page reaches it. Knows nothing of who grants it.

function reachClipboard() {
  if (navigator.clipboard) return navigator.clipboard;
  return fail("NOT_ACTIONABLE", "Pages of this address cannot reach the clipboard.", "Go to a page with an https address, or to one of this machine, and use the clipboard there.");
}

async function useClipboard(work) {
  const clipboard = reachClipboard();
  try {
    return await work(clipboard);
  } catch (error) {
    return fail("NOT_ACTIONABLE", `The browser refused the clipboard: ${shorten(String(error?.message ?? error))}`, "Another window may have the focus, or a policy forbids it.");
  }
}

/** Whether a permission is granted, denied or asked for, and whose it is. */
agent.permission = async ({ name }) => {
  reachClipboard();
  const { origin } = location;
  try {
    return { origin, state: (await navigator.permissions.query({ name })).state };
  } catch {
    return { origin, state: "prompt" };
  }
};

agent.readClipboard = () => useClipboard((clipboard) => clipboard.readText());
agent.writeClipboard = ({ text }) => useClipboard(async (clipboard) => (await clipboard.writeText(text), null));
