// Partitions and qualities of service: what they let in, what they start, and who may change them.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeAccess } from '../../../../src/kernel/machine/partitions/admission.ts';
import type { Actor } from '../../../../src/kernel/model/actor.ts';
import { type Code, formatRefusal } from '../../../../src/kernel/model/errors.ts';
import type { JobId, NodeName, UserName } from '../../../../src/kernel/model/ids.ts';
import {
  type Partition,
  plainPartition,
  plainQos,
  plainScheduling,
  type Qos,
  type Scheduling,
} from '../../../../src/kernel/model/scheduling.ts';
import type { Submission } from '../../../../src/kernel/model/submission.ts';
import {
  ADMIN,
  ANN,
  BOB,
  OPERATOR,
  place,
  SETTINGS,
  scenario,
  submission,
  type TestHead,
} from '../../../support/controller.ts';
import { GIB } from '../../../support/nodes.ts';
import { why } from '../../../support/why.ts';

const HOUR_MS = 3_600_000;

type PartitionWords = Partial<Omit<Partition, 'limits'>> & {
  limits?: Partial<Partition['limits']>;
};

function scheduling(
  partitions: Readonly<Record<string, PartitionWords>>,
  qualities: Readonly<Record<string, Partial<Qos>>> = {},
): Scheduling {
  const plain = plainScheduling('first_fit');
  const named = Object.entries(partitions).map(([name, { limits, ...words }]) => {
    const base = plainPartition(name);
    return [name, { ...base, ...words, limits: { ...base.limits, ...limits } }] as const;
  });
  const ranked = Object.entries(qualities).map(([name, words]) => {
    return [name, { ...plainQos(name), ...words }] as const;
  });
  return {
    ...plain,
    partitions: { ...plain.partitions, ...Object.fromEntries(named) },
    qualities: Object.fromEntries(ranked),
  };
}

/** From here on the config says this, as after a reload. */
function configure(head: TestHead, said: Scheduling): void {
  head.settings = { ...SETTINGS, scheduling: said };
}

function refusal(head: TestHead, wish: Partial<Submission>, by: Actor = ANN) {
  const { result } = head.perform({ kind: 'command', command: submission(wish), actor: by });
  assert.ok(!result.ok, 'it was not refused');
  return { code: result.error.code, words: formatRefusal(result.error) };
}

const names = (...all: string[]): NodeName[] => all as NodeName[];
const users = (...all: string[]): UserName[] => all as UserName[];

const SITE = scheduling(
  {
    small: { nodes: names('n1'), limits: { walltimeMs: HOUR_MS, walltimeDefaultMs: 60_000 } },
    chem: { users: users('bob'), groups: ['chem'] },
    narrow: { limits: { nodesPerTask: 1, memoryPerNodeBytes: GIB } },
    closing: { state: 'drain' },
    off: { state: 'inactive' },
    gpu: { labels: ['gpu & !old'] },
    empty: { nodes: names('n9') },
  },
  { night: {}, urgent: { groups: ['ops'] }, few: { waitingJobsPerUser: 1 } },
);

