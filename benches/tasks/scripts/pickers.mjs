// Pickers: autocompletes, calendars, sliders, ratings, tags.

import { BUTTON, FIELD, OPTION, isNameless } from './roles.mjs';

const CELL = ['cell', 'gridcell', 'clickable', 'generic', 'button'];

export const TASKS = {
  async autocomplete(agent) {
    await agent.type({ name: 'To' }, 'Lim', { look: true });
    await agent.click({ role: OPTION, name: 'Limerick (all airports)' });
    await agent.click({ role: BUTTON, name: 'Search' });
  },

  async calendar(agent) {
    await agent.click({ role: 'textbox', name: 'Arrival' }, { look: true });
    await agent.read(/March 2031/);
    await agent.click({ role: BUTTON, name: '›' });
    await agent.click({ role: BUTTON, name: '›' }, { look: true });
    await agent.read(/May 2031/, { fresh: true });
    await agent.click({ role: CELL, name: '17' });
    await agent.click({ role: BUTTON, name: 'Book' });
  },

  async native_date(agent) {
    // agent-browser prints a date as three number fields: the keys of the date go into the first.
    const day = await agent.maybe({ role: FIELD, name: 'Day', strict: true, text: false, only: isWhole });
    if (day) await agent.fill(day, '2031-08-09');
    else await agent.press([...'08092031'], { on: { role: FIELD, name: /^Month/ } });
    const time = await agent.maybe({ role: FIELD, name: 'Time', strict: true, text: false, only: isWhole });
    if (time) await agent.fill(time, '14:30');
    else await agent.press([...'0230p'], { on: { role: FIELD, name: /^Hours/ } });
    await agent.click({ role: BUTTON, name: 'Confirm' });
  },

  async listbox(agent) {
    await agent.click({ role: 'combobox', name: 'Country' }, { look: true });
    await agent.click({ role: 'option', name: 'Romania' });
    await agent.click({ role: BUTTON, name: 'Save' });
  },

  async range(agent) {
    const [bass, treble] = [{ role: 'slider', name: 'Bass' }, { role: 'slider', name: 'Treble' }];
    await agent.fillForm([[bass, '80'], [treble, '2']], { look: true });
    if ((await agent.find(bass)).value !== '80') await agent.press(Array(3).fill('ArrowRight'), { on: bass });
    if ((await agent.find(treble)).value !== '2') await agent.press(Array(3).fill('ArrowLeft'), { on: treble });
    await agent.click({ role: BUTTON, name: 'Save mix' });
  },

  async stars(agent) {
    await agent.click({ role: ['clickable', 'generic', 'img', 'image'], near: 'Cleanliness', only: isNameless, nth: 4 });
    await agent.click({ role: ['clickable', 'generic', 'img', 'image'], near: 'Service', only: isNameless, nth: 5 });
    await agent.click({ role: BUTTON, name: 'Send review' });
  },

  async swatches(agent) {
    await agent.click({ role: ['clickable', 'generic', 'img', 'image'], name: 'Green' });
    await agent.click({ role: BUTTON, name: 'M' });
    await agent.click({ role: BUTTON, name: 'Add to cart' });
  },

  async tags(agent) {
    await agent.click({ role: BUTTON, name: '×', near: 'meat' });
    await agent.fill({ name: 'Add a tag' }, 'vegan');
    await agent.press('Enter');
    await agent.fill({ name: 'Add a tag' }, 'quick');
    await agent.press('Enter');
    await agent.click({ role: BUTTON, name: 'Save tags' });
  },

  async stepper(agent) {
    await agent.click({ role: BUTTON, name: '+', near: 'Adults' });
    await agent.click({ role: BUTTON, name: '+', near: 'Children' });
    // Where the name is not printed, the first of the two elements after the label takes one away.
    const less = await agent.maybe({ role: BUTTON, name: '-', near: 'Dogs' });
    await agent.click(less ?? { role: BUTTON, near: 'Dogs', only: isNameless, nth: 1 });
    await agent.click({ role: BUTTON, name: 'Done' });
  },
};

/** Not one of the parts of a date. */
function isWhole(entry) {
  return entry.role !== 'spinbutton';
}
