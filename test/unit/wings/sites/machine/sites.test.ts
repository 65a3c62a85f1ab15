// Sites that our scheduler steers: their nodes, the jobs of their own users, and what happens there
// behind our back.

import assert from 'node:assert/strict';
import { jobState, taskCounts } from '../../../../../src/kernel/head/answers/job-state.ts';
import { Reasons } from '../../../../../src/kernel/head/answers/reasons.ts';
import { jobNotice, taskNotice } from '../../../../../src/kernel/head/answers/task-notice.ts';
import { pendingOf } from '../../../../../src/kernel/machine/answers/explain.ts';
import { expect } from '../../../../../src/kernel/machine/answers/questions.ts';
import { outstanding } from '../../../../../src/kernel/machine/outstanding.ts';
import type { EpochId, JobId, NodeName } from '../../../../../src/kernel/model/ids.ts';
import type { LaunchOrder } from '../../../../../src/kernel/model/orders.ts';
import { plainPartition, plainScheduling } from '../../../../../src/kernel/model/scheduling.ts';
import type { ListedJob, SiteMode, SiteNode } from '../../../../../src/kernel/model/site.ts';
import { UNKNOWN_END } from '../../../../../src/kernel/scheduler/room/profile.ts';
import {
  cancelledHere,
  unlistedHere,
  whyNotOurs,
} from '../../../../../src/wings/sites/machine/heard.ts';
import { heldHere } from '../../../../../src/wings/sites/machine/held-here.ts';
import { ownIdOf } from '../../../../../src/wings/sites/machine/names.ts';
import { wikiJobs } from '../../../../../src/wings/wiki/head/wiki-jobs.ts';
import { place, scenario, type TestHead, user } from '../../../../support/controller.ts';
import { hearSite } from '../../../../support/hear-site.ts';
import { PLAIN_SITE_JOB, PLAIN_SITE_NODE } from '../../../../support/plain.ts';
import { why } from '../../../../support/why.ts';

const HPC = 'hpc' as NodeName;
const EVE = user('eve');

function siteNode(name: string): SiteNode {
  return {
    ...PLAIN_SITE_NODE,
    name,
  };
}

function siteJob(id: string, more: Partial<ListedJob> = {}): ListedJob {
  return {
    ...PLAIN_SITE_JOB,
    id,
    name: 'their job',
    owner: 'eve',
    word: 'PENDING',
    queue: 'main',
    submittedAt: 1,
    walltimeMs: 60_000,
    isOurs: false,
    ...more,
  };
}

const SEEN = {
  hiddenBy: null,
  labels: [],
  queue: null,
  partition: null,
  name: null,
  rules: ['x'],
};

const NODES = [siteNode('n1'), siteNode('n2')];

function hear(
  head: TestHead,
  jobs: readonly ListedJob[],
  mode: SiteMode = 'steer',
  nodes: readonly SiteNode[] = NODES,
): void {
  const { session } = head.node('hpc');
  hearSite(head, { node: HPC, session, mode, nodes, jobs });
}

function launches(head: TestHead, node: string): LaunchOrder[] {
  return outstanding(head.state, head.node(node), head.settings).filter(
    (order) => order.kind === 'launch',
  );
}

function steered(head: TestHead): void {
  head.connect('hpc', { cpus: 0 });
  hear(head, []);
  for (const name of ['n1.hpc', 'n2.hpc']) head.connect(name, { cpus: 2, labels: ['site=hpc'] });
}

scenario('[G1] nodes of a steered site are let in by the secret of its gateway', (head) => {
  head.connect('hpc', { cpus: 0 });
  head.enroll('n2.hpc');
  const { secretHash } = head.node('n2.hpc');
  hear(head, []);
  assert.equal(head.node('n1.hpc').secretHash, head.node('hpc').secretHash);
  assert.ok(head.node('n1.hpc').labels.has('site=hpc'));
  // Somebody else's node of the name stays theirs.
  assert.equal(head.node('n2.hpc').secretHash, secretHash);
});

scenario('[G14] a task in the queue of a site is pending until it has started there', (head) => {
  head.connect('hpc', { cpus: 4, site: 'hpc' });
  head.submit();
  head.schedule();
  const known = {
    ...head,
    now: () => head.at,
    startAtSite: () => ({ site: HPC, job: own, ageMs: 3000 }),
  };
  const own = siteJob('4711', { isOurs: true, reason: 'Resources' });
  assert.equal(jobState(head.job(1)), 'pending');
  assert.deepEqual(taskCounts(head.job(1)), { pending: 1 });
  const said = new Reasons(known).of(head.job(1), 0);
  const words = 'hpc has it as job 4711: PENDING (Resources), listed 3s ago';
  assert.deepEqual(said, { kind: 'site', words });
  head.at += 9000;
  const { session } = head.node('hpc');
  const epochId = '1#1' as EpochId;
  const started = {
    kind: 'task_started',
    epochId,
    at: head.at,
    limits: 'none',
    agoMs: 8000,
  } as const;
  head.report('hpc', started, session);
  assert.equal(jobState(head.job(1)), 'running');
  assert.equal(head.task('1').startedAt, head.at - 8000);
});