const REFUSED: readonly (readonly [wish: Partial<Submission>, code: Code, words: RegExp])[] = [
  [{ partition: 'smal' }, 'partition.unknown', /No partition smal\. Did you mean 'small'\?/],
  [{ partition: 'zzz' }, 'partition.unknown', /^No partition zzz\.$/],
  [{ qos: 'nigth' }, 'qos.unknown', /No QoS nigth\. Did you mean 'night'\?/],
  [
    { partition: 'chem' },
    'partition.access_denied',
    /chem is for users bob and groups chem; ann is not one of them/,
  ],
  [{ qos: 'urgent' }, 'qos.access_denied', /QoS urgent is for groups ops; ann/],
  [{ partition: 'closing' }, 'partition.closed', /closing takes no jobs: it is being drained/],
  [{ partition: 'off' }, 'partition.closed', /off takes no jobs: it is inactive/],
  [
    { partition: 'small', walltimeMs: 2 * HOUR_MS },
    'partition.walltime_exceeded',
    /Partition small allows 1h; the job asks for 2h\./,
  ],
  [
    { partition: 'small', walltimeMs: null },
    'partition.walltime_exceeded',
    /allows 1h; the job asks for no limit/,
  ],
  [
    { partition: 'narrow', nodeCount: 2 },
    'partition.nodes_exceeded',
    /narrow allows 1 node per task; the job asks for 2/,
  ],
  [
    { partition: 'narrow', memoryBytes: 2 * GIB },
    'partition.memory_exceeded',
    /narrow allows 1G memory per node; the job asks for 2G/,
  ],
  [
    { partition: 'small', cpuCount: 8 },
    'partition.unsatisfiable',
    /Partition small can never hold 1 node with 8 cpus.*Its largest node is n1 with 4 cpus/,
  ],
  [
    { partition: 'gpu', nodeCount: 2 },
    'partition.unsatisfiable',
    /largest node is n2 with 8 cpus.*; only 1 of its 1 nodes could hold one part\./,
  ],
  [{ partition: 'empty' }, 'partition.unsatisfiable', /It has no nodes/],
  [{ labels: ['gpu &'] }, 'label.invalid', /Labels 'gpu &', column 6: expected a label/],
  [{ labels: ['old & huge'] }, 'resources.unsatisfiable', /does not meet 'old & huge'/],
];

for (const [wish, code, words] of REFUSED) {
  scenario(`[P2] ${JSON.stringify(wish)} is refused as ${code}`, (head) => {
    head.connect('n1', { cpus: 4, memory: 4 * GIB });
    head.connect('n2', { cpus: 8, memory: 8 * GIB, labels: ['gpu'] });
    head.connect('n3', { cpus: 8, memory: 8 * GIB, labels: ['gpu', 'old'] });
    configure(head, SITE);
    const said = refusal(head, wish);
    assert.equal(said.code, code);
    assert.match(said.words, words);
  });
}

scenario(
  '[P2] users come in by name, by a group of their machine, or by one that an admin gave',
  (head) => {
    head.connect('n1');
    configure(head, SITE);
    head.submit({ partition: 'chem' }, { by: BOB });
    head.submit({ partition: 'chem' }, { by: { ...ANN, groups: ['users', 'chem'] } as Actor });
    assert.equal(refusal(head, { partition: 'chem' }).code, 'partition.access_denied');
    const given = { kind: 'set_user', user: 'ann' as UserName, mode: 'either' } as const;
    head.command({ ...given, groups: ['chem'] });
    head.submit({ partition: 'chem' });
    head.command({ ...given, groups: [] });
    assert.equal(refusal(head, { partition: 'chem' }).code, 'partition.access_denied');
  },
);

scenario('groups of a user stay when the role changes, and the role when groups do', (head) => {
  const ann = { kind: 'set_user', user: 'ann' as UserName, mode: 'either' } as const;
  head.command({ ...ann, role: 'operator', groups: ['chem'] });
  head.command({ ...ann, role: 'admin' });
  head.command({ ...ann, groups: ['bio'] });
  assert.deepEqual(head.state.users.get(ann.user), { name: 'ann', role: 'admin', groups: ['bio'] });
  assert.equal(head.refused({ ...ann, groups: ['a b'] }), 'argument.invalid');
});

scenario(
  '[P2] a QoS lets no more jobs wait than it says, and those that started do not count',
  (head) => {
    head.connect('n1', { cpus: 1 });
    configure(head, SITE);
    head.submit({ qos: 'few' });
    const said = refusal(head, { qos: 'few' });
    assert.equal(said.code, 'quota.exceeded');
    assert.match(
      said.words,
      /ann already has 1 job waiting under QoS few; the limit per user is 1/,
    );
    head.submit({ qos: 'few' }, { by: BOB });
    assert.deepEqual(head.schedule(), ['1#1@n1']);
    head.submit({ qos: 'few' });
  },
);

