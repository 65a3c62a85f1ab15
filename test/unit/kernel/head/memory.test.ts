// What is said of a task's memory while it runs.

import assert from 'node:assert/strict';
import { memoryNowOf } from '../../../../src/kernel/head/answers/memory.ts';
import { jobNotice, taskNotice } from '../../../../src/kernel/head/answers/task-notice.ts';
import type { EpochId, NodeName } from '../../../../src/kernel/model/ids.ts';
import { scenario, type TestHead } from '../../../support/controller.ts';

const N1 = 'n1' as NodeName;

function hear(head: TestHead, kills: number): void {
  const use = { bytes: 30e6, peakBytes: 60e6, kills, killedAt: kills > 0 ? head.at : null };
  head.state.scratch.memory.hear(N1, [{ epochId: '1#1' as EpochId, ...use }]);
}

scenario('[J29] a task of which the kernel killed a process says so, when and where', (head) => {
  head.connect('n1', { cpus: 2 });
  head.running({ cpuCount: 1, memoryBytes: 64 * 1_048_576 });
  const known = { state: head.state, settings: head.settings, now: () => head.at };
  const { job } = head.task('1');
  hear(head, 0);
  assert.deepEqual([taskNotice(known, head.task('1')), jobNotice(known, job)], [null, null]);
  assert.deepEqual(memoryNowOf(head.state, job), { bytes: 30e6, peakBytes: 60e6 });
  hear(head, 2);
  const notice = taskNotice(known, head.task('1')) ?? '';
  assert.match(
    notice,
    /^The kernel killed 2 processes of it on n1 at \d{4}-.*: over the limit of 64M\./,
  );
  assert.equal(jobNotice(known, job), notice);
  const long = { bytes: 30e6, peakBytes: 60e6, kills: 1, killedAt: null };
  head.state.scratch.memory.hear(N1, [{ epochId: '1#1' as EpochId, ...long }]);
  assert.match(
    taskNotice(known, head.task('1')) ?? '',
    /killed 1 process of it on n1 before its agent was started: over/,
  );
  head.state.scratch.memory.forget(N1);
  assert.equal(taskNotice(known, head.task('1')), null);
  assert.equal(memoryNowOf(head.state, job), null, 'nobody says it any more');
});

scenario('[J29] a task without a limit says that its node had no more', (head) => {
  head.connect('n1', { cpus: 2 });
  head.running({ cpuCount: 1, memoryBytes: 0 });
  hear(head, 1);
  const known = { state: head.state, settings: head.settings, now: () => head.at };
  assert.match(
    taskNotice(known, head.task('1')) ?? '',
    /^The kernel killed 1 process .*: n1 ran out of memory\. .* ask for some with --memory\.$/,
  );
});

scenario(
  '[J29] `end` is for agents that can do it, and stays with a job that is run again',
  (head) => {
    head.connect('n1', { cpus: 2 });
    const id = head.submit({ cpuCount: 1, onOom: 'end' });
    const spec = head.job(id).spec;
    assert.equal(spec.onOom, 'end');
    assert.ok(spec.request.labels.includes('agent:on_oom'));
  },
);
