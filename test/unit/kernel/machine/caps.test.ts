// Caps: what one user may hold in the whole cluster at once.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { viewLookAhead } from '../../../../src/kernel/head/answers/prospect-view.ts';
import { lookAhead, pendingOf } from '../../../../src/kernel/machine/answers/explain.ts';
import {
  type Caps,
  type CapsChange,
  capsFrom,
  changedCaps,
  describeCaps,
} from '../../../../src/kernel/model/caps.ts';
import type { JobId, UserName } from '../../../../src/kernel/model/ids.ts';
import { plainQos, plainScheduling } from '../../../../src/kernel/model/scheduling.ts';
import {
  ADMIN,
  ANN,
  BOB,
  OPERATOR,
  SETTINGS,
  scenario,
  submission,
  type TestHead,
} from '../../../support/controller.ts';
import { card } from '../../../support/nodes.ts';
import { why } from '../../../support/why.ts';

const A100 = (number: number) => card(number, { type: 'a100-80g' });

/** From here on the config says this of all users, as after a reload. */
function everybody(head: TestHead, caps: Caps): void {
  head.settings = { ...SETTINGS, scheduling: { ...plainScheduling('first_fit'), caps } };
}

function give(head: TestHead, user: string, caps: CapsChange): void {
  head.command({ kind: 'set_user', user: user as UserName, caps, mode: 'either' }, ADMIN);
}

scenario('[P16] a cap counts what a user holds under all partitions, of others nothing', (head) => {
  head.connect('n1', { cpus: 8, gpus: 4 });
  give(head, 'ann', { cpus: 3, gpus: 1, running: 3 });
  head.submit({ cpuCount: 2 });
  head.submit({ cpuCount: 2 });
  head.submit({ cpuCount: 1, gpuCount: 1 });
  head.submit({ cpuCount: 2 }, { by: BOB });
  assert.deepEqual(head.schedule(), ['3#1@n1', '1#1@n1', '4#1@n1']);
  assert.match(
    why(head, 2),
    /^quota: ann runs tasks with 3 cpus; ann's cap is 3 in the whole cluster/,
  );
  head.started('3#1');
  head.ended('3#1');
  assert.deepEqual(head.schedule(), []);
  head.submit({ cpuCount: 1 });
  assert.deepEqual(head.schedule(), ['5#1@n1'], 'smaller ones go on');
});