scenario('[P1] tasks of a partition go to its nodes only, by name and by labels', (head) => {
  head.connect('n1', { cpus: 4 });
  head.connect('n2', { cpus: 4, labels: ['gpu', 'old'] });
  head.connect('n3', { cpus: 4, labels: ['gpu'] });
  configure(head, SITE);
  for (const partition of ['gpu', 'gpu', 'small', 'small']) head.submit({ partition });
  assert.deepEqual(head.schedule(), ['1#1@n3', '2#1@n3', '3#1@n1', '4#1@n1']);
});

scenario('[P6] a job may ask for nodes by an expression over labels', (head) => {
  head.connect('n1', { cpus: 4, labels: ['old'] });
  head.connect('n2', { cpus: 4 });
  head.submit({ labels: ['!old'] });
  assert.deepEqual(head.schedule(), ['1#1@n2']);
});

scenario(
  '[J5] the time limit that a job does not set is its partition’s, and never beyond it',
  (head) => {
    head.connect('n1');
    const limits = { walltimeMs: HOUR_MS };
    configure(head, { ...scheduling({ small: { limits } }) });
    assert.equal(head.job(head.submit({ partition: 'small' })).spec.walltimeMs, HOUR_MS);
    assert.equal(head.job(head.submit()).spec.walltimeMs, null);
    configure(head, SITE);
    assert.equal(head.job(head.submit({ partition: 'small' })).spec.walltimeMs, 60_000);
  },
);

const STATES: readonly (readonly [state: Partition['state'], takes: boolean, starts: boolean])[] = [
  ['up', true, true],
  ['down', true, false],
  ['drain', false, true],
  ['inactive', false, false],
];

for (const [state, takes, starts] of STATES) {
  scenario(
    `[P3] a partition that is ${state} takes jobs: ${takes}, starts them: ${starts}`,
    (head) => {
      head.connect('n1');
      head.submit();
      configure(head, scheduling({ default: { state } }));
      if (takes) head.submit();
      else assert.equal(refusal(head, {}).code, 'partition.closed');
      assert.equal(head.schedule().includes('1#1@n1'), starts);
      if (!starts) assert.match(why(head, 1), new RegExp(`partition: .*default is ${state}`));
    },
  );
}

scenario(
  '[P4] what a command sets holds over the config, also after a restart, until the reset',
  (head) => {
    head.connect('n1', { cpus: 1 });
    configure(head, scheduling({ small: {} }));
    const by = OPERATOR;
    head.command({ kind: 'change_partition', partition: 'small', change: { state: 'down' } }, by);
    head.command({ kind: 'change_partition', partition: 'small', change: { tier: 2 } }, by);
    head.submit({ partition: 'small' });
    head.crash();
    head.connect('n1', { cpus: 1 });
    assert.deepEqual(head.schedule(), []);
    const set = head.state.partitions.get('small');
    assert.deepEqual(set, { change: { state: 'down', tier: 2 }, by: 'olga', at: head.at });
    head.command({ kind: 'reset_partition', partition: 'small' }, by);
    assert.deepEqual(head.schedule(), ['1#1@n1']);
  },
);

scenario('[J18] only operators change partitions, and only to what there is', (head) => {
  const change = { kind: 'change_partition', partition: 'default' } as const;
  assert.equal(head.refused({ ...change, change: { tier: 1 } }, ANN), 'auth.role_needed');
  assert.equal(head.refused({ ...change, change: {} }), 'argument.invalid');
  assert.equal(head.refused({ ...change, change: { tier: 1.5 } }), 'argument.invalid');
  assert.equal(head.refused({ ...change, change: { priority: 2 } }), 'argument.invalid');
  const unknown = { ...change, partition: 'x', change: { tier: 1 } };
  assert.equal(head.refused(unknown), 'partition.unknown');
  const reset = { kind: 'reset_partition', partition: 'default' } as const;
  assert.equal(head.refused(reset, ANN), 'auth.role_needed');
  assert.equal(head.refused(reset), 'partition.not_changed');
  assert.equal(head.refused({ ...reset, partition: 'x' }), 'partition.unknown');
});

