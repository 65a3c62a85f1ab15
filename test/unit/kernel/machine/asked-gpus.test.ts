// Jobs that say which gpus they want: which they get, and what is said when there are none.

import assert from 'node:assert/strict';
import type { GpuCard } from '../../../../src/kernel/model/gpu.ts';
import type { JobChange, Submission } from '../../../../src/kernel/model/submission.ts';
import {
  ADMIN,
  ANN,
  BOB,
  OPERATOR,
  scenario,
  submission,
  type TestHead,
} from '../../../support/controller.ts';
import { card, GIB } from '../../../support/nodes.ts';
import { MINUTE, reserve } from '../../../support/reservations.ts';
import { why } from '../../../support/why.ts';

const of = (number: number, type: string, gib: number, more: Partial<GpuCard> = {}): GpuCard =>
  card(number, { type, memoryBytes: gib * GIB, ...more });

const MIXED = [
  of(0, 'a100-80g', 80),
  of(1, 'rtx3090', 24),
  of(2, 'a100-40g', 40),
  of(3, 'rtx3090', 24),
];

function gpusOf(head: TestHead, task: string): readonly number[] {
  return [...head.task(task).parts.values()].flatMap((part) => part.share.gpus);
}

/** Code and words of the refusal, with its hint. */
function refusal(head: TestHead, wish: Partial<Submission>): string {
  const command = submission(wish);
  const { result } = head.perform({ kind: 'command', command, actor: ADMIN });
  assert.ok(!result.ok, 'it was not refused');
  const { code, details, hint = '' } = result.error;
  return [code, ...Object.values(details), hint].join(' | ');
}

scenario('[V8] a job gets cards of the type, the least that do', (head) => {
  head.connect('n1', { cpus: 8, gpus: 4, cards: MIXED });
  head.submit({ gpuCount: 'a100:1' });
  head.submit({ gpuCount: 1, gpuMemoryBytes: 30 * GIB });
  head.submit({ gpuTypes: ['h100', 'rtx3090'], gpuCount: 2 });
  assert.deepEqual(head.schedule(), ['1#1@n1', '2#1@n1', '3#1@n1']);
  assert.deepEqual(gpusOf(head, '1'), [2]);
  assert.deepEqual(gpusOf(head, '2'), [0]);
  assert.deepEqual(gpusOf(head, '3'), [1, 3]);
});

scenario('[V8] a number alone leaves large cards to those who need them', (head) => {
  head.connect('n1', { cpus: 8, gpus: 4, cards: MIXED });
  head.submit({ gpuCount: 1 });
  head.submit({ gpuCount: 2 });
  assert.deepEqual(head.schedule(), ['1#1@n1', '2#1@n1']);
  assert.deepEqual(gpusOf(head, '1'), [1]);
  assert.deepEqual(gpusOf(head, '2'), [2, 3]);
});

scenario('[V8] why says what is missing, and that enough are free on different nodes', (head) => {
  head.connect('n1', { gpus: 2, cards: [of(0, 'a100-80g', 80), of(1, 'a100-80g', 80)] });
  head.connect('n2', { gpus: 2, cards: [of(0, 'a100-80g', 80), of(1, 'rtx3090', 24)] });
  head.submit({ gpuCount: 'a100:1', nodeNames: [head.node('n1').name] });
  assert.deepEqual(head.schedule(), ['1#1@n1']);
  head.submit({ gpuCount: 'a100:2' });
  head.submit({ gpuCount: 1, gpuMemoryBytes: 60 * GIB });
  assert.deepEqual(head.schedule(), ['3#1@n1']);
  const short = 'resources: needs 1 node with 1 cpu, 2 a100;';
  const both = 'gpu 0 is given to 1 of ann; gpu 1 is given to 3 of ann';
  assert.equal(why(head, 2), `${short} n1 has only 0 a100 free (${both})`);
  head.ended('3#1');
  assert.equal(
    why(head, 2),
    `${short} n1 has only 1 a100 free (gpu 0 is given to 1 of ann)`,
    'n2 could never hold both',
  );
  head.connect('n2', { gpus: 2, cards: [of(0, 'a100-80g', 80), of(1, 'a100-80g', 80)] });
  head.submit({ gpuCount: 'a100:1', nodeNames: [head.node('n2').name], nice: -100 });
  assert.deepEqual(head.schedule(), ['4#1@n2']);
  assert.equal(
    why(head, 2),
    `${short} n1 has only 1 a100 free (gpu 0 is given to 1 of ann), ` +
      'n2 has only 1 a100 free (gpu 0 is given to 4 of ann); ' +
      '2 a100 are free, but on different nodes',
  );
});

