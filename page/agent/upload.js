// What file inputs take and hold. Files themselves are given by the browser on Rust's order.

/** The element with this number, for the browser to hold; null when it is no longer on the page. */
agent.elementWith = (key) => elementOf(key);

function isFileInput(element) {
  return element.localName === "input" && element.type === "file";
}

/** What a file input takes and what it holds now. */
function fileInputFacts(element) {
  if (!isFileInput(element)) return { file: false };
  return {
    file: true,
    multiple: element.multiple,
    directory: element.webkitdirectory === true,
    accept: element.accept,
    disabled: disabledReason(element),
    files: Array.from(element.files ?? [], ({ name, size }) => ({ name, size })),
  };
}

agent.fileInput = ({ element }) => fileInputFacts(element);
