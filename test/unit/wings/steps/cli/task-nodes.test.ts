// All nodes of a task on more of them than a job is shown with.

import assert from 'node:assert/strict';
import { duplexPair } from 'node:stream';
import { test } from 'node:test';
import type { Context } from '../../../../../src/kernel/cli/context.ts';
import type { Api } from '../../../../../src/kernel/connect/api.ts';
import type { Submission } from '../../../../../src/kernel/model/submission.ts';
import { runInJob } from '../../../../../src/wings/slurm/cli/asked-step.ts';
import { withAllocation } from '../../../../../src/wings/steps/cli/allocation.ts';
import { asPmix } from '../../../../../src/wings/steps/cli/pmix-step.ts';

const NODES = Array.from({ length: 150 }, (_, at) => `n${at}`);
const SHOWN = NODES.slice(0, 100);

const WISH = {
  argv: ['./a.out'],
  count: 150,
  perNode: false,
  directory: undefined,
  environment: {},
  label: false,
  terminal: false,
};

/** A head with one job on all these nodes. */
function headWith(job: object) {
  const shown = { id: 42, nodes: SHOWN, ranksPerNode: 1, request: { nodeCount: 150 }, ...job };
  const call = async (name: string): Promise<object> => {
    if (name === 'getJob') return shown;
    if (name === 'listTasks') return { tasks: [{ nodes: NODES, state: 'running' }], next: null };
    if (name === 'submitJob') return { jobId: 42 };
    if (name === 'waitForJob') return { job: { ...shown, state: 'running' } };
    if (name === 'claimCpus') return { cpus: NODES.map(() => '0') };
    if (name === 'startStep') return { id: '42.0', processes: [{ rank: 0, node: 'n0' }] };
    return {};
  };
  return { call } as unknown as Api;
}

test('[Z14] ranks of Open MPI come to all nodes of a job, also to those that are not shown', async () => {
  const task = { task: '42', node: null };
  const { argv } = await asPmix(headWith({ array: null }), { ...WISH, target: task });
  assert.equal(argv[argv.indexOf('--host') + 1], NODES.map((node) => `${node}:1`).join());
  const one = { task: '42[7]', node: null };
  const ofArray = await asPmix(headWith({ array: '0-9' }), { ...WISH, target: one });
  assert.deepEqual(ofArray.argv, argv);
  const unnamed = asPmix(headWith({ array: '0-9' }), { ...WISH, target: task });
  await assert.rejects(unnamed, /on 150 nodes: name one, as 42\[7\]/);
});

test('[Z14] values of variables go by the environment of the step alone', async () => {
  const environment = { KEY: 'secret', WEFT_KEY: 'secret' };
  const target = { task: '42', node: null };
  const wish = { ...WISH, environment, target, bind: 'core' } as const;
  const step = await asPmix(headWith({ array: null }), wish);
  assert.deepEqual(step.environment, environment);
  assert.doesNotMatch(step.argv.join(' '), /secret|WEFT_KEY/);
  assert.equal(step.argv[step.argv.indexOf('-x') + 1], 'KEY');
});

test('[Z4] an allocation with ranks has all of its nodes', async () => {
  const api = headWith({ array: null });
  const dial = async () => ({ stream: duplexPair()[0], rest: Buffer.alloc(0) });
  const context = {
    api: async () => Object.assign(api, { dial }),
    environment: {},
    note: () => undefined,
  } as unknown as Context;
  const wish = { mpi: { ranksPerNode: 1 } } as unknown as Submission;
  const nodes: string[] = [];
  const code = await withAllocation(context, wish, async (held) => {
    nodes.push(...held.nodes);
    return 0;
  });
  assert.equal(code, 0);
  assert.deepEqual(nodes, NODES);
});

test('[X5] srun --jobid begins a rank on each node of the job', async () => {
  const job = {
    array: null,
    state: 'running',
    request: { nodeCount: 150, perNode: { cpuCount: 1 } },
  };
  const head = headWith(job);
  const counts: unknown[] = [];
  const api = {
    call: async (name: 'getJob', { body }: { readonly body?: { readonly count: number } }) => {
      if (body !== undefined) counts.push(body.count);
      if (body !== undefined) throw new Error('seen');
      return head.call(name, { params: { id: '42' } });
    },
  };
  const context = { api: async () => api, environment: {}, terminal: {} } as unknown as Context;
  const asked = {
    argv: ['true'],
    tasks: null,
    nodeCount: null,
    label: false,
    cpus: null,
    bind: 'none',
    endings: { killsOnBadExit: false, waitMs: null, limitMs: null },
    given: { jobid: '42' },
  } as const;
  await assert.rejects(runInJob(context, asked), /seen/);
  const [first = '', second = ''] = NODES;
  const on = (nodelist: string) =>
    runInJob(context, { ...asked, given: { jobid: '42', nodelist } });
  await assert.rejects(on(second), /seen/);
  await assert.rejects(on('m1'), /m1 is none of its nodes/);
  await assert.rejects(on(`${first},${second}`), /one of the job's 150 nodes, or all of them/);
  assert.deepEqual(counts, [150, 1]);
});
