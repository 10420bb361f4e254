// Resolves URLs against the document, and downloads URLs that only the document can read.

/** Resolves a URL that may be relative. */
agent.resolveUrl = ({ url }) => {
  try {
    return { url: new URL(url, document.baseURI).href };
  } catch {
    return fail("BAD_ARGS", `${JSON.stringify(url)} is not a URL.`, "Use an absolute URL, or one relative to the page.");
  }
};

/** Downloads a data or blob URL by a detached link. */
agent.downloadUrl = ({ url }) => {
  const link = document.createElement("a");
  link.href = url;
  link.download = "";
  link.click();
  return null;
};

/** Whether a click starts a download of a link. */
function startsDownload(event) {
  const link = event.composedPath().find((node) => node.localName === "a" && node.hasAttribute?.("download") && node.href);
  if (link === undefined) return false;
  return link.origin === location.origin || link.protocol === "blob:" || link.protocol === "data:";
}
