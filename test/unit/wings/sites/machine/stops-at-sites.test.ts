// What a site does not do for us, suspending and signals, is refused, and nobody counts on it.

import assert from 'node:assert/strict';
import type { Command } from '../../../../../src/kernel/machine/declared.ts';
import { outstanding } from '../../../../../src/kernel/machine/outstanding.ts';
import { formatRefusal } from '../../../../../src/kernel/model/errors.ts';
import type { EpochId, NodeName } from '../../../../../src/kernel/model/ids.ts';
import { plainPartition, plainScheduling } from '../../../../../src/kernel/model/scheduling.ts';
import type { SiteSkills } from '../../../../../src/kernel/model/site.ts';
import {
  ANN,
  BOB,
  kinds,
  OPERATOR,
  place,
  SETTINGS,
  scenario,
  type TestHead,
} from '../../../../support/controller.ts';
import { MINUTE, plan } from '../../../../support/maintenance.ts';

const HPC = 'hpc' as NodeName;

function asks(task: string): Command[] {
  const own = place(task);
  return [
    { kind: 'suspend_task', place: own },
    { kind: 'signal_task', place: own, signal: 10 },
    { kind: 'signal_task', place: own, signal: 15 },
  ];
}

/** An array with one task at a site and one on a machine of ours. */
function atSite(head: TestHead): void {
  head.connect('hpc', { cpus: 1, site: 'hpc' });
  head.connect('n1', { cpus: 1 });
  head.submit({ array: { indices: '0-1' } });
  head.schedule();
  for (const node of ['hpc', 'n1']) {
    const [epochId = ''] = [...head.node(node).holding.keys()];
    head.started(epochId, node);
  }
}

scenario('[G17] suspending and signals are refused for tasks at a site, in words', (head) => {
  atSite(head);
  const index = head.task('1[0]').parts.has(HPC) ? 0 : 1;
  for (const task of ['1', `1[${index}]`]) {
    for (const command of asks(task)) {
      for (const actor of [ANN, OPERATOR]) {
        const { result, events } = head.perform({ kind: 'command', command, actor });
        assert.ok(!result.ok && result.error.code === 'job.at_site');
        assert.match(
          formatRefusal(result.error),
          new RegExp(`Job 1\\[${index}\\] is at site hpc, which`),
        );
        assert.deepEqual(events, []);
      }
    }
  }
  assert.deepEqual(head.orders('hpc'), []);
  const elsewhere = asks(`1[${1 - index}]`);
  for (const command of elsewhere) head.command(command, ANN);
  assert.deepEqual(head.orders('n1').length, 2, 'on a machine of ours they are as ever');
});

const LIMITED = { walltimeMs: 60_000 };

scenario('[G22] what the site of a task does for us is asked of it', (head) => {
  const able = { cpus: 4, site: 'hpc' };
  head.connect('hpc', { ...able, siteSkills: { signals: true, suspends: 'unlimited' } });
  head.submit();
  head.submit(LIMITED);
  head.schedule();
  for (const epochId of ['1#1', '2#1']) head.started(epochId, 'hpc');
  for (const command of asks('1')) head.command(command, ANN);
  const orders = head.orders('hpc');
  assert.deepEqual(orders.length, 2, 'to stand still, and the last signal');
  const suspend = { kind: 'suspend_task', place: place('2') } as const;
  const { result } = head.perform({ kind: 'command', command: suspend, actor: ANN });
  assert.ok(!result.ok);
  assert.match(formatRefusal(result.error), /suspends no jobs that have a time limit/);
  // A gateway of an earlier version comes back: nobody knows what it does.
  head.connect('hpc', { cpus: 4, site: 'hpc', held: head.heldBy('hpc') });
  assert.equal(
    head.refused({ kind: 'signal_task', place: place('1'), signal: 10 }, ANN),
    'job.at_site',
  );
});

scenario('[G22] one that suspends jobs with their time limit does so', (head) => {
  head.connect('hpc', { site: 'hpc', siteSkills: { signals: false, suspends: 'any' } });
  head.submit(LIMITED);
  head.schedule();
  head.started('1#1', 'hpc');
  head.command({ kind: 'suspend_task', place: place('1') }, ANN);
  const signal = { kind: 'signal_task', place: place('1'), signal: 10 } as const;
  assert.equal(head.refused(signal, ANN), 'job.at_site');
});