scenario('[G14] of a task at a site that does not answer it is said since when', (head) => {
  head.connect('hpc', { cpus: 4, site: 'hpc' });
  head.submit();
  head.schedule();
  const hang = { site: HPC, problem: 'squeue: it did not end within 10 s.', ageMs: 420_000 };
  const own = siteJob('4711', { isOurs: true, reason: 'Resources' });
  const known = {
    state: head.state,
    settings: head.settings,
    now: () => head.at,
    startAtSite: () => ({ site: HPC, job: own, ageMs: 420_000 }),
    siteHang: () => hang,
  };
  const reason = new Reasons({ ...head, ...known }).of(head.job(1), 0);
  const why = 'the site does not answer (squeue: it did not end within 10 s)';
  const words = `hpc has it as job 4711: PENDING (Resources), listed 7m ago; ${why}`;
  assert.deepEqual(reason, { kind: 'site', words });
  head.running();
  const notice =
    'Site hpc does not answer (squeue: it did not end within 10 s), so that nobody knows how the task stands there now: it was listed last 7m ago.';
  assert.equal(taskNotice(known, head.task('1')), notice);
  assert.equal(jobNotice(known, head.job(1)), notice);
});

scenario('[G1] nothing follows from a site whose own scheduler decides', (head) => {
  head.connect('hpc', { cpus: 4 });
  hear(head, [siteJob('7')], 'submit');
  assert.equal(head.state.nodes.size, 1);
  assert.equal(head.state.jobs.size, 0);
});

scenario('[G2] a job that a user gave to the site waits and starts as any other', (head) => {
  steered(head);
  hear(head, [siteJob('7', { cpuCount: 4, nodeCount: 2 }), siteJob('8', { isOurs: true })]);
  hear(head, [siteJob('7', { cpuCount: 4, nodeCount: 2 })]);
  assert.equal(head.state.jobs.size, 1);
  const { owner, spec } = head.job(1);
  assert.deepEqual([owner, spec.name, spec.walltimeMs], ['eve', 'their job', 60_000]);
  assert.deepEqual([spec.request.nodeCount, spec.request.perNode.cpuCount], [2, 2]);
  assert.deepEqual(head.schedule(), ['1#1@n1.hpc+n2.hpc']);
  const [order] = launches(head, 'n1.hpc');
  assert.deepEqual(order?.foreign, { job: '7', index: null });
  assert.equal(order?.walltimeMs, null);
  head.started('1#1', 'n1.hpc', 'n2.hpc');
  head.ended('1#1', { code: 3 }, 'n1.hpc', 'n2.hpc');
  assert.equal(head.outcome(1), 'failed');
});

scenario('[G2] who holds a job at its site releases it there', (head) => {
  steered(head);
  hear(head, [siteJob('7', { state: 'held' })]);
  assert.deepEqual(head.schedule(), []);
  assert.equal(why(head, 1), 'held: held at hpc, as job 7 there, where it can be released');
  hear(head, [siteJob('7', { state: 'held', reason: 'JobHeldUser' })]);
  assert.equal(why(head, 1), 'held: held at hpc, as job 7 there: JobHeldUser');
  const [shown] = wikiJobs(head.state, new Set(['default']), new Map(), head.at);
  assert.equal(shown?.state, 'Hold');
  head.refused({ kind: 'release_job', jobId: head.job(1).id }, EVE);
  hear(head, [siteJob('7')]);
  assert.deepEqual(head.schedule(), ['1#1@n1.hpc']);
});

scenario('[G8] a job that its site hides later waits as one that is held', (head) => {
  steered(head);
  hear(head, [siteJob('7')]);
  hear(head, [siteJob('7', { seen: { ...SEEN, hiddenBy: 'secret' } })]);
  assert.deepEqual(head.schedule(), []);
  const words = 'held at hpc, as job 7 there: rule secret of its site hides it';
  assert.equal(why(head, 1), `held: ${words}`);
  hear(head, [siteJob('7', { seen: SEEN })]);
  assert.deepEqual(head.schedule(), ['1#1@n1.hpc']);
});

scenario(
  '[G8] what runs on a hidden node is not booked on the one whose name it would have',
  (head) => {
    steered(head);
    const hidden = { ...siteNode('n3'), seen: { ...SEEN, name: 'n1', hiddenBy: 'call' } };
    hear(head, [siteJob('7', { state: 'running', nodes: ['n3'] })], 'steer', [...NODES, hidden]);
    assert.deepEqual(launches(head, 'n1.hpc'), []);
    assert.equal(head.node('n1.hpc').holding.size, 0);
  },
);

scenario('[G2] a name that is made of separators is one of a job like any other', (head) => {
  steered(head);
  const name = 'a;b|c "d" \'e\'\n#7:STATE=Running; SC=0';
  hear(head, [siteJob('7', { name }), siteJob('8', { name: '\n\t' })]);
  assert.equal(head.job(1).spec.name, 'a;b|c "d" \'e\'#7:STATE=Running; SC=0');
  assert.equal(head.job(2).spec.name, 'job 8');
});

