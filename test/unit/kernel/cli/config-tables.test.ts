// Partitions, qualities of service and shares in the config: what they become, and every mistake.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { type Config, loadConfig } from '../../../../src/kernel/config/config.ts';
import { parseConfig } from '../../../../src/kernel/config/read-file.ts';
import { numbersFrom, schedulingFrom } from '../../../../src/kernel/config/scheduling.ts';
import { schemaOf } from '../../../../src/kernel/config/schema.ts';
import { plainPartition, plainScheduling } from '../../../../src/kernel/model/scheduling.ts';
import { WINGS } from '../../../../src/wings.ts';

const SCHEMA = await schemaOf(WINGS);

async function configOf(text: string): Promise<Config> {
  const folder = mkdtempSync(path.join(tmpdir(), 'weft-cli-test-'));
  try {
    const file = path.join(folder, 'weft.yaml');
    writeFileSync(file, text);
    return await loadConfig({ wings: WINGS, environment: {}, file, directory: folder });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const SITE = `
head: {policy: easy}
priority: {age: 1.5, size: -20}
scheduler: {depth: 7}
partitions:
  gpu:
    nodes: [n1, "n[3-5,9]"]
    labels: gpu & !old | big
    state: down
    policy: conservative
    placement: spread
    tier: -2
    preempt: requeue
    priority: 0.5
    limits: {time: 2h, default_time: 10m, nodes: 2, tasks_per_user: 4, memory: 2G}
    users: ann, bob
    groups: [chem]
  plain:
qos:
  urgent: {priority: 1, tier: 3, preempt: cancel, running_tasks: 1, running_cpus: 8, waiting_jobs: 5}
fair_share:
  half_life: 2d
  memory_weight: 0.25
  users: {ann: 2}
  groups:
    chem: {share: 3, users: [bob], groups: [organic]}
    organic: {users: carl}
`;

test('everything that a site says of scheduling reaches the scheduler', async () => {
  const scheduling = schedulingFrom(await configOf(SITE));
  assert.deepEqual(scheduling, {
    partitions: {
      default: plainPartition('default', 'easy'),
      gpu: {
        name: 'gpu',
        nodes: ['n1', 'n3', 'n4', 'n5', 'n9'],
        labels: ['gpu & !old | big'],
        state: 'down',
        policy: 'conservative',
        placement: 'spread',
        tier: -2,
        preempt: 'requeue',
        priority: 0.5,
        limits: {
          walltimeMs: 7_200_000,
          walltimeDefaultMs: 600_000,
          nodesPerTask: 2,
          tasksPerUser: 4,
          memoryPerNodeBytes: 2 ** 31,
        },
        users: ['ann', 'bob'],
        groups: ['chem'],
      },
      plain: plainPartition('plain', 'easy'),
    },
    qualities: {
      urgent: {
        name: 'urgent',
        priority: 1,
        tier: 3,
        preempt: 'cancel',
        runningTasksPerUser: 1,
        runningCpusPerUser: 8,
        waitingJobsPerUser: 5,
        users: null,
        groups: null,
      },
    },
    weights: { age: 1.5, size: -20, fairShare: 0, partition: 1000, qos: 1000, nice: 1000 },
    depthMax: 7,
    fairShare: {
      halfLifeMs: 172_800_000,
      weights: { cpu: 1, memory: 0.25, gpu: 0 },
      users: { ann: 2 },
      groups: {
        chem: { share: 3, users: ['bob'], groups: ['organic'] },
        organic: { share: 1, users: ['carl'], groups: [] },
      },
    },
  });
  assert.deepEqual(JSON.parse(JSON.stringify(scheduling)), scheduling, 'it can stand in a file');
});

test('without a word there is one partition of all nodes, with the policy of the head', async () => {
  const config = await configOf('head: {policy: fifo}\n');
  assert.deepEqual(schedulingFrom(config), plainScheduling('fifo'));
});

test('what is said of the partition default changes it', async () => {
  const config = await configOf('partitions: {default: {policy: easy, tier: 1}}\n');
  const { partitions } = schedulingFrom(config);
  assert.deepEqual(partitions, { default: { ...plainPartition('default', 'easy'), tier: 1 } });
});

test('config show has each value that was written, with its line', async () => {
  const config = await configOf('partitions:\n  gpu:\n    tier: 1\n    limits:\n      time: 1h\n');
  const shown = config.all().filter(({ key }) => key.name.startsWith('partitions'));
  const rows = shown.map(({ key, value, source }) => [key.name, value, source.split(':').at(-1)]);
  assert.deepEqual(rows, [
    ['partitions.gpu.tier', 1, '3'],
    ['partitions.gpu.limits.time', 3_600_000, '5'],
  ]);
});

const MISTAKES: readonly (readonly [text: string, where: string, what: RegExp])[] = [
  ['partitions: 7', '1:13', /expected a mapping of keys to values/],
  ['partitions: {gpu: 7}', '1:19', /^partitions\.gpu: expected the settings of a partition$/],
  ['partitions: {2x: {}}', '1:14', /'2x' is not a name for a partition/],
  ['partitions: {a b: {}}', '1:14', /'a b' is not a name for a partition/],
  [
    'partitions: {gpu: {teir: 1}}',
    '1:20',
    /^partitions\.gpu: unknown key 'teir'\. Did you mean 'tier'\?$/,
  ],
  ['partitions: {gpu: {tier: 1.5}}', '1:26', /'1\.5' is not a whole number/],
  ['partitions: {gpu: {tier: 1001}}', '1:26', /'1001' is too large; it must be at most 1000/],
  ['partitions: {gpu: {priority: 1.1}}', '1:30', /'1\.1' is too large; it must be at most 1/],
  ['partitions: {gpu: {policy: eazy}}', '1:28', /'eazy' is not one of first_fit/],
  ['partitions: {gpu: {state: off}}', '1:27', /'off' is not one of up, down, drain, inactive/],
  [
    'partitions: {gpu: {labels: "gpu &"}}',
    '1:28',
    /'gpu &', column 6: expected a label at the end/,
  ],
  ['partitions: {gpu: {nodes: "n[4-2]"}}', '1:27', /'n\[4-2\]' is not a list of nodes/],
  ['partitions: {gpu: {nodes: {a: 1}}}', '1:27', /expected a list of nodes/],
  ['partitions: {gpu: {limits: 5}}', '1:28', /limits: expected a mapping/],
  [
    'partitions: {gpu: {limits: {tmie: 5m}}}',
    '1:29',
    /unknown key 'limits\.tmie'\. Did you mean 'limits\.time'/,
  ],
  ['partitions: {gpu: {limits: {time: 5}}}', '1:35', /'5' has no unit/],
  ['partitions: {gpu: {limits: {nodes: 0}}}', '1:36', /'0' is too small; it must be at least 1/],
  [
    'partitions:\n  gpu: {limits: {time: 5m, default_time: 1h}}',
    '2:3',
    /^partitions\.gpu: limits\.default_time is longer than limits\.time$/,
  ],
  ['partitions:\n  gpu: {}\n  gpu: {}', '3:3', /there twice/],
  ['qos: {fast: {running_cpus: many}}', '1:28', /'many' is not a whole number/],
  ['qos: {fast: {runing_cpus: 1}}', '1:14', /Did you mean 'running_cpus'/],
  ['priority: {age: old}', '1:17', /'old' is not a number/],
  ['priority: {aeg: 1}', '1:12', /Did you mean 'priority\.age'/],
  ['scheduler: {depth: -1}', '1:20', /'-1' is not a whole number/],
  ['fair_share: {half_life: 7}', '1:25', /'7' has no unit/],
  ['fair_share: {users: {ann: 0}}', '1:27', /'0' is too small; it must be at least 1/],
  ['fair_share: {users: {ann: {share: 1}}}', '1:27', /expected one count/],
  [
    'fair_share: {groups: {chem: {groups: [bil]}, bio: {}}}',
    '1:23',
    /^fair_share\.groups\.chem: there is no group 'bil'\. Did you mean 'bio'\?$/,
  ],
  [
    'fair_share:\n  groups:\n    a: {groups: [b]}\n    b: {groups: [c]}\n    c: {groups: [a]}',
    '3:5',
    /^fair_share\.groups\.a: the groups contain each other in a circle: a > b > c > a$/,
  ],
  ['fair_share: {groups: {a: {groups: [a]}}}', '1:23', /circle: a > a$/],
  [
    'fair_share:\n  groups:\n    a: {users: [ann]}\n    b: {users: [ann]}',
    '4:5',
    /^fair_share\.groups\.b: ann is already in a$/,
  ],
];

for (const [text, where, what] of MISTAKES) {
  test(`the mistake in ${JSON.stringify(text)} is found at ${where}`, () => {
    const { problems } = parseConfig(`${text}\n`, 'f', SCHEMA);
    assert.equal(problems.length, 1, JSON.stringify(problems));
    assert.equal(problems[0]?.where, `f:${where}`);
    assert.match(problems[0]?.what ?? '', what);
  });
}

test('a part of the file whose entries are all comments is an empty one', () => {
  assert.deepEqual(
    parseConfig('partitions:\n  # gpu: {}\nqos:\nfair_share:\n', 'f', SCHEMA).problems,
    [],
  );
});

test('sites have prices, for partitions that look for the cheapest', async () => {
  const config = await configOf('sites: {hpc: {price: 2.5}, lab: {}}\n');
  assert.deepEqual(schedulingFrom(config).prices, { hpc: 2.5, lab: 0 });
  await assert.rejects(configOf('sites: {hpc: {price: -1}}\n'), /sites\.hpc\.price/);
});

test('[V16] counted resources stand under cluster and node', async () => {
  const config = await configOf(
    'cluster: {resources: {matlab: 5}}\nnode: {resources: {scratch: 400}}\n',
  );
  assert.deepEqual(schedulingFrom(config).resources, { matlab: 5 });
  assert.deepEqual(numbersFrom(config, 'node.resources'), { scratch: 400 });
  await assert.rejects(configOf('cluster: {resources: {matlab: -1}}\n'), /resources\.matlab/);
  await assert.rejects(configOf('cluster: {resources: {a b: 1}}\n'), /'a b' is not a name/);
});

test('[V17] types of gpus have weights of their own under fair_share', async () => {
  const config = await configOf(
    'fair_share: {gpu_weight: 4, gpu_weights: {a100-80g: 8, t4: 0.5}}\n',
  );
  const { gpu, gpus } = schedulingFrom(config).fairShare.weights;
  assert.deepEqual([gpu, gpus], [4, { 'a100-80g': 8, t4: 0.5 }]);
  await assert.rejects(configOf('fair_share: {gpu_weights: {t4: -1}}\n'), /gpu_weights\.t4/);
});

test('[P16] the caps of all users stand under caps', async () => {
  const config = await configOf('caps: {cpus: 16, gpus: 0}\n');
  assert.deepEqual(schedulingFrom(config).caps, { cpus: 16, gpus: 0 });
});

test('[P16] members of a group have its caps, those around it, and those of all', async () => {
  const config = await configOf(`caps: {cpus: 16, running: 50}
fair_share:
  groups:
    school: {users: [ann], groups: [students], caps: {cpus: 8}}
    students: {users: [bob, constructor], caps: {gpus: 1}}
    staff: {users: [eve]}
`);
  const { memberCaps, caps } = schedulingFrom(config);
  assert.deepEqual(caps, { cpus: 16, running: 50 });
  const students = { cpus: 8, gpus: 1, running: 50 };
  assert.deepEqual(memberCaps, {
    ann: { cpus: 8, running: 50 },
    bob: students,
    constructor: students,
    eve: { cpus: 16, running: 50 },
  });
});

test('[P17] what a group may hold together counts the groups in it, too', async () => {
  const config = await configOf(`fair_share:
  groups:
    school: {users: [ann], groups: [lab], together: {cpus: 64, running: 9}}
    lab: {users: [bob, eve], together: {gpu_types: [a100:4], gpus: 0}}
    staff: {users: [tom]}
`);
  assert.deepEqual(schedulingFrom(config).groupCaps, [
    { group: 'lab', users: ['bob', 'eve'], caps: { gpus: 0, 'gpus:a100': 4 } },
    { group: 'school', users: ['ann', 'bob', 'eve'], caps: { cpus: 64, running: 9 } },
  ]);
});

test('[V21] caps of types of gpus are a list, for all and for groups', async () => {
  const config = await configOf(`caps: {gpus: 4, gpu_types: [h100:1, a100:2]}
fair_share:
  groups:
    staff: {users: [eve], caps: {gpu_types: [h100:3]}}
`);
  const short = await configOf('qos: {short: {running_gpus: 2, running_gpu_types: [h100:1]}}\n');
  const { gpusPerUser } = schedulingFrom(short).qualities['short'] ?? {};
  assert.deepEqual(gpusPerUser, { gpus: 2, 'gpus:h100': 1 });
  const { memberCaps, caps } = schedulingFrom(config);
  assert.deepEqual(caps, { gpus: 4, 'gpus:h100': 1, 'gpus:a100': 2 });
  assert.deepEqual(memberCaps, { eve: { gpus: 4, 'gpus:h100': 3, 'gpus:a100': 2 } });
  for (const wrong of ['h100', 'h100:-1', 'h100:0.5', '2', 'H100:x', 'h100:10000001'])
    await assert.rejects(
      configOf(`caps: {gpu_types: ['${wrong}']}\n`),
      /gpu_types.*h100:2/s,
      wrong,
    );
  await assert.rejects(
    configOf('caps: {gpu_types: [h100:2, a100:1, h100:4]}\n'),
    /gpu_types.*'h100' is named twice/s,
  );
});