scenario('[V8] what no node could ever hold is refused, with what there is', (head) => {
  head.connect('n1', { gpus: 4, cards: MIXED });
  head.connect('n2', { cpus: 2 });
  assert.match(
    refusal(head, { gpuCount: 'a10:1' }),
    /^resources.unsatisfiable .* 1 a10 \| n1 has no a10 \(its gpus: a100-80g 80G, 2 rtx3090 24G, a100-40g 40G\) \| Did you mean 'a100'\? Nodes have these types: a100-40g, a100-80g, rtx3090\.$/,
  );
  assert.match(refusal(head, { gpuCount: 'v100:1' }), /Nodes have these types: a100-40g/);
  assert.match(refusal(head, { gpuCount: 'a100:3' }), /n1 has only 2 a100/);
  assert.match(
    refusal(head, { gpuCount: 2, gpuMemoryBytes: 60 * GIB }),
    /n1 has only 1 gpu with 60G and more/,
  );
  assert.match(refusal(head, { gpuShareBytes: 90 * GIB }), /n1 has no gpu with 90G to share/);
  assert.match(
    refusal(head, { gpuCount: 0, gpuTypes: ['a100'] }),
    /asks for 0 gpus and says which/,
  );
  assert.match(
    refusal(head, { gpuCount: 'a100:1', gpuTypes: ['h100'] }),
    /names the type a100 and --gpu-type h100/,
  );
  assert.match(
    refusal(head, { gpuTypes: ['a100', 'a100-1g.10g'] }),
    /a100-1g.10g are slices of gpus and a100 are whole ones; ask for either/,
  );
  assert.match(refusal(head, { gpuShareBytes: 512 }), /is the unit missing/);
  assert.match(
    refusal(head, { gpuShareBytes: 0 }),
    /asks for 0 gpus and says --gpu-share 0; leave/,
  );
  assert.match(refusal(head, { gpuCount: 0, gpuMemoryBytes: 0 }), /and says --gpu-memory 0; leave/);
  assert.match(refusal(head, { gpuShareBytes: GIB, exclusive: true }), /whole nodes/);
});

const PAIRS = ['GPU-0', 'GPU-0', 'GPU-2', 'GPU-2'].map((linkedWith, number) => {
  return of(number, 'a6000', 48, { linkedWith });
});

scenario('[V24] gpus that are joined are waited for, and why says what is missing', (head) => {
  head.connect('n1', { cpus: 8, gpus: 4, cards: PAIRS });
  const joined = { gpuCount: 2, gpuLinks: 'nvlink' } as const;
  head.submit({ gpuCount: 1 });
  head.submit({ gpuCount: 1, gpuMemoryBytes: 40 * GIB });
  head.submit(joined);
  assert.deepEqual(head.schedule(), ['1#1@n1', '2#1@n1', '3#1@n1']);
  assert.deepEqual(gpusOf(head, '3'), [2, 3]);
  head.submit(joined);
  assert.deepEqual(head.schedule(), []);
  head.ended('2#1');
  head.ended('3#1');
  head.submit({ gpuCount: 1, nice: -100 });
  head.submit({ gpuCount: 1, nice: -100 });
  assert.deepEqual(head.schedule(), ['5#1@n1', '6#1@n1']);
  head.ended('5#1');
  assert.deepEqual(head.schedule(), []);
  assert.equal(
    why(head, 4),
    'resources: needs 1 node with 1 cpu, 2 gpus joined by NVLink; n1 has only 1 gpu joined by NVLink free ' +
      '(gpu 0 is given to 1 of ann; gpu 2 is given to 6 of ann); ' +
      '2 gpus are free, but not joined with each other',
  );
});