scenario('[G3] a site whose clock is an hour ahead, or behind, has each job once', (head) => {
  steered(head);
  for (const [at, hours] of [1, -1].entries()) {
    const submittedAt = head.at + hours * 3_600_000;
    const listed = (more: Partial<ListedJob>) => siteJob(`${7 + at}`, { submittedAt, ...more });
    hear(head, [listed({})]);
    const id = at + 1;
    assert.deepEqual(head.schedule(), [`${id}#1@n1.hpc`]);
    head.started(`${id}#1`, 'n1.hpc');
    head.ended(`${id}#1`, { code: 0 }, 'n1.hpc');
    // A listing that was made before its end, and comes after it.
    hear(head, [listed({ state: 'running', nodes: ['n1'], startedAt: submittedAt })]);
    assert.equal(head.state.jobs.size, id);
    assert.equal(head.outcome(id), 'completed');
  }
  // The site has begun to count anew.
  hear(head, [siteJob('7', { submittedAt: head.at + 2 * 3_600_000 })]);
  assert.equal(head.state.jobs.size, 3);
});

scenario('[G3] what the site starts or ends behind our back is so', (head) => {
  steered(head);
  const waiting = [siteJob('7'), siteJob('8'), siteJob('9')];
  hear(head, waiting);
  hear(head, [
    siteJob('7', { state: 'running', nodes: ['n2'] }),
    siteJob('8', { state: 'ended', word: 'CANCELLED' }),
    siteJob('9', { state: 'unknown' }),
  ]);
  assert.deepEqual(head.holders('1#1'), ['n2.hpc']);
  assert.equal(head.outcome(2), 'cancelled');
  // Nothing is concluded from what nobody knows.
  assert.equal(head.outcome(3), null);
  const cancelled = { state: 'ended', word: 'CANCELLED', isCancelled: true } as const;
  hear(head, [siteJob('9', { ...cancelled, exit: { code: 0 } })]);
  const detail = 'ended at its site: CANCELLED';
  assert.deepEqual(head.job(3).outcome, { kind: 'cancelled', detail });
  hear(head, [siteJob('7', { state: 'running', nodes: ['n2'] })]);
  assert.deepEqual(head.holders('1#1'), ['n2.hpc']);
});

scenario('[G3] a job that began and ended unseen ran where its site says', (head) => {
  steered(head);
  hear(
    head,
    ['7', '8', '9'].map((id) => siteJob(id)),
  );
  const ended = (id: string, nodes: readonly string[]) =>
    siteJob(id, { state: 'ended', word: 'gone', exit: { code: 3 }, nodes });
  head.disconnect('n2.hpc');
  hear(head, [ended('7', ['n1']), ended('8', ['n1', 'n2']), ended('9', ['n1', 'other'])]);
  assert.deepEqual(head.holders('1#1'), ['n1.hpc']);
  head.started('1#1', 'n1.hpc');
  head.ended('1#1', { code: 3 }, 'n1.hpc');
  assert.equal(head.outcome(1), 'failed');
  assert.equal(head.outcome(2), null, 'a node of its gateway that is back already comes, too');
  assert.equal(head.outcome(3), 'failed', 'nobody waits for a node that the site does not have');
  head.connect('n2.hpc', { cpus: 2, labels: ['site=hpc'] });
  hear(head, [ended('8', ['n1', 'n2'])]);
  assert.deepEqual(head.holders('2#1'), ['n1.hpc', 'n2.hpc']);
});

for (const state of ['running', 'ended'] as const) {
  scenario(`[G3] what was ordered before its site said where it is ${state} is there`, (head) => {
    steered(head);
    hear(head, [siteJob('7')]);
    head.disconnect('n2.hpc');
    assert.deepEqual(head.schedule(), ['1#1@n1.hpc']);
    const exit = state === 'ended' ? { code: 0 } : null;
    const listed = siteJob('7', { state, nodes: ['n2'], startedAt: 1, exit });
    hear(head, [listed]);
    assert.deepEqual(head.holders('1#1'), ['n1.hpc'], 'its node is not there yet');
    head.connect('n2.hpc', { cpus: 2, labels: ['site=hpc'] });
    hear(head, [listed]);
    assert.deepEqual([...head.task('1').parts.keys()], ['n2.hpc']);
    assert.equal(head.task('1').epoch, 2);
    assert.deepEqual(head.orders('n1.hpc'), ['end 1#1']);
    // Its gateway lets go of the order, and tells of it where the job is.
    head.ended('1#1', { cause: 'never_started' }, 'n1.hpc');
    assert.deepEqual(head.heldBy('n1.hpc'), []);
    head.started('1#2', 'n2.hpc');
    hear(head, [listed]);
    assert.equal(head.task('1').epoch, 2, 'said again it changes nothing');
    head.ended('1#2', { code: 0 }, 'n2.hpc');
    assert.equal(head.outcome(1), 'completed');
  });
}

scenario('[G3] a node that does not come back keeps no job of its site', (head) => {
  steered(head);
  hear(head, [siteJob('7')]);
  head.disconnect('n2.hpc');
  const ended = siteJob('7', { state: 'ended', word: 'gone', exit: { code: 3 }, nodes: ['n2'] });
  head.at += head.settings.nodeTimeoutMs - 1;
  hear(head, [ended]);
  assert.equal(head.outcome(1), null);
  head.at += 1;
  hear(head, [ended]);
  assert.equal(head.outcome(1), 'failed');
});

