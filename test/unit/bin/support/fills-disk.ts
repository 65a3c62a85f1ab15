// Run on a small file system of its own, which is its temporary directory: a head serves there, the
// disk is filled, and what still works is printed as one line of JSON for the test to judge.

import { closeSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { HeadDirectory } from '../../../support/head-process.ts';
import { type Call, CallError } from '../../../support/local-client.ts';

const NODE = {
  name: 'n1',
  resources: { cpuCount: 4, memoryBytes: 2 ** 32, gpuCount: 0, counted: {} },
  labels: [],
  replace: true,
};
const BALLAST = join(tmpdir(), 'ballast');
const WAIT_MS_MAX = 60_000;
const SUBMISSIONS_MAX = 20_000;

function fillUp(): void {
  const file = openSync(BALLAST, 'a');
  try {
    for (let bytes = 1_048_576; bytes >= 512; bytes /= 2) {
      const piece = Buffer.alloc(bytes, 'x');
      while (writes(file, piece));
    }
  } finally {
    closeSync(file);
  }
}

function writes(file: number, piece: Buffer): boolean {
  try {
    return writeSync(file, piece) === piece.length;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOSPC') return false;
    throw error;
  }
}

const submit = (call: Call) =>
  call<{ jobId: number }>('POST', '/v1/jobs', {
    program: { kind: 'script', text: `#!/bin/sh\n# ${'x'.repeat(20_000)}\n`, args: [] },
  });

/** The error's text, or null when it was accepted. */
async function refusal(work: Promise<unknown>): Promise<string | null> {
  try {
    await work;
    return null;
  } catch (error) {
    if (error instanceof CallError && error.code === 'store.unavailable') return error.message;
    throw error;
  }
}

async function until(what: string, test: () => Promise<boolean>): Promise<void> {
  const until = performance.now() + WAIT_MS_MAX;
  while (!(await test())) {
    if (performance.now() > until) throw new Error(`not within a minute: ${what}`);
    await sleep(50);
  }
}

const stateOf = async (call: Call, id: number) =>
  (await call<{ state: string }>('GET', `/v1/jobs/${id}`)).state;
const cancels = async (call: Call, id: number) =>
  (await refusal(call('POST', `/v1/jobs/${id}/cancel`))) === null;

const head = new HeadDirectory({ after: () => undefined });
try {
  const { call } = await head.serve();
  await call('POST', '/v1/nodes', NODE);
  for (let count = 0; count < 3; count += 1) await submit(call);
  fillUp();
  let refused: string | null = null;
  for (let count = 0; refused === null && count < SUBMISSIONS_MAX; count += 1) {
    refused = await refusal(submit(call));
  }
  await until(
    'the list can be read',
    async () => (await refusal(call('GET', '/v1/jobs'))) === null,
  );
  await until('job 1 is cancelled', () => cancels(call, 1));
  const cancelled = await stateOf(call, 1);
  const inShortage = await refusal(submit(call));

  await head.end('SIGKILL');
  const again = (await head.serve()).call;
  await until('job 2 is cancelled', () => cancels(again, 2));
  const afterRestart = [await stateOf(again, 1), await stateOf(again, 2), await stateOf(again, 3)];
  const stillShort = await refusal(submit(again));
  const { words } = await again<{ words: string }>('GET', '/v1/jobs/3/why');
  const { obstacle } = await again<{ obstacle: string | null }>('GET', '/v1/info');
  // Another program takes what the reserve has given up: there is nothing left to write with.
  fillUp();
  await refusal(again('POST', '/v1/jobs/3/hold'));
  await until(
    'the list can be read',
    async () => (await refusal(again('GET', '/v1/jobs'))) === null,
  );

  rmSync(BALLAST);
  await until('jobs are accepted', async () => (await refusal(submit(again))) === null);
  const after = (await again<{ obstacle: string | null }>('GET', '/v1/info')).obstacle;
  const told = { words, obstacle, after };
  console.log(JSON.stringify({ refused, cancelled, inShortage, afterRestart, stillShort, told }));
} finally {
  await head.close();
}
