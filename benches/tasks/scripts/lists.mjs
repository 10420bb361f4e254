// Lists: tables, pages, endless lists, trees.

import { BUTTON, LINK, isNameless } from './roles.mjs';

export const TASKS = {
  async table_search(agent) {
    await agent.fill({ role: ['searchbox', 'textbox'], name: 'Filter' }, '1030', { look: true });
    await agent.click({ role: 'button', name: 'Refund', near: '1030' });
  },

  async pagination(agent) {
    for (let page = 1; page < 4; page += 1) {
      if (await agent.has('Mia')) break;
      await agent.click({ role: LINK, name: 'Next' }, { look: true });
    }
    await agent.click({ role: 'button', name: 'Invite', near: 'Mia' });
  },

  async sort_table(agent) {
    await agent.click({ role: LINK, name: 'Moons' });
    await agent.click({ role: LINK, name: 'Moons' }, { look: true });
    await agent.click({ role: 'button', name: 'Go', near: 'Saturn' });
  },

  async infinite(agent) {
    for (let next = 16; next <= 31; next += 15) {
      await agent.scroll(null, { look: true });
      if (!(await agent.has(`Post ${next}`))) await agent.waitsFor(`Post ${next}`);
    }
    await agent.click({ role: 'button', name: 'Like', near: 'Post 38' });
  },

  async select_rows(agent) {
    await agent.check({ role: 'checkbox', near: 'draft.doc', before: true });
    await agent.check({ role: 'checkbox', near: 'old-budget.xls', before: true });
    await agent.click({ role: BUTTON, name: 'Delete selected' });
  },

  async tree(agent) {
    await openItem(agent, 'Finance', '2031');
    await openItem(agent, '2031', 'Budget');
    await openItem(agent, 'Tax return', 'selected');
    await agent.click({ role: BUTTON, name: 'Open' });
  },

  async long_table(agent) {
    await agent.click({ role: 'button', name: 'Choose', near: 'West Mill 8' });
  },
};

/** Clicks an item of a tree. When nothing follows, clicks the element inside it that can be clicked. */
async function openItem(agent, name, expected) {
  await agent.click({ role: 'treeitem', name }, { look: true });
  if (await agent.has(expected)) return;
  const inner = ['clickable', 'generic', 'StaticText', 'text'];
  const named = await agent.maybe({ role: inner, name, strict: true });
  const nameless = named ?? await agent.maybe({ role: inner, near: name, only: isNameless, nth: 1 });
  await agent.click(nameless ?? agent.text(name), { look: true });
}
