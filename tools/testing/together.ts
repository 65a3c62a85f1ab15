// Runs test files in one process, one after the other, and sends what Node's runner says of them to
// the process that started this one, as plain JSON.
//   node tools/testing/together.ts PATTERN FILE...      an empty pattern selects every title

import { run } from 'node:test';
import { explain, type Told } from './count-tests.ts';

const [pattern = '', ...files] = process.argv.slice(2);
const stream = run({
  isolation: 'none',
  files,
  ...(pattern === '' ? {} : { testNamePatterns: new RegExp(pattern) }),
});
for await (const event of stream) {
  if (event.type === 'test:pass') send(event);
  else if (event.type === 'test:summary') send(event);
  else if (event.type === 'test:fail') {
    const { details, ...data } = event.data;
    // Of an error only its text would arrive.
    const { error } = details;
    const failureType = 'failureType' in error ? error.failureType : undefined;
    const told = { failureType, cause: explain(error) };
    send({ type: event.type, data: { ...data, details: { ...details, error: told } } });
  }
}
process.disconnect?.();

function send(word: Told): void {
  process.send?.(word);
}