scenario(
  '[G8] a node that rules rename is ours by that name, and what runs there runs there',
  (head) => {
    head.connect('hpc', { cpus: 0 });
    const { session } = head.node('hpc');
    const nodes = [{ ...siteNode('n1'), seen: { ...SEEN, name: 'fast' } }];
    const say = (...jobs: ListedJob[]) =>
      hearSite(head, { node: HPC, session, mode: 'steer', nodes, jobs });
    say();
    assert.deepEqual([...head.state.nodes.keys()], ['hpc', 'fast.hpc']);
    head.connect('fast.hpc', { cpus: 2, labels: ['site=hpc'] });
    say(siteJob('7', { state: 'running', nodes: ['n1'] }));
    assert.deepEqual(head.holders('1#1'), ['fast.hpc']);
  },
);

scenario('[G3] a job in no listing is not over', (head) => {
  steered(head);
  hear(head, [siteJob('7')]);
  hear(head, []);
  assert.equal(head.outcome(1), null);
});

scenario(
  '[G3] a job that is gone before it began is over, and its node is not at fault',
  (head) => {
    steered(head);
    for (const id of ['7', '8', '9']) {
      hear(head, [siteJob(id)]);
      const [epoch = ''] = head.schedule().map((start) => start.split('@')[0] ?? '');
      const detail = 'its site knows no such job any more';
      head.ended(epoch, { cause: 'launch_failed', nodeFault: false, detail });
    }
    assert.deepEqual(
      [1, 2, 3].map((id) => head.outcome(id)),
      ['cancelled', 'cancelled', 'cancelled'],
    );
    assert.equal(head.node('n1.hpc').drain, null);
  },
);

scenario('[G3] what waits here and no listing has is to be asked for', (head) => {
  steered(head);
  const jobs = [siteJob('7', { state: 'held' }), siteJob('8'), siteJob('9', { state: 'held' })];
  hear(head, jobs);
  assert.deepEqual(head.schedule(), ['2#1@n1.hpc']);
  const listed = new Map(jobs.slice(2).map((job) => [job.id, job]));
  assert.deepEqual(unlistedHere(head.state, HPC, listed), ['7']);
  assert.deepEqual(unlistedHere(head.state, 'other' as NodeName, listed), []);
  hear(head, [siteJob('7', { state: 'ended', owner: '' })]);
  assert.equal(head.outcome(1), 'cancelled');
  assert.deepEqual(unlistedHere(head.state, HPC, listed), []);
});

scenario('[G20] what is held here is told to the gateway of its site, while it waits', (head) => {
  steered(head);
  hear(head, [siteJob('7'), siteJob('8'), siteJob('16', { elements: '1-6' })]);
  for (const id of [1, 3]) head.command({ kind: 'hold_job', jobId: id as JobId }, EVE);
  const held = (id: number) => `held here; weft release ${id} lets it start`;
  const all = [
    { job: '7', why: held(1) },
    { job: '16', why: held(3) },
  ];
  assert.deepEqual(heldHere(head.state, HPC), all);
  assert.deepEqual(heldHere(head.state, 'other' as NodeName), []);
  head.command({ kind: 'release_job', jobId: 1 as JobId }, EVE);
  hear(head, [siteJob('16', { state: 'ended', word: 'CANCELLED' })]);
  assert.deepEqual(heldHere(head.state, HPC), []);
});

scenario('[G20] so is what the crash limit holds, of an array by its elements', (head) => {
  steered(head);
  head.settings = { ...head.settings, crashLimit: 1 };
  hear(head, [siteJob('7'), siteJob('16', { elements: '1-6' })]);
  const refused = {
    cause: 'launch_failed',
    nodeFault: false,
    there: 'refused',
    detail: 'no',
  } as const;
  for (const start of head.schedule().slice(0, 3)) head.ended(start.split('@')[0] ?? '', refused);
  const because = 'held after 1 start that took a node down or failed to launch; last: no';
  assert.deepEqual(heldHere(head.state, HPC), [
    { job: '7', why: `${because}; weft release 1 lets it start` },
    { job: '16', why: `elements 1-2: ${because}; weft release 2 lets it start` },
  ]);
  for (const id of [1, 2]) head.command({ kind: 'release_job', jobId: id as JobId }, EVE);
  assert.deepEqual(heldHere(head.state, HPC), []);
});

scenario('[G5] an array that is over at its site is over here, but for what runs', (head) => {
  steered(head);
  hear(head, [siteJob('16', { elements: '1-6' })]);
  assert.equal(head.schedule().length, 4);
  hear(head, [siteJob('16', { state: 'ended', word: 'CANCELLED' })]);
  assert.equal(head.job(1).ended.get('cancelled')?.toString(), '5-6');
  assert.equal(head.job(1).active.size, 4);
  assert.equal(head.outcome(1), null);
});

scenario('[G4] what is cancelled here is to be cancelled there, until the site has', (head) => {
  steered(head);
  const listed = [siteJob('7'), siteJob('8', { state: 'running', nodes: ['n1'] })];
  hear(head, listed);
  assert.deepEqual(cancelledHere(head.state, HPC, listed), []);
  // Of one look what runs is taken over first.
  head.command({ kind: 'cancel_task', place: place('2') }, EVE);
  assert.deepEqual(cancelledHere(head.state, HPC, listed), [{ job: '7', index: null }]);
  hear(head, listed);
  assert.equal(head.state.jobs.size, 2);
  const over = [siteJob('7', { state: 'ended', word: 'CANCELLED' })];
  assert.deepEqual(cancelledHere(head.state, HPC, over), []);
});

