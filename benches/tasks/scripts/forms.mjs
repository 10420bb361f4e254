// Forms: text fields, validation, logins, choices.

const BUTTON = ['button', 'clickable', 'link', 'generic'];

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
};
