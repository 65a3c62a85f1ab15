// Where a job ran, asked in the moment between its end in memory and its record.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HANDLERS } from '../../../../src/kernel/head/http/handlers/handlers.ts';
import type { EpochId, NodeName } from '../../../../src/kernel/model/ids.ts';
import { ANN, endReport } from '../../../support/controller.ts';
import { EngineBench, settlePromises } from '../../../support/engine.ts';

test('[S1] a job that has just ended is shown where it ran, also before that is written', async () => {
  const bench = await new EngineBench().start();
  await bench.connect('n1');
  bench.submit('a');
  await bench.settle();
  const told = { kind: 'report', node: 'n1' as NodeName, session: 1 } as const;
  const at = bench.clock.now();
  const started = { kind: 'task_started', epochId: '1#1' as EpochId, at, limits: 'none' } as const;
  bench.perform('start', { ...told, report: started });
  await bench.settle();
  bench.perform('end', { ...told, report: endReport('1#1', at) });
  const archive = { amounts: () => Promise.resolve([]) };
  const services = { engine: bench.engine, archive, answerParts: [] } as never;
  const call = (more: object) => ({ params: { id: '1' }, query: {}, actor: ANN, ...more }) as never;
  const asked = Promise.all([
    HANDLERS.listJobs(services, call({})),
    HANDLERS.getJob(services, call({})),
  ]);
  // All that reads the store without waiting has read it by then.
  for (let turn = 0; turn < 5; turn += 1) await settlePromises();
  await bench.settle();
  const [list, job] = await asked;
  const listed = list.ok && 'jobs' in list.value ? list.value.jobs[0] : undefined;
  assert.deepEqual([listed?.state, listed?.nodes], ['done', ['n1']]);
  assert.deepEqual(job.ok ? [job.value.state, job.value.nodes] : [], ['done', ['n1']]);
});
