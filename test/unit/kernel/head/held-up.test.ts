// What is said of a task whose nodes owe the head a word for long.

import assert from 'node:assert/strict';
import { HEAD_MACHINE } from '../../../../sim/head-machine.ts';
import { present } from '../../../../src/kernel/base/assert.ts';
import { formatInstant } from '../../../../src/kernel/base/instant.ts';
import { jobNotice, taskNotice } from '../../../../src/kernel/head/answers/task-notice.ts';
import { decide, type Input } from '../../../../src/kernel/machine/controller.ts';
import {
  exportState,
  importState,
  type SnapshotData,
} from '../../../../src/kernel/machine/snapshot.ts';
import type { JobId, NodeName } from '../../../../src/kernel/model/ids.ts';
import type { LifeId } from '../../../../src/kernel/model/life.ts';
import type { ListedJob } from '../../../../src/kernel/model/site.ts';
import { ANN, place, scenario, type TestHead } from '../../../support/controller.ts';
import { helloOf } from '../../../support/nodes.ts';

const MINUTE = 60_000;

/** Like the engine: its clock is its own. */
class Known {
  readonly #head: TestHead;

  constructor(head: TestHead) {
    this.#head = head;
  }

  get state() {
    return this.#head.state;
  }

  get settings() {
    return this.#head.settings;
  }

  now(): number {
    return this.#head.at;
  }
}

function notices(head: TestHead): (string | null)[] {
  const known = new Known(head);
  return [taskNotice(known, head.task('1')), jobNotice(known, head.job(1))];
}

/** Nothing is said before so many ms have passed, and this from then on. */
function saysAfter(head: TestHead, ms: number, words: RegExp): void {
  head.at += ms - 1;
  assert.deepEqual(notices(head), [null, null]);
  head.at += 1;
  for (const notice of notices(head)) assert.match(notice ?? '', words);
}

scenario('what keeps a node from a start is said at once, and of no task that runs', (head) => {
  head.connect('n1');
  head.submit();
  head.schedule();
  head.fault('n1', 'its launcher does not answer');
  const words = 'Node n1 takes no new work: its launcher does not answer.';
  assert.deepEqual(notices(head), [words, words]);
  head.started('1#1');
  assert.deepEqual(notices(head), [null, null]);
});

scenario('[L5] a start of which its node says nothing is explained after a minute', (head) => {
  head.connect('n1');
  head.submit();
  head.schedule();
  saysAfter(head, MINUTE, /^It has been starting since .*: n1 was told so.*`weft requeue 1`/);
  head.started('1#1');
  assert.deepEqual(notices(head), [null, null]);
});

scenario('[L5] a wait that an older head left without its begin counts from a start', (head) => {
  head.connect('n1');
  head.submit();
  head.schedule();
  const data = structuredClone(exportState(head.state)) as SnapshotData & {
    readonly jobs: readonly [{ active: { waitsSince?: number }[] }];
  };
  const [{ active }] = data.jobs;
  for (const task of active) delete task.waitsSince;
  const known = {
    state: importState(HEAD_MACHINE, data),
    settings: head.settings,
    now: () => head.at,
  };
  head.at += MINUTE;
  const hello = helloOf('n1', { held: head.heldBy('n1') });
  const inputs: Input[] = [{ kind: 'started' }, { kind: 'hello', hello }];
  for (const input of inputs) decide(known.state, input, head.settings, head.at);
  head.at += MINUTE;
  const job = present(known.state.jobs.get(1 as JobId), 'the job');
  assert.match(jobNotice(known, job) ?? '', /^It has been starting since /);
});

scenario('[L5] an end that its node does not confirm names the node and the way out', (head) => {
  head.connect('n1');
  head.connect('n2');
  head.running({ nodeCount: 2 });
  head.at += 10 * MINUTE;
  head.command({ kind: 'cancel_task', place: place('1') }, ANN);
  head.ended('1#1', { cause: 'ended', signal: 15 }, 'n1');
  const { killGraceMs } = head.settings;
  saysAfter(
    head,
    MINUTE + killGraceMs,
    /^It has been ending since .*: n2 has .*`weft node lost n2`/,
  );
});

scenario('[L5] files that are kept for long say so, and how to give them up', (head) => {
  head.connect('n1');
  head.running();
  head.at += 10 * MINUTE;
  head.storing('1#1');
  saysAfter(head, MINUTE, /^What it left has been on its way from n1 .*`weft cancel 1`/);
});

