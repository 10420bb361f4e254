// Documents: editors, shortcuts, the clipboard, copying between pages.

import { BUTTON, LINK } from './roles.mjs';

export const TASKS = {
  async editor(agent) {
    await agent.fill({ role: ['textbox', 'generic'], name: 'Letter text' }, 'Dear Ben, see you soon', { look: true });
    if (await agent.has('Dear Tom')) {
      // The old text is still there: it is selected and typed over.
      await agent.press('Control+a');
      await agent.type(null, 'Dear Ben, see you soon');
    }
    await agent.press('Control+a');
    await agent.click({ role: 'button', name: 'B' });
    await agent.click({ role: BUTTON, name: 'Send' });
  },

  async shortcuts(agent) {
    await agent.press(['j', 'x', 'Control+s']);
  },

  async clipboard(agent) {
    await agent.click({ role: 'button', name: 'Copy key' });
    await agent.paste({ role: 'textbox', name: 'Paste the key here' });
    await agent.click({ role: 'button', name: 'Check' });
  },

  async copy_between(agent) {
    await agent.click({ role: LINK, name: 'account page' }, { look: true });
    const [number] = await agent.read(/DE\d{8}/);
    await agent.click({ role: LINK, name: 'Back to the customer' }, { look: true });
    await agent.fill({ role: 'textbox', name: 'Account number' }, number);
    await agent.click({ role: 'button', name: 'Save' });
  },
};