scenario('[G4] only its owner and operators cancel it', (head) => {
  steered(head);
  hear(head, [siteJob('7')]);
  assert.equal(
    head.refused({ kind: 'cancel_task', place: place('1') }, user('mallory')),
    'auth.not_owner',
  );
});

scenario('[G5] elements of an array are followed one by one', (head) => {
  steered(head);
  const whole = siteJob('16', { elements: '1-3' });
  hear(head, [whole]);
  assert.equal(head.job(1).taskCount, 3);
  assert.deepEqual(head.schedule().sort(), ['1[1]#1@n1.hpc', '1[2]#1@n1.hpc', '1[3]#1@n2.hpc']);
  const orders = [...launches(head, 'n1.hpc'), ...launches(head, 'n2.hpc')];
  assert.deepEqual(
    orders.map(({ foreign }) => foreign?.index),
    [1, 2, 3],
  );
});

scenario('[G5] an element is no job of its own, however its site calls it', (head) => {
  steered(head);
  const names = [
    ['16', '16_2'],
    ['17', '17.2'],
    ['18[].server', '18[2].server'],
    ['night.run', 'night.run.2'],
  ] as const;
  for (const [whole, element] of names) {
    const told = { state: 'held', elements: '1,3' } as const;
    hear(head, [siteJob(whole, { ...told, elements: '1-3' })]);
    hear(head, [siteJob(whole, told), siteJob(element, { state: 'ended', word: 'CANCELLED' })]);
    hear(head, [siteJob(whole, told), siteJob(element, { state: 'running', nodes: ['n1'] })]);
    assert.deepEqual([...head.state.indexes.foreign.keys()].at(-1), `hpc/${whole}`);
  }
  for (const id of [1, 2, 3, 4]) assert.equal(head.job(id).ended.get('cancelled')?.toString(), '2');
  hear(head, [siteJob('9'), siteJob('9.1')]);
  assert.equal(head.state.jobs.size, 6, 'a job called so beside a job that is no array');
});

scenario(
  '[G5] a held array goes on once all elements are listed apart and one may start',
  (head) => {
    steered(head);
    hear(head, [siteJob('16', { elements: '1-2', state: 'held' })]);
    hear(head, [siteJob('16', { elements: '1', state: 'held' }), siteJob('16_2')]);
    assert.deepEqual(head.schedule(), [], 'its array is held, and listed');
    hear(head, [siteJob('16_1', { state: 'held' }), siteJob('16_2', { state: 'held' })]);
    assert.deepEqual(head.schedule(), []);
    hear(head, [siteJob('16_1'), siteJob('16_2')]);
    assert.equal(head.schedule().length, 2);
  },
);

scenario('[G16] a job runs where its user wants it, or waits with why it cannot', (head) => {
  steered(head);
  hear(head, [
    siteJob('20', { where: { only: ['n2'] } }),
    siteJob('21', { where: { not: ['n2'] } }),
    siteJob('22', { where: { features: ['gpu'] } }),
    siteJob('23', { where: { only: ['n9'] } }),
  ]);
  assert.deepEqual(
    [1, 2].map((id) => head.job(id).spec.request.nodeNames),
    [['n2.hpc'], ['n1.hpc']],
  );
  for (const id of [3, 4]) {
    const { isHeld, heldBecause } = head.job(id).spec.foreign ?? {};
    assert.deepEqual([isHeld, heldBecause], [true, 'no node of its site is where it is to run']);
  }
  assert.deepEqual(head.schedule().sort(), ['1#1@n2.hpc', '2#1@n1.hpc']);
  hear(head, [siteJob('22', { where: { features: [] } }), siteJob('23')]);
  for (const id of [3, 4]) assert.equal(head.job(id).spec.foreign?.isHeld, false);
});

scenario('[G16] the same word of a job is judged anew when its site has other nodes', (head) => {
  steered(head);
  const job = siteJob('24', { where: { features: ['gpu'] } });
  const isHeld = (): boolean | undefined => head.job(1).spec.foreign?.isHeld;
  for (const _ of [1, 2]) hear(head, [job]);
  assert.equal(isHeld(), true);
  const better = [siteNode('n1'), { ...siteNode('n2'), features: ['gpu'] }];
  for (const _ of [1, 2]) hear(head, [job], 'steer', better);
  assert.equal(isHeld(), false);
  assert.deepEqual(head.job(1).spec.request.nodeNames, ['n2.hpc']);
  hear(head, [job]);
  assert.equal(isHeld(), true);
});

scenario(
  '[G3] what ended before it was seen running has the nodes that its site recorded',
  (head) => {
    steered(head);
    hear(head, [siteJob('30', { state: 'held' })]);
    const ended = { state: 'ended', exit: { code: 3 }, nodes: ['n2'], startedAt: 1 } as const;
    hear(head, [siteJob('30', ended)]);
    const [order] = launches(head, 'n2.hpc');
    assert.deepEqual(order?.foreign, { job: '30', index: null });
    assert.equal(head.outcome(1 as JobId), null, 'its gateway tells how it ended');
    hear(head, [siteJob('31'), siteJob('30', ended)]);
    hear(head, [siteJob('31', { ...ended, nodes: [] }), siteJob('30', ended)]);
    assert.equal(head.outcome(2 as JobId), 'failed');
  },
);

