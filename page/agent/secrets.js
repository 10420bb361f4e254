// Fields for secrets: where they are, so that pictures can be painted over, and what is in them, so that it can be
// struck from whatever is written down. Nothing of it is for anybody to read.

/** Fields that are told at most, and characters of each. */
const SECRETS_LISTED = 100;
const SECRET_CHARACTERS = 1000;

/** The fields for secrets of this document and what it can read; `known` is what must not be shown in any other field. */
agent.secretFields = ({ known }) => {
  const boxes = [];
  const values = [];
  const isKnown = new Set(known);
  for (const root of rootsBelow(document)) {
    for (const field of root.querySelectorAll("input, textarea")) {
      if (boxes.length >= SECRETS_LISTED) return { boxes, values };
      if (!isSecret(field) && !isKnown.has(field.value)) continue;
      if (field.value !== "") values.push(field.value.slice(0, SECRET_CHARACTERS));
      if (isRendered(field)) boxes.push(outwardBox(outerBox(field), field.ownerDocument));
    }
  }
  return { boxes, values };
};
