// Frames that one side does not know, as after an upgrade in place: the process that runs functions
// ends and says so, and so does its supervisor. No call is left waiting.

import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import type { Readable, Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import {
  FrameBatch,
  unknownToSupervisor,
} from '../../../../../../src/wings/calls/functions/child/frames.ts';
import { releaseHere } from '../../../../../../src/wings/calls/functions/release.ts';
import { capture } from '../../../../../../src/wings/calls/functions/serialization/values.ts';
import { startChild } from '../support/child.ts';

/** An end that never comes is a failure, not a wait. */
const LIMIT = { timeout: 90_000 };
const OURS = releaseHere();
const ADVICE = 'an upgrade in place needs a new worker';

const CHILDREN = {
  Node: [process.execPath, placeOf('bin/weft-child.cjs')],
  Python: ['python3', placeOf('python/src/weft/_worker.py')],
};
const isPythonHere = spawnSync('python3', ['--version']).status === 0;

function placeOf(file: string): string {
  return fileURLToPath(new URL(`../../../../../../${file}`, import.meta.url));
}

/** How a process ends that is given one frame of this kind by a worker of this release. */
async function given(command: readonly string[], kind: number, release?: string) {
  const [program = '', ...args] = command;
  const options = JSON.stringify({ scratch: tmpdir(), callsMax: 0, bytesMax: 0, release });
  const child = spawn(program, [...args, options], {
    stdio: ['ignore', 'ignore', 'pipe', 'pipe', 'pipe'],
  });
  const [, , stderr, calls, results] = child.stdio as [null, null, Readable, Writable, Readable];
  // The process may be gone before it has read all.
  for (const pipe of [calls, results]) pipe.on('error', () => undefined);
  results.resume();
  const batch = new FrameBatch();
  batch.add({ kind, a: 1 }, Buffer.from('whatever'));
  for (const part of batch.take()) calls.write(part);
  const [words, [code]] = await Promise.all([text(stderr), once(child, 'exit')]);
  return { words, code };
}

for (const [runtime, command] of Object.entries(CHILDREN)) {
  const options = { ...LIMIT, skip: runtime === 'Python' && !isPythonHere && 'no python3 here' };
  test(
    `[C23] a process for ${runtime} refuses a frame that it does not know`,
    options,
    async () => {
      const unknown = await given(command, 77, 'weft 9.9.9');
      assert.equal(unknown.code, 70);
      const words = `weft: this process, of ${OURS}, does not know frame 77 of its worker, of weft 9.9.9`;
      assert.equal(unknown.words, `${words}; ${ADVICE}\n`);
      const former = await given(command, 8);
      assert.equal(former.code, 70);
      assert.match(former.words, /frame 8 \(held\) of its worker, of an earlier weft;/);
    },
  );
}

test('[C23] a supervisor refuses a frame that it does not know', LIMIT, async () => {
  await using world = await startChild();
  const speak = capture(async () => {
    const head = Buffer.alloc(9);
    head[4] = 77;
    writeSync(4, head);
    await new Promise(() => setInterval(() => undefined, 1000));
  });
  assert.equal(await world.send(speak).end, 'started and lost');
  assert.match(await world.died, /^It wrote a frame of kind 77 into file descriptor 4/);
});

test('[C23] a supervisor names both releases where they differ', () => {
  assert.equal(
    unknownToSupervisor(77, 'weft 9.9.9', 'weft 1.0.0'),
    `a frame of kind 77 (the process is of weft 9.9.9, its worker of weft 1.0.0; ${ADVICE})`,
  );
});
