// Menus, tabs, accordions, icons.

import { BUTTON, LINK, TAB, isNameless } from './roles.mjs';

const ITEM = ['menuitem', 'clickable', 'generic', 'button'];

export const TASKS = {
  async hover_menu(agent) {
    await agent.hover({ role: ['listitem', 'clickable', 'generic', 'text', 'button'], name: 'Men' }, { look: true });
    await agent.click({ role: 'link', name: 'Boots', near: 'Men' });
  },

  async context_menu(agent) {
    await agent.click({ role: ['clickable', 'generic'], name: 'holiday.jpg' }, { button: 'right', look: true });
    await agent.click({ role: ITEM, name: 'Delete' });
  },

  async dropdown(agent) {
    await agent.click({ role: BUTTON, name: 'Actions' }, { look: true });
    await agent.click({ role: ITEM, name: 'Export' }, { look: true });
    await agent.click({ role: ITEM, name: 'As CSV' });
  },

  async tabs(agent) {
    await agent.click({ role: TAB, name: 'Security' }, { look: true });
    await agent.check({ role: 'checkbox', name: 'Two-step sign-in' });
    await agent.click({ role: 'button', name: 'Save' });
  },

  async accordion(agent) {
    await agent.click({ role: ['button', 'DisclosureTriangle', 'generic', 'clickable'], name: 'Returns' }, { look: true });
    await agent.click({ role: LINK, name: 'Print a return label' });
    await agent.click({ role: 'button', name: 'Contact' }, { look: true });
    await agent.click({ role: 'button', name: 'Start a chat' });
  },

  async icon_buttons(agent) {
    // The icon to delete has no name anywhere: it is the one that is not called Edit.
    await agent.click({ role: 'button', near: 'Call Tom', nth: 1, only: (entry) => !/edit/i.test(entry.text) });
  },

  async toolbar(agent) {
    // The words are only in the classes of the icons; without them, the agent tries one after the other.
    const named = await agent.maybe({ role: ['clickable', 'generic', 'img', 'image'], name: /save/i });
    if (named) return agent.click(named);
    for (const icon of await agent.all({ role: ['clickable', 'generic', 'img', 'image'], only: isNameless })) {
      await agent.click(icon, { look: true });
      if (await agent.has('Solved')) return null;
    }
    return null;
  },
};
