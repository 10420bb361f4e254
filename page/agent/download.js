// Addresses as the document understands them, and saving what only it can read. Touches nothing in the page.

/** The whole form of an address that may be relative to the document. */
agent.address = ({ url }) => {
  try {
    return { url: new URL(url, document.baseURI).href };
  } catch {
    return fail("BAD_ARGS", `${JSON.stringify(url)} is no address.`, "Give a whole address, or one relative to the page's.");
  }
};

/** Saves a data or blob address by a link that is never part of the page. */
agent.saveAddress = ({ url }) => {
  const link = document.createElement("a");
  link.href = url;
  link.download = "";
  link.click();
  return null;
};

/** Whether a click makes the browser save what a link leads to. */
function isSaving(event) {
  const link = event.composedPath().find((node) => node.localName === "a" && node.hasAttribute?.("download") && node.href);
  if (link === undefined) return false;
  return link.origin === location.origin || link.protocol === "blob:" || link.protocol === "data:";
}