scenario(
  '[L5] an end that a site which answers does not confirm names the site and the way out',
  (head) => {
    head.connect('hpc', { site: 'hpc' });
    head.running();
    head.at += 10 * MINUTE;
    head.command({ kind: 'cancel_task', place: place('1') }, ANN);
    saysAfter(
      head,
      MINUTE + head.settings.killGraceMs,
      /^It has been ending since .*: site hpc was asked to end it.* over\. .*`weft site show hpc`.*`weft node lost hpc`/,
    );
    const listed = { id: '4711', word: 'COMPLETING', reason: null } as ListedJob;
    const start = { site: 'hpc' as NodeName, job: listed, ageMs: 3000 };
    const known = Object.assign(new Known(head), { startAtSite: () => start });
    assert.match(
      taskNotice(known, head.task('1')) ?? '',
      /that it is over: hpc has it as job 4711: COMPLETING, listed 3s ago\. /,
    );
  },
);

scenario('[L5] files that a gateway keeps for long say so, and how to give them up', (head) => {
  head.connect('hpc', { site: 'hpc' });
  head.running();
  head.at += 10 * MINUTE;
  head.storing('1#1');
  saysAfter(head, MINUTE, /^What it left has been on its way from hpc .*`weft cancel 1`/);
});

scenario(
  '[L5] a start of which a steered site says nothing is explained after a minute',
  (head) => {
    head.connect('hpc', { site: 'hpc', cpus: 0 });
    head.connect('n1.hpc', { site: 'hpc' });
    head.submit();
    head.schedule();
    saysAfter(
      head,
      MINUTE,
      /^It has been starting since .*: the gateway of site hpc was told so for n1\.hpc.*`weft cancel 1`/,
    );
  },
);

scenario('[L5] what waits in the queue of a site is not explained as a start', (head) => {
  head.connect('hpc', { site: 'hpc' });
  head.submit();
  head.schedule();
  head.at += 10 * MINUTE;
  assert.deepEqual(notices(head), [null, null]);
});

scenario('[L5] a head that lacks records says at once why a start is not told', (head) => {
  head.perform({ kind: 'started', birth: { nonce: 'aa', seq: 0 } });
  head.connect('n1');
  head.submit();
  head.schedule();
  head.perform({ kind: 'started', birth: { nonce: 'bb', seq: 5 } });
  const given = { nextJobId: 9, nextReservationId: 1, epochMax: 1 };
  const heard = { life: '1.aa' as LifeId, seq: 8, given };
  const known = { heard, ownSeq: 6 };
  head.perform({ kind: 'hello', hello: helloOf('n1', { held: head.heldBy('n1') }), known });
  for (const notice of notices(head)) assert.match(notice ?? '', /lacks records.*`weft info`/);
});

scenario('[L5] of a cancelled task whose node is silent nobody is told that it goes on', (head) => {
  head.connect('n1');
  head.running({ onNodeLoss: { kind: 'wait' } });
  head.disconnect('n1');
  const { nodeTimeoutMs } = head.settings;
  head.at += nodeTimeoutMs;
  head.silence('n1', nodeTimeoutMs);
  for (const notice of notices(head)) assert.match(notice ?? '', /the task continues when/);
  head.command({ kind: 'cancel_task', place: place('1') }, ANN);
  for (const notice of notices(head)) {
    assert.match(notice ?? '', /the task, which was cancelled, ends when the node is back or on/);
    assert.doesNotMatch(notice ?? '', /continues|started again/);
  }
});

scenario('[L5] a task whose node is lost is told with about when it starts elsewhere', (head) => {
  head.connect('n1');
  head.running({ onNodeLoss: { kind: 'lease', leaseMs: MINUTE } });
  head.disconnect('n1');
  const { nodeTimeoutMs, killGraceMs } = head.settings;
  head.at += nodeTimeoutMs;
  head.silence('n1', nodeTimeoutMs);
  const at = head.at - nodeTimeoutMs + MINUTE + killGraceMs + 5000;
  for (const notice of notices(head)) {
    assert.match(notice ?? '', /n1 has been unreachable since/);
    assert.ok(notice?.endsWith(`have passed, about ${formatInstant(at)}.`), notice ?? '');
  }
  // A head that was started anew counts the silence anew: no time that is over is told.
  head.at += 10 * MINUTE;
  for (const notice of notices(head)) assert.match(notice ?? '', /the kill grace have passed\.$/);
});