scenario(
  '[G16] what its site did not start goes back to the queue, and frees its nodes',
  (head) => {
    steered(head);
    hear(head, [siteJob('7')]);
    const [epoch = ''] = head.schedule();
    const [, node = ''] = epoch.split('@');
    const detail = `its site did not start it on ${node}: Resources`;
    const end = { cause: 'launch_failed', nodeFault: false, there: 'untaken', detail } as const;
    head.ended(epoch.split('@')[0] ?? '', end, node);
    assert.equal(head.outcome(1 as JobId), null);
    hear(head, [siteJob('7', { state: 'held', reason: detail })]);
    assert.deepEqual(head.schedule(), []);
    assert.match(why(head, 1), /did not start it on/);
    hear(head, [siteJob('7')]);
    assert.equal(head.schedule().length, 1);
  },
);

scenario('[G5] a held array goes on also while its site does not say what became of it', (head) => {
  steered(head);
  hear(head, [siteJob('16', { elements: '1-2', state: 'held' })]);
  const whole = siteJob('16', { elements: '1-2', state: 'unknown' });
  hear(head, [whole, siteJob('16_1', { state: 'held' }), siteJob('16_2', { state: 'held' })]);
  assert.deepEqual(head.schedule(), []);
  hear(head, [whole, siteJob('16_1'), siteJob('16_2')]);
  assert.equal(head.schedule().length, 2);
});

scenario('[G16] an array whose elements are all listed apart and held waits', (head) => {
  steered(head);
  hear(head, [siteJob('16', { elements: '1-2' })]);
  const held = { state: 'held', reason: 'not started there' } as const;
  hear(head, [siteJob('16_1', held), siteJob('16_2', { ...held, reason: 'by its user' })]);
  assert.deepEqual(head.schedule(), []);
  assert.match(why(head, 1), /not started there/);
  hear(head, [siteJob('16_1', held), siteJob('16_2')]);
  assert.equal(head.schedule().length, 2);
});

scenario('[G5] an element that ran before its array was seen is a job of its own', (head) => {
  steered(head);
  const running = siteJob('16_1', { state: 'running', nodes: ['n1'] });
  hear(head, [siteJob('16', { elements: '2-3', state: 'held' }), running]);
  hear(head, [siteJob('16', { elements: '2-3', state: 'held' }), running]);
  assert.equal(head.state.jobs.size, 2);
  assert.equal(head.node('n1.hpc').free.cpuCount, 1);
  assert.equal(ownIdOf(head.state, 'hpc/16_1'), '2');
  hear(head, [siteJob('16_2', { state: 'running', nodes: ['n2'] }), running]);
  assert.equal(head.state.jobs.size, 2, 'one that waited in it stays in it');
});

scenario(
  '[G5] of an array that is cancelled while some of it begins, only the rest is over',
  (head) => {
    steered(head);
    hear(head, [siteJob('16', { elements: '1-3' })]);
    hear(head, [
      siteJob('16', { state: 'ended', word: 'CANCELLED', elements: '2-3' }),
      siteJob('16_1', { state: 'running', nodes: ['n1'] }),
    ]);
    assert.deepEqual([...head.job(1).active.keys()], [1]);
    assert.equal(head.job(1).pending.size, 0);
  },
);

scenario('[G5] an element that was cancelled there is cancelled here', (head) => {
  steered(head);
  hear(head, [siteJob('16', { elements: '1-3', state: 'held' })]);
  hear(head, [
    siteJob('16', { elements: '1,3', state: 'held' }),
    siteJob('16_2', { state: 'ended', word: 'CANCELLED' }),
  ]);
  assert.equal(head.job(1).ended.get('cancelled')?.toString(), '2');
  assert.equal(head.outcome(1), null);
  assert.equal(head.state.jobs.size, 1);
});

scenario('[G7] a silent gateway is no reason to run anything again', (head) => {
  head.connect('hpc', { cpus: 4, site: 'hpc' });
  head.connect('n1');
  head.submit({ nodeNames: [HPC] });
  head.submit({ nodeNames: ['n1' as NodeName] });
  head.schedule();
  head.started('1#1');
  head.started('2#1');
  for (const name of ['hpc', 'n1']) {
    head.disconnect(name);
    head.silence(name, 60_000);
  }
  assert.deepEqual(head.holders('1#1'), ['hpc']);
  assert.equal(head.task('1').epoch, 1);
  assert.equal(head.task('1').state, 'running');
  assert.equal(head.task('2').state, 'pending');
});

scenario('[G7] a restart of the machine of a gateway ends nothing at its site', (head) => {
  head.connect('hpc', { cpus: 4, site: 'hpc', bootId: 'one' });
  head.submit({ nodeNames: [HPC] });
  assert.deepEqual(head.schedule(), ['1#1@hpc']);
  head.disconnect('hpc');
  // Its order may not have arrived: it is told again.
  head.connect('hpc', { cpus: 4, site: 'hpc', bootId: 'two' });
  assert.equal(head.task('1').epoch, 1);
  assert.deepEqual(head.orders('hpc'), ['launch 1#1']);
});