scenario('[P16] gpus and running tasks are counted as cpus are', (head) => {
  head.connect('n1', { cpus: 8, gpus: 4 });
  everybody(head, { gpus: 1, running: 2 });
  for (let count = 0; count < 2; count += 1) head.submit({ gpuCount: 1 });
  for (let count = 0; count < 2; count += 1) head.submit({});
  assert.deepEqual(head.schedule(), ['1#1@n1', '3#1@n1']);
  assert.match(why(head, 4), /^quota: ann runs 2 tasks; ann's cap is 2/);
  head.started('3#1');
  head.ended('3#1');
  assert.deepEqual(
    head.schedule(),
    ['4#1@n1'],
    'a task without gpus passes one that waits for its',
  );
  give(head, 'ann', { running: 'none' });
  assert.deepEqual(head.schedule(), []);
  assert.match(why(head, 2), /^quota: ann runs tasks with 1 gpu; ann's cap is 1/);
  give(head, 'ann', { gpus: 2 });
  assert.deepEqual(head.schedule(), ['2#1@n1'], 'a raised cap lets it start');
});

scenario('[P16] an array starts up to the cap, and its forecast knows of it', (head) => {
  head.connect('n1', { cpus: 8 });
  give(head, 'ann', { running: 2 });
  head.submit({ array: { indices: '0-2' }, walltimeMs: 60_000 });
  assert.deepEqual(head.schedule(), ['1[0]#1@n1', '1[1]#1@n1']);
  head.started('1[0]#1');
  head.started('1[1]#1');
  const ahead = lookAhead(head.state, head.settings, pendingOf(head.job(1), 2), head.at);
  assert.match(viewLookAhead(ahead, 'task').words, /in 1m/);
});

scenario('[P16] what could never start under a cap is refused, what runs goes on', (head) => {
  head.connect('n1', { cpus: 8 });
  everybody(head, { cpus: 4 });
  assert.equal(head.refused(submission({ cpuCount: 5 }), ANN), 'user.cap_exceeded');
  head.submit({ cpuCount: 4 });
  head.submit({ cpuCount: 2 });
  assert.deepEqual(head.schedule(), ['1#1@n1']);
  const change = { kind: 'change_job', jobId: 2 as JobId, change: { cpuCount: 6 } } as const;
  assert.equal(head.refused(change, ANN), 'user.cap_exceeded');
  give(head, 'ann', { cpus: 1 });
  assert.equal(head.job(1).active.size, 1);
  head.started('1#1');
  head.ended('1#1');
  assert.deepEqual(head.schedule(), []);
  assert.match(
    why(head, 2),
    /^quota: ann's cap is 1 cpu in the whole cluster, less than this asks for/,
  );
  head.command({ kind: 'remove_user', user: 'ann' as UserName }, ADMIN);
  assert.deepEqual(head.schedule(), ['2#1@n1'], 'the caps of all hold for who has none');
});

scenario('[P16] only admins set caps, and only numbers that a cap can have', (head) => {
  const command = { kind: 'set_user', user: 'ann' as UserName, mode: 'either' } as const;
  const refused = head.refused({ ...command, caps: { cpus: 1 } }, OPERATOR);
  assert.equal(refused, 'auth.role_needed');
  for (const cpus of [-1, 0.5, 1e9, Number.NaN]) {
    assert.equal(head.refused({ ...command, caps: { cpus } }, ADMIN), 'argument.invalid');
  }
  for (const kind of ['gpus:', 'gpus:A100', 'gpus:a b', 'memory', `gpus:${'a'.repeat(60)}`]) {
    assert.equal(head.refused({ ...command, caps: { [kind]: 1 } }, ADMIN), 'argument.invalid');
  }
  const many = Array.from({ length: 40 }, (_, at) => [`gpus:t${at}`, 1]);
  const caps = Object.fromEntries(many) as CapsChange;
  assert.equal(head.refused({ ...command, caps }, ADMIN), 'argument.invalid');
});

test('[P16] an own cap stands before the one of all, and goes back to it', () => {
  const own = changedCaps({ cpus: 4 }, { gpus: 'none', running: 9 });
  assert.deepEqual(own, { cpus: 4, gpus: null, running: 9 });
  assert.deepEqual(capsFrom({ cpus: 1, gpus: 1 }, own), { cpus: 4, running: 9 });
  assert.deepEqual(changedCaps(own, { cpus: 'default', running: 'default' }), { gpus: null });
  const typed = { gpus: 4, 'gpus:a100': 2, 'gpus:t4': null };
  assert.deepEqual(changedCaps(typed, { gpus: 'default' }), {}, 'of each type as others, too');
  assert.deepEqual(changedCaps(typed, { gpus: 'default', 'gpus:a100': 1 }), { 'gpus:a100': 1 });
  assert.deepEqual(changedCaps(typed, { gpus: 9 }), { ...typed, gpus: 9 });
  assert.equal(describeCaps(own), '4 cpus, any gpus, 9 running tasks');
});

scenario('[P16] the cap of a group counts for its members, before an own one', (head) => {
  head.connect('n1', { cpus: 8 });
  const memberCaps = { ann: { cpus: 1 } };
  const scheduling = { ...plainScheduling('first_fit'), caps: { cpus: 4 }, memberCaps };
  head.settings = { ...SETTINGS, scheduling };
  assert.equal(head.refused(submission({ cpuCount: 2 }), ANN), 'user.cap_exceeded');
  head.submit({ cpuCount: 2 }, { by: BOB });
  give(head, 'ann', { cpus: 2 });
  head.submit({ cpuCount: 2 });
});

scenario('[V21] a cap of a type counts what may be given of it, and no other type', (head) => {
  const cards = [A100(0), A100(1), card(2, { type: 't4' }), card(3, { type: 't4' })];
  head.connect('n1', { cpus: 8, gpus: 4, cards });
  everybody(head, { gpus: 3, 'gpus:a100': 1 });
  head.submit({ gpuCount: 'a100:1' });
  head.submit({ gpuCount: 'a100-80g:1' });
  head.submit({ gpuCount: 1 });
  head.submit({ gpuCount: 't4:1' });
  head.submit({ gpuCount: 1 }, { by: BOB });
  assert.deepEqual(head.schedule(), ['1#1@n1', '4#1@n1', '5#1@n1']);
  assert.match(
    why(head, 2),
    /^quota: ann runs tasks with 1 a100 gpu; ann's cap is 1 in the whole cluster \(what may be given any type counts, too\)/,
  );
  assert.match(why(head, 3), /^quota: ann runs tasks with 1 a100 gpu/);
  head.ended('1#1');
  assert.deepEqual(head.schedule(), ['2#1@n1']);
  give(head, 'ann', { 'gpus:a100': 2 });
  assert.deepEqual(head.schedule(), ['3#1@n1']);
});

scenario('[V21] what no end of others would let start is refused, with the type', (head) => {
  const cards = [A100(0), A100(1), card(2, { type: 't4' })];
  head.connect('n1', { cpus: 8, gpus: 3, cards });
  everybody(head, { 'gpus:a100': 1 });
  const hintOf = (gpuCount: number | string): string | null => {
    const command = submission({ gpuCount });
    const { result } = head.once({ kind: 'command', command, actor: ANN });
    assert.ok(!result.ok && result.error.code === 'user.cap_exceeded');
    assert.equal(result.error.details['asked'], '2 a100 gpus');
    return result.error.hint ?? null;
  };
  assert.equal(hintOf('a100:2'), null);
  assert.match(hintOf(2) ?? '', /name others with --gpu-type/);
  give(head, 'ann', { 'gpus:a100': 'none' });
  head.submit({ gpuCount: 2 });
  assert.deepEqual(head.schedule(), ['1#1@n1']);
});

scenario('[V21] a QoS caps gpus of each user, all and of types', (head) => {
  const cards = [A100(0), A100(1), card(2, { type: 't4' }), card(3, { type: 't4' })];
  head.connect('n1', { cpus: 8, gpus: 4, cards });
  const short = { ...plainQos('short'), gpusPerUser: { gpus: 2, 'gpus:a100': 1 } };
  const scheduling = { ...plainScheduling('first_fit'), qualities: { short } };
  head.settings = { ...SETTINGS, scheduling };
  const job = { qos: 'short', walltimeMs: 60_000 };
  head.submit({ ...job, gpuCount: 'a100:1' });
  head.submit({ ...job, gpuCount: 'a100:1' });
  head.submit({ ...job, gpuCount: 't4:1' });
  head.submit({ ...job, gpuCount: 't4:1' });
  head.submit({ ...job, gpuCount: 'a100:1' }, { by: BOB });
  assert.deepEqual(head.schedule(), ['1#1@n1', '3#1@n1', '5#1@n1']);
  assert.match(
    why(head, 2),
    /^quota: ann runs tasks with 2 gpus under QoS short; the limit is 2 per user/,
  );
  head.submit(job);
  assert.deepEqual(head.schedule(), ['6#1@n1'], 'what asks for none is under none');
  for (const id of ['1#1', '3#1']) head.started(id);
  head.ended('3#1');
  assert.deepEqual(head.schedule(), ['4#1@n1'], 'the a100 is at its own limit');
  head.started('4#1');
  head.ended('4#1');
  assert.match(
    why(head, 2),
    /^quota: ann runs tasks with 1 a100 gpu under QoS short; the limit is 1/,
  );
  const ahead = lookAhead(head.state, head.settings, pendingOf(head.job(2), 0), head.at);
  assert.match(viewLookAhead(ahead, 'task').words, /in 1m/);
  const command = submission({ ...job, gpuCount: 'a100:2' });
  const { result } = head.once({ kind: 'command', command, actor: ANN });
  assert.ok(!result.ok && result.error.code === 'user.cap_exceeded');
  assert.equal(result.error.details['cap'], '1 under QoS short');
  head.submit({ walltimeMs: 60_000, gpuCount: 'a100:2', held: true });
  const change = { kind: 'change_job', jobId: head.job(7).id, change: { qos: 'short' } } as const;
  assert.equal(head.refused(change, ANN), 'user.cap_exceeded');
});

scenario('[V21] a forecast knows of the caps of types', (head) => {
  head.connect('n1', { cpus: 8, gpus: 3, cards: [A100(0), A100(1), card(2, { type: 't4' })] });
  give(head, 'ann', { 'gpus:a100': 1 });
  head.submit({ gpuCount: 'a100:1', walltimeMs: 60_000 });
  head.submit({ gpuCount: 't4:1', walltimeMs: 600_000 });
  head.submit({ gpuCount: 'a100:1', walltimeMs: 60_000 });
  assert.deepEqual(head.schedule(), ['1#1@n1', '2#1@n1']);
  head.started('1#1');
  const ahead = lookAhead(head.state, head.settings, pendingOf(head.job(3), 0), head.at);
  assert.match(viewLookAhead(ahead, 'task').words, /in 1m/);
});

scenario('[V21] a cap of a type that no node has keeps nobody out until one has it', (head) => {
  head.connect('n1', { cpus: 8, gpus: 2, cards: [A100(0), A100(1)] });
  give(head, 'ann', { 'gpus:rtx': 1 });
  head.submit({ gpuCount: 1 });
  head.submit({ gpuCount: 1 });
  assert.equal(head.schedule().length, 2);
  give(head, 'bob', { 'gpus:a100': 1 });
  head.connect('n2', { cpus: 8, gpus: 2, cards: [A100(0), card(1, { type: 'rtx' })] });
  head.submit({ gpuCount: 1 });
  assert.deepEqual(head.schedule(), [], 'it may be given one of those now');
  assert.match(why(head, 3), /rtx/);
});

/** From here on ann and bob are a group, which has these caps together. */
function lab(head: TestHead, caps: Caps): void {
  const groupCaps = [{ group: 'lab', users: ['ann', 'bob'], caps }];
  head.settings = { ...SETTINGS, scheduling: { ...plainScheduling('first_fit'), groupCaps } };
}

scenario('[P17] what all of a group hold together is bounded, also by type of gpu', (head) => {
  const cards = [A100(0), A100(1), A100(2), card(3, { type: 't4' })];
  head.connect('n1', { cpus: 16, gpus: 4, cards });
  lab(head, { cpus: 9, 'gpus:a100': 2, 'gpus:v100': 0 });
  head.submit({ gpuCount: 'a100:1', walltimeMs: 60_000 });
  head.submit({ gpuCount: 'a100:1', walltimeMs: 60_000 }, { by: BOB });
  head.submit({ gpuCount: 'a100:1', walltimeMs: 60_000 }, { by: BOB });
  head.submit({ gpuCount: 't4:1' }, { by: BOB });
  head.submit({ gpuCount: 'a100:1' }, { by: OPERATOR });
  head.submit({ cpuCount: 7 });
  assert.deepEqual(head.schedule(), ['1#1@n1', '2#1@n1', '4#1@n1', '5#1@n1']);
  assert.match(
    why(head, 3),
    /^quota: group lab runs tasks with 2 a100 gpus; the cap of group lab together is 2 a100 gpus in the whole cluster/,
  );
  assert.match(
    why(head, 6),
    /^quota: group lab runs tasks with 3 cpus; the cap of group lab together is 9 cpus/,
  );
  head.started('1#1');
  const ahead = lookAhead(head.state, head.settings, pendingOf(head.job(3), 0), head.at);
  assert.match(viewLookAhead(ahead, 'task').words, /in 1m/);
  head.ended('1#1');
  assert.deepEqual(head.schedule(), ['3#1@n1']);
  head.ended('2#1');
  assert.deepEqual(head.schedule(), ['6#1@n1']);
});

scenario('[P17] what a group could never hold together is refused', (head) => {
  head.connect('n1', { cpus: 16 });
  lab(head, { cpus: 2 });
  const command = submission({ cpuCount: 3 });
  const { result } = head.once({ kind: 'command', command, actor: ANN });
  assert.ok(!result.ok && result.error.code === 'user.cap_exceeded');
  assert.equal(result.error.details['cap'], '2 together with all of group lab');
  head.submit({ cpuCount: 3 }, { by: OPERATOR });
});
