// Forms: text fields, validation, logins, choices.

import { BUTTON, isNameless } from './roles.mjs';

export const TASKS = {
  async contact(agent) {
    await agent.fillForm([
      [{ role: 'textbox', name: 'Your name' }, 'Anna Berg'],
      [{ role: 'textbox', name: 'Email' }, 'anna@example.org'],
      [{ role: 'textbox', name: 'Message' }, 'Where is my invoice?'],
      [{ role: 'combobox', name: 'Subject' }, 'Billing'],
      [{ role: 'checkbox', name: 'Send me a copy' }, true],
    ]);
    await agent.click({ role: BUTTON, name: 'Send message' });
  },

  async validation(agent) {
    await agent.fillForm([[{ name: 'User name' }, 'anna'], [{ name: 'Postal code' }, '12345']]);
    await agent.click({ role: BUTTON, name: 'Create account' }, { look: true });
    await agent.read(/needs at least 8 characters/);
    const [, code] = await agent.read(/did you mean (\d+)/);
    await agent.fillForm([[{ name: 'User name' }, 'annaberg1'], [{ name: 'Postal code' }, code]]);
    await agent.click({ role: BUTTON, name: 'Create account' });
  },

  async login(agent) {
    await agent.fillForm([[{ name: 'Email' }, 'anna@example.org'], [{ name: 'Password' }, 'correct horse']]);
    await agent.click({ role: BUTTON, name: 'Sign in' }, { look: true });
    const [, code] = await agent.read(/your code is (\d{6})/);
    await agent.type({ name: 'Digit 1' }, code);
    await agent.click({ role: BUTTON, name: 'Verify' });
  },

  async choices(agent) {
    await agent.click({ role: 'radio', name: 'Large', near: 'Size' });
    await agent.click({ role: 'radio', name: 'Pick up' });
    await agent.select({ role: 'listbox', name: 'Toppings' }, ['Olives', 'Mushrooms']);
    await agent.click({ role: BUTTON, name: 'Order' });
  },

  async custom_boxes(agent) {
    await agent.check({ role: ['checkbox', 'generic', 'clickable'], name: 'Email me about replies' });
    await agent.check({ role: ['checkbox', 'generic', 'clickable'], name: 'Weekly summary' }, false);
    await agent.click({ role: ['clickable', 'generic'], near: 'Dark mode', only: isNameless });
    await agent.click({ role: BUTTON, name: 'Save' });
  },

  async number_keys(agent) {
    await agent.fill({ name: 'Quantity' }, '42', { look: true });
    // The page ignores a value that was not typed: the total says so.
    const [, total] = await agent.read(/Total:\s*"?(\d+)/, { fresh: true });
    if (total !== '126') {
      await agent.fill({ name: 'Quantity' }, '');
      await agent.type({ name: 'Quantity' }, '42', { look: true });
    }
    const [, after] = await agent.read(/Total:\s*"?(\d+)/, { fresh: true });
    if (after !== '126') await agent.press(['Backspace', 'Backspace', '4', '2'], { on: { name: 'Quantity' } });
    await agent.click({ role: BUTTON, name: 'Buy' });
  },

  async upload(agent) {
    await agent.upload({ role: ['button', 'clickable', 'generic'], name: /Choose (document|File)/ }, 'report.txt');
    await agent.click({ role: BUTTON, name: 'Send' });
  },

  async wizard(agent) {
    await agent.fillForm([[{ name: 'Destination' }, 'Iceland'], [{ name: 'Travellers' }, '3']]);
    await agent.click({ role: BUTTON, name: 'Next' }, { look: true });
    await agent.click({ role: 'radio', name: 'Full' });
    await agent.click({ role: BUTTON, name: 'Next' }, { look: true });
    await agent.click({ role: 'checkbox', name: 'I accept the terms' });
    await agent.click({ role: BUTTON, name: 'Buy' });
  },
};
