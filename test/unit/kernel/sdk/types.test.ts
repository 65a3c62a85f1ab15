// The types of the library: what programs may write, and what the compiler must refuse. The checks
// are the compiler's; what runs here are those functions that need no cluster.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Cluster, RunResult } from '../../../../src/kernel/sdk/cluster.ts';
import { type ErrorKind, JobFailed, WeftError } from '../../../../src/kernel/sdk/errors.ts';
import type { Job } from '../../../../src/kernel/sdk/job.ts';
import type { JobOptions } from '../../../../src/kernel/sdk/job-options.ts';
import type { JobInfo } from '../../../../src/kernel/sdk/views.ts';

type Equal<A, B> =
  (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;

/** Compiles only when the two are one type. */
function same<A, B>(_: Equal<A, B>): void {}

/** Never called: the compiler reads it. */
export async function compiles(cluster: Cluster, job: Job): Promise<void> {
  same<Awaited<ReturnType<Cluster['submit']>>, Job>(true);
  same<Awaited<ReturnType<Cluster['run']>>, RunResult>(true);
  const one = await cluster.wait(job);
  same<typeof one, JobInfo>(true);
  const several = await cluster.wait([job, 42, '42[7]']);
  same<typeof several, readonly JobInfo[]>(true);
  for await (const piece of job.logs({ follow: true })) same<typeof piece, Uint8Array>(true);
  for await (const event of cluster.events({ kinds: ['job_done'] })) {
    same<typeof event.kind, string>(true);
    same<(typeof event)['anything'], unknown>(true);
  }
  same<JobOptions['time'], number | string | undefined>(true);
  await cluster.submit({ script: '#!/bin/sh\ntrue\n', args: ['x'] }, { after: [job, '42:any'] });
  // @ts-expect-error -- the options have no such name
  await cluster.submit('true', { cpu: 1 });
  // @ts-expect-error -- a number of cpus is no text
  await cluster.submit('true', { cpus: '1' });
  // @ts-expect-error -- a job is no number of itself
  await cluster.wait({ number: 42 });
  // @ts-expect-error -- states come from a closed list
  cluster.jobs({ state: 'ready' });
  // @ts-expect-error -- what was told is not to be changed
  one.name = 'x';
}

test('kinds of errors are those of the head', () => {
  const error = new WeftError({
    code: 'x.y',
    kind: 'unavailable',
    message: 'Gone.',
    hint: 'Wait.',
  });
  same<typeof error.kind, ErrorKind>(true);
  assert.deepEqual([error.name, error.message, error.hint], ['WeftError', 'Gone. Wait.', 'Wait.']);
  assert.ok(error instanceof Error && !(error instanceof JobFailed));
});
