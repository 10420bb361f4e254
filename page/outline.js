// Reads what a person would see first on this page: address, title, visible text. Changes nothing.
(limit) => {
  const text = (document.body ? document.body.innerText : "")
    .replace(/[\u0000-\u0008\u000b-\u001f\u007f\u200b-\u200f\u202a-\u202e\u2066-\u2069]|[\u{e0000}-\u{e007f}]/gu, "")
    .replace(/[ \t]+/g, " ")
    .replace(/ ?\n ?/g, "\n")
    .replace(/\n{3,}/g, "\n\n")
    .trim();
  const letters = Array.from(text);
  return {
    url: location.href,
    title: document.title,
    text: letters.slice(0, limit).join(""),
    truncated: letters.length > limit,
  };
}
