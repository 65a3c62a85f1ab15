// The types of the library: what programs may write, and what the compiler must refuse. The checks are
// the compiler's; what runs here are those functions that need no cluster.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type Cluster,
  type ErrorKind,
  type Job,
  JobFailed,
  type JobInfo,
  type JobOptions,
  type Pool,
  type RunResult,
  type Shared,
  WeftError,
} from '../../../../src/kernel/sdk/index.ts';

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

declare function over(x: number): number;
declare function over(x: string): string[];
declare function identity<T>(x: T): T;
declare function open(at: number, by?: string): Date;

/** Never called: functions on pools, their arguments and results. */
export async function compilesOnPools(pool: Pool, grid: Shared<Map<string, number>>) {
  same<Awaited<ReturnType<typeof one>>, number>(true);
  const one = () => pool.run((x) => x + 1, 3);
  const two = await pool.run((x, y) => x.toUpperCase() + y.a.toFixed(), 'a', { a: 1 });
  same<typeof two, string>(true);
  const number = await pool.run(over, 1);
  same<typeof number, number>(true);
  const texts = await pool.submit(over, 'x');
  same<typeof texts, string[]>(true);
  const generic: number = await pool.run(identity, 5);
  const some = await pool.run(open, generic);
  same<typeof some, Date>(true);
  const size = await pool.run(async (m: Map<string, number>) => m.size, grid);
  same<typeof size, number>(true);
  for await (const text of pool.map((x) => String(x), [1, 2])) same<typeof text, string>(true);
  for await (const value of pool.map<number, Date>({ module: 'x.ts' }, [1]))
    same<typeof value, Date>(true);
  // @ts-expect-error -- a text is no number
  await pool.run((x: number) => x, 'a');
  // @ts-expect-error -- an argument is missing
  await pool.run((x: number) => x);
  // @ts-expect-error -- nothing takes a second one
  await pool.run((x: number) => x, 1, 2);
  // @ts-expect-error -- there is no such way to call it
  await pool.run(over, true);
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