scenario('[G2] a job that cannot be ours is left to its site, and it is said why', (head) => {
  steered(head);
  const [strange, large] = [
    siteJob('7', { owner: 'eve@a b' }),
    siteJob('8', { elements: '0-4000000000' }),
  ];
  hear(head, [strange, large, siteJob('9', { elements: '1-2' })]);
  assert.equal(head.state.jobs.size, 1);
  assert.match(whyNotOurs(strange) ?? '', /^its owner 'eve@a b' is no name/);
  assert.match(whyNotOurs(large) ?? '', /^its array: index 4000000000 is larger/);
  assert.equal(whyNotOurs(siteJob('9', { elements: '1-2' })), null);
});

scenario('[G8] what the rules of its site hide is none of ours', (head) => {
  head.connect('hpc', { cpus: 0 });
  const { session } = head.node('hpc');
  const hidden = { ...SEEN, hiddenBy: 'old' };
  const nodes = [siteNode('n1'), { ...siteNode('n2'), seen: hidden }];
  const jobs = [siteJob('7', { seen: hidden }), siteJob('8')];
  hearSite(head, { node: HPC, session, mode: 'steer', nodes, jobs });
  assert.deepEqual([...head.state.nodes.keys()], ['hpc', 'n1.hpc']);
  assert.deepEqual([...head.state.indexes.foreign.keys()], ['hpc/8']);
  assert.equal(whyNotOurs(siteJob('7', { seen: hidden })), 'rule old of its site hides it');
});

scenario(
  '[G8] a job has the labels and the partition that the rules of its site give it',
  (head) => {
    steered(head);
    hear(head, [siteJob('7', { seen: { ...SEEN, partition: 'big', labels: ['gpu'] } })]);
    const { spec } = head.job(1);
    assert.deepEqual([spec.partition, spec.request.labels], ['big', ['site=hpc', 'gpu']]);
  },
  {
    scheduling: {
      ...plainScheduling('first_fit'),
      partitions: { default: plainPartition('default'), big: plainPartition('big') },
    },
  },
);

scenario('[G2] a job and the elements of an array are found by the names of their site', (head) => {
  steered(head);
  hear(head, [siteJob('7'), siteJob('16', { elements: '1-3' })]);
  hear(head, [siteJob('13[].srv.x', { elements: '1-3' }), siteJob('a.b', { elements: '1-3' })]);
  const named = ['hpc/13[2].srv.x', 'hpc/a.b.3', 'hpc/13[2]', 'hpc/7.1', 'hpc/a_3'];
  assert.deepEqual(
    named.map((id) => ownIdOf(head.state, id)),
    ['3[2]', '4[3]', null, null, null],
  );
  const ids = ['hpc/7', 'hpc/16', 'hpc/16_2', 'hpc/16.3', 'hpc/8', 'other/7', 'hpc/8_1'];
  assert.deepEqual(
    ids.map((id) => ownIdOf(head.state, id)),
    ['1', '2', '2[2]', '2[3]', null, null, null],
  );
});

scenario('[G3] a time limit that is changed at the site counts from then on', (head) => {
  steered(head);
  hear(head, [siteJob('7', { state: 'held' })]);
  assert.equal(head.job(1).spec.walltimeMs, 60_000);
  const { spec } = head.job(1);
  hear(head, [siteJob('7', { state: 'held' })]);
  assert.equal(head.job(1).spec, spec, 'the same again is nothing new');
  hear(head, [siteJob('7', { state: 'held', walltimeMs: 7_200_000 })]);
  assert.equal(head.job(1).spec.walltimeMs, 7_200_000);
  hear(head, [siteJob('7', { state: 'waiting', walltimeMs: null })]);
  assert.equal(head.job(1).spec.walltimeMs, null);
});

scenario(
  '[G3] a time limit that is changed at the site while it runs counts, in plans too',
  (head) => {
    steered(head);
    const running = (more: Partial<ListedJob> = {}) =>
      siteJob('7', { state: 'running', word: 'RUNNING', nodes: ['n1'], cpuCount: 2, ...more });
    hear(head, [running()]);
    head.started('1#1', 'n1.hpc');
    head.submit({ cpuCount: 2, nodeNames: ['n1.hpc' as NodeName] });
    head.schedule();
    const { state, settings } = head;
    const known = { state, settings, now: () => head.at };
    const startsAt = () => expect(known, pendingOf(head.job(2), 0)).prospect?.forecast?.at ?? 0;
    const planned = startsAt();
    const { spec } = head.job(1);
    hear(head, [running()]);
    assert.equal(head.job(1).spec, spec, 'the same again is nothing new');
    hear(head, [running({ walltimeMs: 7_200_000 })]);
    assert.equal(head.job(1).spec.walltimeMs, 7_200_000);
    assert.equal(startsAt() - planned, 7_200_000 - 60_000);
    hear(head, [running({ walltimeMs: null })]);
    assert.equal(head.job(1).spec.walltimeMs, null);
    assert.ok(startsAt() >= UNKNOWN_END, 'nobody knows when');
    hear(head, [running({ state: 'ended', walltimeMs: 1000 })]);
    assert.equal(head.job(1).spec.walltimeMs, null, 'what is over has what it had');
  },
);