/** A task runs there, and stands still by the word of others. */
function stoppedThere(head: TestHead, siteSkills?: SiteSkills): void {
  head.connect('hpc', { site: 'hpc', ...(siteSkills === undefined ? {} : { siteSkills }) });
  head.submit();
  head.schedule();
  head.started('1#1', 'hpc');
  const epochId = '1#1' as EpochId;
  head.report('hpc', { kind: 'task_suspended', epochId, at: head.at, turn: 1 });
}

scenario('[G22] what others have suspended at a site goes on when its owner may say so', (head) => {
  stoppedThere(head, { signals: true, suspends: 'unlimited', ownersResume: true });
  const resumes = () =>
    outstanding(head.state, head.node('hpc'), head.settings).filter(
      (order) => order.kind === 'resume',
    );
  const before = [{ kind: 'resume', epochId: '1#1', turn: 0, isOnce: true }];
  assert.deepEqual(resumes(), before, 'a turn that was heard before');
  head.command({ kind: 'resume_task', place: place('1') }, ANN);
  assert.deepEqual(resumes(), [{ ...before[0], turn: 1 }]);
});

scenario('[G22] where owners may not, operators may, and the way out is told', (head) => {
  stoppedThere(head, { signals: true, suspends: 'any' });
  const resume = { kind: 'resume_task', place: place('1') } as const;
  const { result } = head.perform({ kind: 'command', command: resume, actor: ANN });
  assert.ok(!result.ok && result.error.code === 'job.at_site');
  const words =
    /lets only its operators resume what was suspended there, none of its users, for We/;
  assert.match(formatRefusal(result.error), words);
  assert.match(result.error.hint ?? '', /ask the operators of the site/);
  head.command(resume, OPERATOR);
  assert.equal(head.task('1').suspendTurn, 1);
});

scenario('[G22] where the site resumes nothing for us, that is refused in words', (head) => {
  stoppedThere(head);
  const resume = { kind: 'resume_task', place: place('1') } as const;
  const { result } = head.perform({ kind: 'command', command: resume, actor: OPERATOR });
  assert.ok(!result.ok);
  assert.match(formatRefusal(result.error), /is at site hpc, which resumes no jobs for Weft/);
  assert.match(result.error.hint ?? '', /ask the operators of the site/);
});

const urgent = { ...plainPartition('urgent', 'first_fit'), tier: 1 };
const low = { ...plainPartition('default', 'first_fit'), preempt: 'suspend' } as const;
const TIERS = { ...plainScheduling('first_fit'), partitions: { default: low, urgent } };

scenario(
  '[G17] nobody is suspended at a site to make room',
  (head) => {
    head.connect('hpc', { cpus: 1, site: 'hpc' });
    head.submit();
    head.schedule();
    head.started('1#1', 'hpc');
    head.submit({ partition: 'urgent' }, { by: BOB });
    assert.deepEqual(kinds(head.perform({ kind: 'schedule' }).events), []);
    head.ended('1#1', {}, 'hpc');
    assert.deepEqual(head.schedule(), ['2#1@hpc']);
  },
  { ...SETTINGS, scheduling: TIERS },
);

scenario('[G17] a node of a site cannot be paused, and its gateway not suspend', (head) => {
  atSite(head);
  const pause = { kind: 'pause_node', node: HPC, durationMs: 60_000, requeue: false } as const;
  assert.equal(head.refused(pause, OPERATOR), 'node.at_site');
  const refused = (wish: Parameters<typeof plan>[0]): string =>
    head.refused(plan({ nodes: [HPC], ...wish }), OPERATOR);
  assert.equal(refused({ running: 'suspend' }), 'maintenance.not_at_site');
  assert.equal(refused({ warning: { leadMs: MINUTE, signal: 15 } }), 'maintenance.not_at_site');
  // An agent of an earlier version says that it is paused all the same.
  const own = { by: 'ann', since: head.at, until: head.at + 60_000, requeue: false };
  const report = { kind: 'node_pause', at: head.at, turn: 1, orderHeard: 0 } as const;
  const said = head.report('hpc', { ...report, pause: { kind: 'owner', ...own } });
  assert.deepEqual(kinds(said), ['node_paused'], 'it takes no work, and nothing is said to stop');
});
