// All tasks, in the order of the report.

import { TASKS as forms } from './forms.mjs';
import { TASKS as pickers } from './pickers.mjs';

const GROUPS = { forms, pickers };

export const TASKS = Object.entries(GROUPS).flatMap(([group, tasks]) =>
  Object.entries(tasks).map(([name, run]) => ({ name: `${group}/${name}`, run })));