scenario('[V24] what no node has joined is refused, and so is what cannot be', (head) => {
  head.connect('n1', { gpus: 4, cards: PAIRS });
  const refused = (wish: Partial<Submission>) => refusal(head, { gpuLinks: 'nvlink', ...wish });
  assert.match(refused({ gpuCount: 'a6000:3' }), /n1 has only 2 a6000 joined by NVLink/);
  assert.match(
    refused({ gpuCount: 'a100:2' }),
    /n1 has no a100 joined by NVLink \(its gpus: 4 a6000/,
  );
  assert.match(refused({}), /one gpu is joined with nothing; ask for 2 or more/);
  assert.match(refused({ gpuCount: 2, gpuShareBytes: GIB }), /has them whole/);
  assert.match(refused({ gpuCount: 2, exclusive: true }), /all of their gpus, joined or not/);
  assert.match(refused({ gpuCount: 'a100-1g.10g:2' }), /is a slice of a gpu/);
  head.connect('n2', { gpus: 2, cards: [of(0, 'a6000', 48), of(1, 'a6000', 48)] });
  head.submit({ gpuCount: 2, gpuLinks: 'any', nodeNames: [head.node('n2').name] });
  assert.deepEqual(head.schedule(), ['1#1@n2']);
  head.submit({ gpuCount: 2, held: true });
  const change = (wish: JobChange) =>
    head.command({ kind: 'change_job', jobId: head.job(2).id, change: wish });
  change({ gpuLinks: 'nvlink' });
  change({ cpuCount: 2 });
  assert.equal(head.job(2).spec.request.perNode.gpuKind?.links, 'nvlink');
  change({ gpuLinks: 'any' });
  assert.equal(head.job(2).spec.request.perNode.gpuKind, undefined);
});

scenario('[V8] slices are asked for by their profiles, and a card is none of them', (head) => {
  const slice = { partOf: 'GPU-9' };
  head.connect('n1', {
    gpus: 3,
    cards: [
      of(0, 'a100-1g.10g', 10, slice),
      of(1, 'a100-1g.10g', 10, slice),
      of(2, 'a100-80g', 80),
    ],
  });
  head.submit({ gpuCount: 'a100:1' });
  head.submit({ gpuCount: 'a100-1g.10g:2' });
  assert.deepEqual(head.schedule(), ['1#1@n1', '2#1@n1']);
  assert.deepEqual(gpusOf(head, '1'), [2]);
  assert.deepEqual(gpusOf(head, '2'), [0, 1]);
});

scenario('[V8] a card that is used outside is not one of those that are free', (head) => {
  const outside = { state: 'used_outside', why: 'used outside Weft by ann' } as const;
  head.connect('n1', {
    gpus: 4,
    cards: MIXED.map((one, at) => (at < 3 ? one : of(3, 'rtx3090', 24, outside))),
  });
  head.submit({ gpuCount: 'rtx3090:2' });
  assert.deepEqual(head.schedule(), []);
  assert.match(why(head, 1), /n1 has only 1 rtx3090 free \(gpu 3 is used outside Weft by ann\)/);
  head.tellCards('n1', MIXED);
  assert.deepEqual(head.schedule(), ['1#1@n1']);
  assert.deepEqual(gpusOf(head, '1'), [1, 3]);
});

scenario('[V17] a start keeps the types of its gpus, whatever its node tells later', (head) => {
  head.connect('n1', { cpus: 8, gpus: 4, cards: MIXED });
  head.submit({ gpuCount: 3 });
  assert.deepEqual(head.schedule(), ['1#1@n1']);
  const types = { 'a100-40g': 1, rtx3090: 2 };
  assert.deepEqual(head.state.usage.heldBy(head.job(1).owner).gpuTypes, types);
  head.tellCards('n1', []);
  head.crash();
  assert.deepEqual(head.state.usage.heldBy(head.job(1).owner).gpuTypes, types);
  head.connect('n1', { cpus: 8, gpus: 4, cards: MIXED });
  head.started('1#1');
  head.ended('1#1');
  const [ended] = head.state.scratch.endedEpochs.slice(-1);
  assert.deepEqual([ended?.gpuCount, ended?.gpuType], [3, 'a100-40g+rtx3090']);
  assert.equal(head.state.usage.heldBy(head.job(1).owner).gpuTypes, undefined);
});

scenario('[V9] shares fill one card up to its memory, and no more', (head) => {
  head.connect('n1', { cpus: 8, gpus: 2, cards: [of(0, 'l40s', 48), of(1, 'l40s', 48)] });
  for (let count = 0; count < 3; count += 1) head.submit({ gpuShareBytes: 20 * GIB });
  assert.deepEqual(head.schedule(), ['1#1@n1', '2#1@n1', '3#1@n1']);
  assert.deepEqual([gpusOf(head, '1'), gpusOf(head, '2'), gpusOf(head, '3')], [[0], [0], [1]]);
  const [part] = head.task('1').parts.values();
  assert.equal(part?.share.gpuShareBytes, 20 * GIB);
  head.submit({ gpuCount: 1 });
  assert.deepEqual(head.schedule(), [], 'neither is whole');
  head.submit({ gpuShareBytes: 28 * GIB });
  head.submit({ gpuShareBytes: 8 * GIB });
  assert.deepEqual(head.schedule(), ['5#1@n1', '6#1@n1']);
  assert.deepEqual(gpusOf(head, '5'), [1]);
  assert.deepEqual(gpusOf(head, '6'), [0]);
  head.submit({ gpuShareBytes: GIB });
  assert.deepEqual(head.schedule(), []);
  assert.match(why(head, 7), /n1 has only 0 shares of 1G free/);
  for (const task of ['3', '5']) head.ended(`${task}#1`);
  assert.deepEqual(head.schedule(), ['4#1@n1'], 'the card is whole again');
  assert.deepEqual(gpusOf(head, '4'), [1]);
});

scenario('[V8] what is asked for is kept by a change, and can be changed', (head) => {
  head.connect('n1', { gpus: 4, cards: MIXED });
  head.submit({ gpuCount: 'a100:1', held: true });
  const change = (wish: JobChange) =>
    head.command({ kind: 'change_job', jobId: head.job(1).id, change: wish });
  change({ cpuCount: 2 });
  assert.deepEqual(head.job(1).spec.request.perNode.gpuKind?.types, ['a100']);
  change({ gpuTypes: ['rtx3090'], gpuCount: 2 });
  const { gpuCount, gpuKind } = head.job(1).spec.request.perNode;
  assert.deepEqual([gpuCount, gpuKind?.types], [2, ['rtx3090']]);
  change({ gpuTypes: [] });
  assert.equal(head.job(1).spec.request.perNode.gpuKind, undefined);
});

scenario('[V8] a node that does not tell of its cards has none of a type', (head) => {
  head.connect('n1', { gpus: 4 });
  assert.match(
    refusal(head, { gpuCount: 'a100:1' }),
    /n1 has no a100 \(it does not tell which gpus it has\) \| No node reports gpus with a type/,
  );
  head.submit({ gpuCount: 3 });
  assert.deepEqual(head.schedule(), ['1#1@n1']);
});

scenario(
  '[V22] in a reservation of a part of a node a type is found where all gpus are of it',
  (head) => {
    head.connect('n1', {
      cpus: 16,
      gpus: 4,
      cards: [0, 1, 2, 3].map((at) => of(at, 'a100-80g', 80)),
    });
    head.command(
      reserve({ name: 'course', users: ['ann'], share: { cpus: 8, gpus: 2 } }),
      OPERATOR,
    );
    const inside = { reservation: 'course', walltimeMs: MINUTE };
    head.submit({ ...inside, gpuCount: 'a100:1' });
    head.submit({ ...inside, gpuCount: 1, gpuMemoryBytes: 40 * GIB });
    head.submit({ ...inside, gpuCount: 'a100:2' });
    assert.deepEqual(head.schedule(), ['1#1@n1', '2#1@n1']);
    for (const task of ['1#1', '2#1']) head.ended(task);
    assert.deepEqual(head.schedule(), ['3#1@n1']);
    head.submit({ gpuCount: 'a100:2' }, { by: BOB });
    head.submit({ gpuCount: 'a100:1' }, { by: BOB });
    assert.deepEqual(head.schedule(), ['4#1@n1'], 'the others are not more for it');
    const unfit = (wish: Partial<Submission>) =>
      head.refused(submission({ ...inside, ...wish }), ANN);
    assert.equal(unfit({ gpuCount: 'a100:3' }), 'reservation.job_unfit');
    assert.equal(unfit({ gpuCount: 't4:1' }), 'reservation.job_unfit');
    assert.equal(unfit({ gpuCount: 1, gpuShareBytes: GIB }), 'reservation.job_unfit');
  },
);

scenario('[V22] of a part of a node with several types only a number is reserved', (head) => {
  head.connect('n1', { cpus: 16, gpus: 2, cards: [of(0, 'a100-80g', 80), of(1, 'rtx3090', 24)] });
  head.command(reserve({ name: 'course', users: ['ann'], share: { cpus: 8, gpus: 1 } }), OPERATOR);
  const inside = { reservation: 'course', walltimeMs: MINUTE };
  assert.equal(
    head.refused(submission({ ...inside, gpuCount: 'a100:1' }), ANN),
    'reservation.job_unfit',
  );
  head.submit({ ...inside, gpuCount: 1 });
  assert.deepEqual(head.schedule(), ['1#1@n1']);
});