scenario('what was set of a partition that the config has dropped can be taken back', (head) => {
  configure(head, scheduling({ small: {} }));
  head.command({ kind: 'change_partition', partition: 'small', change: { tier: 1 } });
  configure(head, scheduling({}));
  head.command({ kind: 'reset_partition', partition: 'small' }, ADMIN);
  assert.equal(head.state.partitions.size, 0);
});

scenario('[P5] what is beyond a running limit waits, and says so', (head) => {
  head.connect('n1', { cpus: 8 });
  const site = { few: { limits: { tasksPerUser: 1 } } };
  configure(
    head,
    scheduling(site, { two: { runningCpusPerUser: 2 }, one: { runningTasksPerUser: 1 } }),
  );
  for (const wish of [{ partition: 'few' }, { qos: 'two', cpuCount: 2 }, { qos: 'one' }]) {
    head.submit(wish);
    head.submit(wish);
  }
  assert.deepEqual(head.schedule(), ['1#1@n1', '3#1@n1', '5#1@n1']);
  assert.match(why(head, 2), /^quota: ann runs 1 task in partition few; the limit is 1 per user/);
  assert.match(
    why(head, 4),
    /^quota: ann runs tasks with 2 cpus under QoS two; the limit is 2 per user/,
  );
  assert.match(why(head, 6), /^quota: ann runs 1 task under QoS one/);
});

for (const kind of ['cancel_task', 'requeue_task'] as const) {
  scenario(`[L4] ${kind} on a drained node makes room under the limit of its user`, (head) => {
    configure(head, scheduling({ few: { limits: { tasksPerUser: 1 } } }));
    head.connect('n1', { cpus: 1 });
    head.submit({ partition: 'few', array: { indices: '0-1' } });
    assert.deepEqual(head.schedule(), ['1[0]#1@n1']);
    head.started('1[0]#1');
    head.command({ kind: 'hold_job', jobId: 1 as JobId }, ANN);
    head.command({ kind: 'drain_node', node: head.node('n1').name, reason: 'fan' });
    head.connect('n2', { cpus: 1 });
    head.submit({ partition: 'few' });
    head.command({ kind, place: place('1[0]') }, ANN);
    assert.deepEqual(head.schedule(), []);
    assert.equal(head.state.scratch.scheduleDue, false);
    head.ended('1[0]#1', { cause: 'ended', signal: 15 });
    assert.equal(head.state.scratch.scheduleDue, true, 'though no node can be given more');
    assert.deepEqual(head.schedule(), ['2#1@n2']);
  });
}

scenario('[P7] jobs of a removed partition wait and say so; what runs goes on', (head) => {
  head.connect('n1', { cpus: 1 });
  configure(head, scheduling({ small: {} }));
  head.submit({ partition: 'small' });
  head.submit({ partition: 'small' });
  head.schedule();
  configure(head, scheduling({}));
  head.ended('1#1');
  assert.equal(head.outcome(1), 'completed');
  assert.deepEqual(head.schedule(), []);
  assert.match(
    why(head, 2),
    /^partition: partition small is no longer in the config; the job waits/,
  );
  configure(head, scheduling({ small: {} }));
  head.submit();
  assert.deepEqual(head.schedule(), ['2#1@n1']);
});

scenario('[P7] jobs of a partition without nodes wait and say so', (head) => {
  head.connect('n1');
  head.connect('n2');
  configure(head, scheduling({ small: { nodes: names('n2') } }));
  head.submit({ partition: 'small' });
  head.command({ kind: 'remove_node', node: 'n2' as NodeName });
  assert.deepEqual(head.schedule(), []);
  assert.equal(why(head, 1), 'partition: partition small has no nodes');
});

test('access in words', () => {
  assert.equal(describeAccess({ users: null, groups: null }), 'everybody');
  assert.equal(describeAccess({ users: [], groups: null }), 'nobody');
});
