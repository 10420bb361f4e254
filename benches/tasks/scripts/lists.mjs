// Lists: tables, pages, endless lists, trees.

import { BUTTON, LINK } from './roles.mjs';

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
    for (let times = 0; times < 6; times += 1) {
      if (await agent.has('Post 38')) break;
      await agent.scroll(null, { look: true });
    }
    await agent.click({ role: 'button', name: 'Like', near: 'Post 38' });
  },

  async select_rows(agent) {
    await agent.check({ role: 'checkbox', near: 'draft.doc' });
    await agent.check({ role: 'checkbox', near: 'old-budget.xls' });
    await agent.click({ role: BUTTON, name: 'Delete selected' });
  },

  async tree(agent) {
    await agent.click({ role: ['clickable', 'generic', 'treeitem'], name: 'Finance' }, { look: true });
    await agent.click({ role: ['clickable', 'generic', 'treeitem'], name: '2031' }, { look: true });
    await agent.click({ role: ['clickable', 'generic', 'treeitem'], name: 'Tax return', near: '2031' });
    await agent.click({ role: BUTTON, name: 'Open' });
  },

  async long_table(agent) {
    await agent.click({ role: 'button', name: 'Choose', near: 'West Mill 8' });
  },
};
