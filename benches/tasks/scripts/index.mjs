// All tasks, in the order of the report.

import { TASKS as forms } from './forms.mjs';

const GROUPS = { forms };

export const TASKS = Object.entries(GROUPS).flatMap(([group, tasks]) =>
  Object.entries(tasks).map(([name, run]) => ({ name: `${group}/${name}`, run })));