scenario('[G3] an array has the longest time limit that any of its tasks has', (head) => {
  steered(head);
  const element = (index: number, walltimeMs: number | null) =>
    siteJob(`7_${index}`, { state: 'running', word: 'RUNNING', nodes: ['n1'], walltimeMs });
  hear(head, [siteJob('7', { elements: '0-3' })]);
  hear(head, [siteJob('7', { elements: '2-3' }), element(0, 60_000), element(1, 7_200_000)]);
  assert.equal(head.job(1).spec.walltimeMs, 7_200_000);
  const { spec } = head.job(1);
  hear(head, [siteJob('7', { elements: '2-3' }), element(0, 60_000), element(1, 7_200_000)]);
  assert.equal(head.job(1).spec, spec, 'the same again is nothing new');
  hear(head, [siteJob('7', { elements: '2-3' }), element(0, 60_000)]);
  assert.equal(head.job(1).spec.walltimeMs, 60_000);
  hear(head, [element(0, null), element(2, 60_000)]);
  assert.equal(head.job(1).spec.walltimeMs, null);
});

scenario(
  '[G3] a size that is changed at the site while a job waits counts from then on',
  (head) => {
    steered(head);
    const waiting = (more: Partial<ListedJob> = {}) => siteJob('7', { state: 'held', ...more });
    hear(head, [waiting()]);
    assert.equal(head.job(1).spec.request.perNode.cpuCount, 1);
    const { labels } = head.job(1).spec.request;
    hear(head, [waiting({ nodeCount: 2, cpuCount: 4, memoryBytes: 5, isExclusive: true })]);
    const { nodeCount, perNode, exclusive, ...rest } = head.job(1).spec.request;
    assert.deepEqual([nodeCount, exclusive, rest.labels], [2, true, labels]);
    assert.deepEqual([perNode.cpuCount, perNode.memoryBytes], [2, 5]);
    const { spec } = head.job(1);
    hear(head, [waiting({ nodeCount: 2, cpuCount: 4, memoryBytes: 5, isExclusive: true })]);
    assert.equal(head.job(1).spec, spec, 'the same again is nothing new');
    // Tasks that run have what they were given.
    hear(head, [siteJob('8', { elements: '0-3' })]);
    const busy = siteJob('8_0', { state: 'running', word: 'RUNNING', nodes: ['n1'] });
    hear(head, [busy, siteJob('8', { elements: '1-3', cpuCount: 2 })]);
    assert.equal(head.job(2).spec.request.perNode.cpuCount, 1);
  },
);

scenario('[G3] elements that were cancelled at the site while they waited are over', (head) => {
  steered(head);
  hear(head, [siteJob('7', { elements: '0-9' })]);
  assert.deepEqual(taskCounts(head.job(1)), { pending: 10 });
  // One runs, one is listed by itself and waits, and the list of the others has been cut short.
  const alone = [
    siteJob('7_0', { state: 'running', word: 'RUNNING', nodes: ['n1'] }),
    siteJob('7_1', { state: 'held' }),
  ];
  hear(head, [siteJob('7', { elements: '2,4,...' }), ...alone]);
  assert.deepEqual(taskCounts(head.job(1)), { pending: 9, starting: 1 });
  hear(head, [siteJob('7', { elements: '2-5' }), ...alone]);
  assert.deepEqual(taskCounts(head.job(1)), { pending: 5, starting: 1, done: 4 });
  hear(head, [siteJob('7', { elements: '3' }), ...alone]);
  assert.deepEqual(taskCounts(head.job(1)), { pending: 2, starting: 1, done: 7 });
  // The array itself is gone with the last that it had: one has started, or was cancelled too.
  hear(head, alone);
  assert.deepEqual(taskCounts(head.job(1)), { pending: 1, starting: 1, done: 8 });
  const listed = new Map(alone.map((job) => [job.id, job]));
  assert.deepEqual(unlistedHere(head.state, HPC, listed), []);
});

scenario(
  '[G3] elements that ended unseen have the end that their site tells, or none yet',
  (head) => {
    steered(head);
    hear(head, [siteJob('7', { elements: '0-9' })]);
    const unknown = [1, 2].map((index) => siteJob(`7_${index}`, { state: 'unknown' }));
    hear(head, [siteJob('7', { elements: '0,3-9' }), ...unknown]);
    assert.deepEqual(taskCounts(head.job(1)), { pending: 10 });
    const exits = [{ code: 0 }, { code: 3 }] as const;
    const ended = exits.map((exit, at) => {
      return siteJob(`7_${at + 1}`, { state: 'ended', word: 'gone', exit, nodes: [] });
    });
    hear(head, [siteJob('7', { elements: '0,3-9' }), ...ended]);
    const { ended: over } = head.job(1);
    assert.deepEqual(
      [...over].map(([kind, indices]) => [kind, indices.toString()]),
      [
        ['completed', '1'],
        ['failed', '2'],
      ],
    );
  },
);

scenario('an array of which all is listed by itself costs no more than its elements', (head) => {
  steered(head);
  const count = 10_000;
  hear(head, [siteJob('7', { elements: `0-${count - 1}` })]);
  const alone = Array.from({ length: count }, (_, index) => siteJob(`7_${index}`));
  const before = process.cpuUsage();
  hear(head, alone);
  const { user: spentUs } = process.cpuUsage(before);
  assert.deepEqual(taskCounts(head.job(1)), { pending: count });
  // To compare each with all the others takes a hundred times as long.
  assert.ok(spentUs < 10e6, `${spentUs} us`);
});
