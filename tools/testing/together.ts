// Runs test files in one process, one after the other, and sends what Node's runner says of them to
// the process that started this one, as plain JSON.
//   node tools/testing/together.ts PATTERN FILE...      an empty pattern selects every title

import path from 'node:path';
import { run } from 'node:test';
import { pathToFileURL } from 'node:url';
import { explain, type Told } from './count-tests.ts';

/** Words of the runner about an error that a test left behind, with the place of the test. */
const LEFT_BEHIND = /^Error: (?:Test(?: hook)? ".*" at (.+?):\d+:\d+|A resource) generated /s;

const [pattern = '', ...files] = process.argv.slice(2);
/** Files of which the runner itself has said that they cannot be loaded. */
const unloaded = new Set<string>();
const stream = run({
  isolation: 'none',
  files,
  ...(pattern === '' ? {} : { testNamePatterns: new RegExp(pattern) }),
});
for await (const event of stream) {
  if (event.type === 'test:pass') send(event);
  else if (event.type === 'test:summary') {
    await tellHalfLoaded();
    send(event);
  } else if (event.type === 'test:diagnostic') tellLeftBehind(event.data.message);
  else if (event.type === 'test:fail') {
    const { details, ...data } = event.data;
    if (data.name === data.file) unloaded.add(data.name);
    // Of an error only its text would arrive.
    const { error } = details;
    const failureType = 'failureType' in error ? error.failureType : undefined;
    const told = { failureType, cause: explain(error) };
    send({ type: event.type, data: { ...data, details: { ...details, error: told } } });
  }
}
process.disconnect?.();

/**
 * The runner keeps silent about a file that throws after its first test. Whoever imports such a
 * file again is told what it threw.
 */
async function tellHalfLoaded(): Promise<void> {
  for (const file of files.filter((one) => !unloaded.has(one))) {
    await import(pathToFileURL(file).href).catch((error: Error) => {
      sendFailure('loads to its end', explain(error), file);
    });
  }
}

/** The runner fails as a whole by such an error, and says only here which test it was. */
function tellLeftBehind(message: string): void {
  const found = LEFT_BEHIND.exec(message);
  if (found === null) return;
  const place = found[1] === undefined ? undefined : path.resolve(found[1]);
  const file = files.find((one) => one === place);
  sendFailure('leaves no error behind', message, file);
}

/** Sends what no test failed by; without a file where nobody knows which. */
function sendFailure(name: string, cause: string, file: string | undefined): void {
  const place = file === undefined ? {} : { file };
  const details = { duration_ms: 0, error: { cause } };
  send({ type: 'test:fail', data: { name, nesting: 0, ...place, details } });
}

function send(word: Told): void {
  process.send?.(word);
}
