// Reads what a person would see first on a page: address, title, visible text. Knows nothing of its structure.

const UNSEEN = /[\u0000-\u0008\u000b-\u001f\u007f\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]|[\u{e0000}-\u{e007f}]/gu;

/** Visible text without what cannot be seen, blanks drawn together. */
function readableText(text) {
  return text
    .replace(UNSEEN, "")
    .replace(/[ \t\u00a0]+/g, " ")
    .replace(/ ?\n ?/g, "\n")
    .replace(/\n{3,}/g, "\n\n")
    .trim();
}

agent.outline = ({ limit }) => {
  const text = readableText(document.body ? document.body.innerText : "");
  const letters = text.length > limit ? Array.from(text.slice(0, limit * 2)) : null;
  return {
    url: location.href,
    title: document.title,
    text: letters === null ? text : letters.slice(0, limit).join(""),
    truncated: letters !== null && letters.length > limit,
  };
};
