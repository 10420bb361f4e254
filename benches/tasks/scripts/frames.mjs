// Frames, shadow roots, tabs and popups.

import { BUTTON, LINK } from './roles.mjs';

export const TASKS = {
  async payment(agent) {
    await agent.fillForm([[{ role: 'textbox', name: 'Card number' }, '4111111111111111'], [{ role: 'textbox', name: 'Expires' }, '12/34']]);
    await agent.click({ role: BUTTON, name: 'Pay now' });
  },

  async nested(agent) {
    await agent.click({ role: 'radio', name: 'Blue' });
    await agent.click({ role: BUTTON, name: 'Vote' });
  },

  async shadow(agent) {
    await agent.fill({ role: 'textbox', name: 'Email' }, 'anna@example.org');
    await agent.click({ role: BUTTON, name: 'Sign up' });
  },

  async closed_shadow(agent) {
    await agent.click({ role: BUTTON, name: 'Subtitles' });
  },

  async new_tab(agent) {
    await agent.click({ role: LINK, name: 'notice board' });
    await agent.selectTab(/new_tab_code/);
    const [, code] = await agent.read(/Code of the day:\s*"?(\d{4})/);
    await agent.selectTab(/new_tab\.html/);
    await agent.fill({ role: 'textbox', name: 'Code' }, code);
    await agent.click({ role: BUTTON, name: 'Enter' });
  },

  async popup(agent) {
    await agent.click({ role: BUTTON, name: 'Continue with Example ID' });
    await agent.selectTab(/popup_consent/);
    await agent.click({ role: BUTTON, name: 'Allow' });
  },
};
