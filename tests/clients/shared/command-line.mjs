// Reads `--name value` arguments and reports missing ones.

export function readArguments(defaults, required = []) {
  const values = { ...defaults };
  const words = process.argv.slice(2);
  for (let index = 0; index < words.length; index += 2) {
    const name = words[index].replace(/^--/, '');
    if (!words[index].startsWith('--') || words[index + 1] === undefined) {
      throw new Error(`expected --name value, got ${words[index]}`);
    }
    if (!(name in defaults) && !required.includes(name)) throw new Error(`unknown argument --${name}`);
    values[name] = words[index + 1];
  }
  for (const name of required) {
    if (values[name] === undefined) throw new Error(`--${name} is required`);
  }
  return values;
}
