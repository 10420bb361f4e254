// Overlays: banners, modals, dialogs, toasts, popovers, tooltips.

import { BUTTON } from './roles.mjs';

export const TASKS = {
  async cookie_banner(agent) {
    await agent.click({ role: BUTTON, name: 'Reject all' });
    await agent.click({ role: BUTTON, name: 'Subscribe' });
  },

  async modal(agent) {
    await agent.click({ role: 'button', name: 'Edit', near: 'Ben' }, { look: true });
    await agent.fill({ role: 'textbox', name: 'Role' }, 'Editor');
    await agent.click({ role: 'button', name: 'Save' });
  },

  async toast(agent) {
    await agent.click({ role: 'button', name: 'Create voucher' }, { look: true });
    let [found] = await agent.tryRead(/V-\d{4}/);
    for (let again = 0; !found && again < 2; again += 1) {
      // The message may come a moment later, or be gone already.
      await agent.click({ role: 'button', name: 'Create voucher' });
      if (!(await agent.waitsFor('Your voucher is'))) continue;
      [found] = await agent.tryRead(/V-\d{4}/, { fresh: true });
    }
    await agent.fill({ role: 'textbox', name: 'Voucher code' }, found ?? '');
    await agent.click({ role: 'button', name: 'Redeem' });
  },

  async confirm(agent) {
    await agent.click({ role: 'button', name: 'Delete account' });
    await agent.dialog(true);
  },

  async prompt(agent) {
    await agent.click({ role: 'button', name: 'New column' });
    await agent.dialog(true, { text: 'Review' });
    await agent.dialogIfReported(true);
  },

  async popover(agent) {
    await agent.click({ role: 'button', name: 'About the total' }, { look: true });
    const [code] = await agent.read(/D\d{3}\b/);
    await agent.fill({ role: 'textbox', name: 'Discount code' }, code);
    await agent.click({ role: 'button', name: 'Pay' });
  },

  async tooltip(agent) {
    await agent.hover({ role: ['clickable', 'generic', 'listitem'], name: 'beta' }, { look: true });
    const [seen] = await agent.tryRead(/10\.0\.1\.\d+/);
    // The tooltip comes a moment after the pointer.
    if (!seen && !(await agent.waitsFor('Address 10'))) {
      // The ref means more than the name, and its middle is elsewhere.
      await agent.hover(agent.text('beta'));
      await agent.waitsFor('Address 10');
    }
    const [address] = await agent.read(/10\.0\.1\.\d+/, { fresh: true });
    await agent.fill({ role: 'textbox', name: 'Address of beta' }, address);
    await agent.click({ role: 'button', name: 'Save' });
  },
};
