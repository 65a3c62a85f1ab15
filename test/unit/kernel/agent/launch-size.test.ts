// The limits of a launch: what the head accepts, the launcher's frame can carry.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { environmentOfProcess } from '../../../../src/kernel/agent/environment.ts';
import { RequestWriter } from '../../../../src/kernel/agent/launcher-wire.ts';
import { launchTooLarge } from '../../../../src/kernel/machine/jobs/program.ts';
import type { Refusal } from '../../../../src/kernel/model/errors.ts';
import {
  LAUNCH_BYTES_MAX,
  LAUNCH_BYTES_PER_NODE_MAX,
  LAUNCH_STRING_BYTES_MAX,
} from '../../../../src/kernel/model/limits.ts';

const TRUE = { kind: 'argv', argv: ['true'] } as const;
const POINTER_BYTES = 8;

/** An environment that is, with `true` for a command, exactly so large as it is counted. */
function environmentOf(bytes: number): Record<string, string> {
  const variables: Record<string, string> = {};
  let left = bytes - 'true '.length - POINTER_BYTES;
  for (let at = 10; left > 0; at += 1) {
    const size = Math.min(100_000, left);
    variables[`V${at}`] = 'x'.repeat(size - 'V10= '.length - POINTER_BYTES);
    left -= size;
  }
  return variables;
}

function what(refusal: Refusal | null): string | null {
  return refusal?.details['what'] ?? null;
}

test('[J4] an argument or a variable has the length that Linux takes, and not one byte more', () => {
  const most = LAUNCH_STRING_BYTES_MAX - 1;
  const argv = (length: number) => ({ kind: 'argv', argv: ['echo', 'x'.repeat(length)] }) as const;
  assert.equal(launchTooLarge(argv(most), {}, 1), null);
  assert.equal(what(launchTooLarge(argv(most + 1), {}, 1)), 'an argument of the command');
  const line = { kind: 'shell', line: 'é'.repeat(most / 2 + 1) } as const;
  assert.equal(launchTooLarge(line, {}, 1)?.code, 'launch.too_large');
  const value = 'x'.repeat(most - 'BIG='.length);
  assert.equal(launchTooLarge(TRUE, { BIG: value }, 1), null);
  assert.equal(what(launchTooLarge(TRUE, { BIG: `${value}x` }, 1)), 'the environment variable BIG');
});

test('[J4] a script is a file on the node and may be longer than an argument', () => {
  const text = 'x'.repeat(LAUNCH_STRING_BYTES_MAX + 1);
  assert.equal(launchTooLarge({ kind: 'script', text, args: [] }, {}, 1), null);
});

test('[J4] the largest environment that is accepted fits a frame with all that the node adds', () => {
  assert.equal(launchTooLarge(TRUE, environmentOf(LAUNCH_BYTES_MAX), 1), null);
  const over = launchTooLarge(TRUE, environmentOf(LAUNCH_BYTES_MAX + 1), 1);
  assert.deepEqual(
    [over?.details['what'], over?.details['limit']],
    ['arguments and environment', '768K'],
  );
  const environment = Object.entries(environmentOf(LAUNCH_BYTES_MAX)).map(([n, v]) => `${n}=${v}`);
  const nodelist = `WEFT_NODELIST=${'n'.repeat(LAUNCH_STRING_BYTES_MAX - 15)}`;
  const path = `/${'p'.repeat(4094)}`;
  const written = new RequestWriter().spawn({
    id: 1,
    append: false,
    byUmask: false,
    nice: 0,
    umask: 0,
    limits: [],
    makeParents: true,
    leaseMs: 1000,
    setIds: { uid: 1, gid: 1, groups: Array.from({ length: 1000 }, (_, at) => at) },
    argv: TRUE.argv,
    environment: environmentOfProcess(
      { common: [...environment, nodelist], ofRank: () => [], ofProcesses: new Set() },
      4095,
      'x'.repeat(200),
    ),
    cwd: path,
    stdin: path,
    stdout: path,
    stderr: path,
    cgroupProcs: [path, path, path],
  });
  assert.ok(written);
});

test('[J4] many processes with a large environment each are bounded by what a node must hold', () => {
  const each = LAUNCH_BYTES_PER_NODE_MAX / 4096;
  assert.equal(launchTooLarge(TRUE, environmentOf(each), 4096), null);
  const over = launchTooLarge(TRUE, environmentOf(each + 1), 4096);
  assert.equal(what(over), 'arguments and environment of 4096 processes on one node');
  assert.match(over?.hint ?? '', /--clean-env/);
});
