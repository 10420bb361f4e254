// All tasks, in the order of the report.

import { TASKS as apps } from './apps.mjs';
import { TASKS as documents } from './documents.mjs';
import { TASKS as forms } from './forms.mjs';
import { TASKS as frames } from './frames.mjs';
import { TASKS as lists } from './lists.mjs';
import { TASKS as menus } from './menus.mjs';
import { TASKS as overlays } from './overlays.mjs';
import { TASKS as pickers } from './pickers.mjs';
import { TASKS as pointer } from './pointer.mjs';

const GROUPS = { forms, pickers, lists, menus, overlays, pointer, documents, frames, apps };

export const TASKS = Object.entries(GROUPS).flatMap(([group, tasks]) =>
  Object.entries(tasks).map(([name, run]) => ({ name: `${group}/${name}`, run })));
