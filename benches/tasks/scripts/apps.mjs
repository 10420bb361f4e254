// Small applications: mail, chat, shop, lists, calendars.

import { BUTTON, LINK } from './roles.mjs';

export const TASKS = {
  async mail(agent) {
    await agent.click({ role: ['clickable', 'generic'], name: /Contract/ }, { look: true });
    const [address] = await agent.read(/\w+@example\.org/);
    await agent.click({ role: 'button', name: 'Forward' }, { look: true });
    await agent.fill({ role: 'textbox', name: 'To' }, address);
    await agent.click({ role: 'button', name: 'Send' });
  },

  async chat(agent) {
    await agent.fill({ role: 'textbox', name: 'Message' }, '5512');
    await agent.press('Enter', { look: true });
    await agent.waitFor('Please repeat');
    const [, code] = await agent.read(/repeat the number (\d{3})/);
    await agent.fill({ role: 'textbox', name: 'Message' }, code);
    await agent.press('Enter');
  },

  async cart(agent) {
    await agent.click({ role: 'button', name: 'Add to cart', near: 'Chair' });
    await agent.click({ role: 'button', name: 'Add to cart', near: 'Rug' });
    await agent.click({ role: LINK, name: 'Go to cart' }, { look: true });
    await agent.fill({ role: 'spinbutton', name: 'Amount', near: 'Chair' }, '4');
    await agent.click({ role: 'button', name: 'Place order' });
  },

  async todo(agent) {
    await agent.fill({ role: 'textbox', name: 'What needs to be done?' }, 'Buy bread');
    await agent.press('Enter');
    // Enter makes the list anew.
    await agent.click({ role: 'checkbox', near: 'Pay rent', before: true, fresh: true });
    await agent.click({ role: BUTTON, name: 'Clear completed' });
  },

  async week(agent) {
    await agent.click({ role: ['cell', 'gridcell', 'clickable'], near: '11:00', nth: 2, only: (entry) => entry.text === '' }, { look: true });
    await agent.fill({ role: 'textbox', name: 'Title' }, 'Dentist');
    await agent.click({ role: 'button', name: 'Save' });
  },

  async spinner(agent) {
    await agent.click({ role: 'button', name: 'Run report' }, { look: true });
    await agent.click({ role: 'button', name: 'Approve' });
  },
};
