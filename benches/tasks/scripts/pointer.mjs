// The pointer: drags, drawings, double clicks, scrolling.

import { BUTTON } from './roles.mjs';

const CARD = ['clickable', 'generic', 'listitem', 'draggable'];

export const TASKS = {
  async drag_board(agent) {
    await agent.drag({ role: CARD, name: 'Fix login' }, { role: ['region', 'heading', 'h2'], name: 'Done' });
  },

  async sortable(agent) {
    await agent.drag({ role: CARD, name: 'Dawn' }, { role: CARD, name: 'Morning' });
  },

  async slider_handle(agent) {
    await agent.dragBy({ role: 'slider', name: 'Highest price' }, [120, 0]);
    await agent.click({ role: BUTTON, name: 'Apply' });
  },

  async canvas_click(agent) {
    await agent.click({ role: ['Canvas', 'canvas', 'img', 'image', 'generic', 'clickable'], name: 'Map' }, { at: [220, 90] });
  },

  async signature(agent) {
    await agent.dragBy({ role: ['Canvas', 'canvas', 'img', 'image', 'generic', 'clickable'], name: 'Signature' }, [120, 20]);
    await agent.click({ role: BUTTON, name: 'Send contract' });
  },

  async double_click(agent) {
    await agent.dblclick({ role: ['cell', 'gridcell', 'clickable', 'generic'], name: '5' }, { look: true });
    await agent.fill({ role: 'textbox' }, '6');
    await agent.press('Enter');
  },

  async scroll_terms(agent) {
    await agent.scroll({ role: ['region', 'generic', 'clickable'], name: 'Terms' });
    await agent.click({ role: BUTTON, name: 'I agree' });
  },
};
