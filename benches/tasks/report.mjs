// Prints the results of the task bench side by side.

/** Prints one line per task and the totals: of all tasks, and of the tasks that every tool solved. */
export function printTable(results, print) {
  const tools = [...new Set(results.map(({ tool }) => tool))];
  const tasks = [...new Set(results.map(({ task }) => task))];
  const find = (task, tool) => results.find((result) => result.task === task && result.tool === tool);
  const width = Math.max(24, ...tasks.map((task) => task.length)) + 1;
  const line = (label, cells) => print(label.padEnd(width) + cells.map((cell) => cell.padStart(22)).join(''));
  line('task (calls, bytes)', tools);
  for (const task of tasks) line(task, tools.map((tool) => cell(find(task, tool))));
  line('solved', tools.map((tool) => `${results.filter((each) => each.tool === tool && each.solved).length} of ${tasks.length}`));
  line('all tasks', tools.map((tool) => sum(results.filter((each) => each.tool === tool))));
  const solvedByAll = tasks.filter((task) => tools.every((tool) => find(task, tool)?.solved));
  line(`solved by all (${solvedByAll.length})`, tools.map((tool) => sum(solvedByAll.map((task) => find(task, tool)))));
  for (const other of tools.slice(1)) {
    const both = tasks.filter((task) => find(task, tools[0]).solved && find(task, other).solved);
    const total = (tool, key) => both.reduce((all, task) => all + find(task, tool)[key], 0);
    const percent = (key) => `${((total(tools[0], key) / total(other, key) - 1) * 100).toFixed(1)} %`;
    // One long page can dominate the sum, so the median of the tasks is printed too.
    const ratios = both.map((task) => find(task, tools[0]).bytes / find(task, other).bytes).sort((a, b) => a - b);
    const median = `${((ratios[Math.floor(ratios.length / 2)] - 1) * 100).toFixed(1)} %`;
    print(`${tools[0]} beside ${other}, ${both.length} tasks that both solve: calls ${percent('calls')}, bytes ${percent('bytes')}, bytes of the median task ${median}`);
  }
}

/** A star marks elements that had no ref and were named by their text. */
function cell({ solved, calls, bytes, textTargets }) {
  return `${solved ? '' : 'FAILED '}${textTargets ? '*' : ''}${calls} ${bytes}`;
}

function sum(results) {
  return `${results.reduce((all, { calls }) => all + calls, 0)} ${results.reduce((all, { bytes }) => all + bytes, 0)}`;
}
