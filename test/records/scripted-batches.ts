// Batches that build, fail, run again and go, and who is told of their ends: each kind of event
// once.

import { BUILD_FAILED_SIGNAL } from '../../src/wings/batches/core/build-script.ts';
import type { Command } from '../../src/kernel/machine/declared.ts';
import type { StepRecord } from '../../src/kernel/machine/events.ts';
import { outstandingNotifications } from '../../src/wings/notify/machine/attempts.ts';
import type { Attempt } from '../../src/kernel/model/notification.ts';
import { ADMIN, TestHead } from '../support/controller.ts';

const NOTIFY = {
  matrix: ['@*:lab'], webhook: null, command: ['tell'], mail: null,
  giveUpMs: 1000,
};
const UNBUILT = { signal: BUILD_FAILED_SIGNAL } as const;
const SWEEP = { namespace: 'ann', name: 'sweep', version: null } as const;

/** A head of its own: what it has recorded. */
export function batchRecords(): StepRecord[] {
  const head = new TestHead({ notify: NOTIFY });
  for (const name of ['n1', 'n2']) head.connect(name, { cpus: 4 });
  const submitted = submit('sweep', 'new');
  head.command(submitted, ADMIN);
  failToBuild(head, 1);
  head.command({ kind: 'retry_batch', batch: SWEEP }, ADMIN);
  head.schedule();
  head.ended('2[0]#1', { code: 1 });
  head.ended('2[1]#1');
  tell(head, { kind: 'failed', why: 'refused' });
  head.command({ ...submitted, mode: 'resume' }, ADMIN);
  head.schedule();
  head.command({ kind: 'rebuild_batch', batch: SWEEP }, ADMIN);
  head.ended('3[0]#1');
  tell(head, { kind: 'told' });
  head.command({ kind: 'remove_batch', batch: SWEEP }, ADMIN);
  head.command(submit('old', 'new'), ADMIN);
  head.schedule();
  for (const index of [0, 1]) head.ended(`4[${index}]#1`);
  // Only a head with a thousand of them forgets one by itself.
  const at = head.at + 1;
  return [...head.records, { v: 1, at, events: [{ kind: 'batches_forgotten', batches: ['ann/old'] }] }];
}

function submit(name: string, mode: 'new' | 'resume') {
  const submission = {
    program: { kind: 'script', text: 'eval "$1"', args: ['{line}'] },
    each: ['a', 'b'].map((one) => ({ name: one, line: `./run ${one}` })),
    cpuCount: 4, notify: ['matrix:@ann:lab', 'command:tell'],
  } as const;
  const part = { submission, numbers: [0, 1], prints: ['print of a', 'print of b'] };
  return {
    kind: 'submit_batch', namespace: 'ann', name, origin: 'weft', after: [], mode,
    build: 'b'.repeat(40), parts: [part], key: null,
  } satisfies Command;
}

/** On both of the nodes: the batch is over. */
function failToBuild(head: TestHead, jobId: number): void {
  head.schedule();
  for (const index of [0, 1]) head.ended(`${jobId}[${index}]#1`, UNBUILT);
}

function tell(head: TestHead, attempt: Attempt): void {
  for (const { target, notifications } of outstandingNotifications(head.state, head.at)) {
    const told = notifications.map(({ id, at }) => ({ id, at }));
    const command = { kind: 'note_attempt', target, told, attempt } as const;
    head.perform({ kind: 'command', command, actor: { kind: 'system' } });
  }
}
