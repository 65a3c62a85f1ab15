// Standard input as processes really have it: Node and sshd give their children sockets.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';

const INPUT = new URL('../../../src/bin/input.ts', import.meta.url).href;

/** What a process says of the input it has, once that is there. */
function seenOf(input: string): unknown {
  const script = `import { standardInput as it } from '${INPUT}';
    while (${input !== ''} && !it.isReady());
    console.log(JSON.stringify([it.kind, it.isReady(), it.hasBytes()]));`;
  const child = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
    input,
    encoding: 'utf8',
    timeout: 60_000,
  });
  assert.equal(child.status, 0, child.stderr);
  return JSON.parse(child.stdout);
}

test('a socket that ended without a byte has none', () => {
  assert.deepEqual(seenOf(''), ['pipe', false, false]);
  assert.deepEqual(seenOf('x'), ['pipe', true, true]);
});
