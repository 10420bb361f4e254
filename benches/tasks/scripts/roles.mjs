// Role names that the tools print for the same kind of element.

/** What is clicked: tools call it a button, or a clickable or generic element. */
export const BUTTON = ['button', 'clickable', 'generic', 'link'];
export const LINK = ['link', 'clickable', 'generic'];
export const OPTION = ['option', 'listitem', 'clickable', 'generic', 'cell', 'menuitem', 'gridcell'];
export const TAB = ['tab', 'button', 'clickable', 'generic'];
export const FIELD = ['textbox', 'searchbox', 'spinbutton', 'combobox', 'slider', 'Date', 'InputTime'];

/** A printed element without a name and without content. */
export function isNameless(entry) {
  return entry.text === '' && [...entry.walk()].every((part) => part === entry || !part.ref);
}
