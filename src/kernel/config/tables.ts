// What the config says of each partition, QoS and group: the fields of one, as keys are. The
// reader, `config show` and docs/config.md are made from these tables.

import { didYouMean } from '../base/nearest-word.ts';
import { withPlaced } from '../base/placed.ts';
import { CAP_KINDS } from '../model/caps.ts';
import { CAP_MAX, COUNTED_PER_NODE_MAX, TIER_MAX } from '../model/limits.ts';
import { PARTITION_STATES, PLACEMENTS, POLICIES, PREEMPT_MODES } from '../model/scheduling.ts';
import { CAPPED_TYPE, type Key, type KeyType, key } from './key.ts';
import type { Entries, EntryProblem, PlacedTable, Table } from './table.ts';

const field = (name: string, type: KeyType, value: string | null, text: string, more = {}): Key =>
  key(name, type, value, text, more);

const TIER = { min: -TIER_MAX, max: TIER_MAX };
const SHARE = { min: 1, max: 1_000_000 };
const PART = { min: 0, max: 1 };
const PRICE = { min: 0, max: 1_000_000 };

const MEMBER_CAP = 'What each member may hold at once; default: as around it, or `caps`.';
const TOGETHER = 'What all its members may hold at once, together; default: any number.';

const USERS = field('users', 'texts', null, 'Who may submit, with `groups`; default: everybody.');
const GROUPS = field('groups', 'texts', null, 'Groups whose members may submit.');

const PARTITIONS: Table = {
  section: 'partitions',
  entry: 'a partition',
  fields: [
    field('nodes', 'nodes', null, 'Its nodes: `n1, n[2-4]`; default: all that have the labels.'),
    field('labels', 'labels', '', 'Labels that its nodes must have: `gpu`, `gpu & !old | big`.'),
    field('state', 'choice', 'up', '`up`; `down` starts no jobs; `drain` accepts no jobs.', {
      choices: PARTITION_STATES,
    }),
    field(
      'policy',
      'choice',
      null,
      'Order of starts; `external`: another program starts its jobs. Default: `head.policy`.',
      {
        choices: POLICIES,
      },
    ),
    field('placement', 'choice', 'pack', 'Which of the fitting nodes or sites a task gets.', {
      choices: PLACEMENTS,
    }),
    field(
      'tier',
      'integer',
      '0',
      'Higher tiers are served first, and may preempt lower ones.',
      TIER,
    ),
    field('preempt', 'choice', 'off', 'What becomes of its tasks that must make room.', {
      choices: PREEMPT_MODES,
    }),
    field('priority', 'number', '0', 'From 0 to 1; multiplied by `priority.partition`.', PART),
    field(
      'limits.time',
      'duration',
      'none',
      'Longest time limit of a job that is submitted here; not of those that users of a steered site gave to it.',
    ),
    field('limits.default_time', 'duration', 'none', 'Time limit of a job that sets none.'),
    field('limits.nodes', 'count', null, 'Most nodes per task.', { min: 1 }),
    field('limits.tasks_per_user', 'count', null, 'Most running tasks per user.', { min: 1 }),
    field('limits.memory', 'size', null, 'Most memory per node.'),
    USERS,
    GROUPS,
  ],
  check: checkTimes,
};

const SITES: Table = {
  section: 'sites',
  entry: 'a site',
  fields: [
    field('price', 'number', '0', 'Price of a cpu hour there, for `placement: cheapest`.', PRICE),
  ],
};

const QUALITIES: Table = {
  section: 'qos',
  entry: 'a QoS',
  fields: [
    field('priority', 'number', '0', 'From 0 to 1; multiplied by `priority.qos`.', PART),
    field('tier', 'integer', '0', 'Added to the tier of the partition.', TIER),
    field('preempt', 'choice', 'off', 'What becomes of its tasks that must make room.', {
      choices: PREEMPT_MODES,
    }),
    field('running_tasks', 'count', null, 'Most running tasks per user.', { min: 1 }),
    field('running_cpus', 'count', null, 'Most cpus of running tasks per user.', { min: 1 }),
    field('running_gpus', 'count', null, 'Most gpus of running tasks per user.', { max: CAP_MAX }),
    field(
      'running_gpu_types',
      'texts',
      '',
      'The same of types of gpus: `h100:2, a100:4`.',
      CAPPED_TYPE,
    ),
    field('waiting_jobs', 'count', null, 'Most waiting jobs per user.', { min: 1 }),
    USERS,
    GROUPS,
  ],
};

const SHARES: Table = {
  section: 'fair_share.users',
  entry: 'the share of a user',
  fields: [field('', 'count', '1', 'Share of a user, relative to the others of the group.', SHARE)],
};

const GPU_WEIGHTS: Table = {
  section: 'fair_share.gpu_weights',
  entry: 'a type of gpus',
  fields: [
    field(
      '',
      'number',
      null,
      'Usage counted for each second that a gpu of the type is held: `h100: 16`; others: `gpu_weight`.',
      { min: 0, max: 1e6 },
    ),
  ],
};

const SHARE_GROUPS: Table = {
  section: 'fair_share.groups',
  entry: 'a group',
  fields: [
    field('share', 'count', '1', 'Share of the group, divided among its members.', SHARE),
    field('users', 'texts', '', 'Users in the group; each user is in one group only.'),
    field('groups', 'texts', '', 'Groups in the group, from this table.'),
    ...CAP_KINDS.map((kind) => field(`caps.${kind}`, 'count', null, MEMBER_CAP, { max: CAP_MAX })),
    field(
      'caps.gpu_types',
      'texts',
      '',
      'The same of types of gpus: `h100:2, a100:4`.',
      CAPPED_TYPE,
    ),
    ...CAP_KINDS.map((kind) => {
      return field(`together.${kind}`, 'count', null, TOGETHER, { max: CAP_MAX });
    }),
    field(
      'together.gpu_types',
      'texts',
      '',
      'The same of types of gpus: `h100:2, a100:4`.',
      CAPPED_TYPE,
    ),
  ],
  check: checkMembership,
};

const counted = (section: string, text: string): Table => ({
  section,
  entry: 'a counted resource',
  fields: [field('', 'count', null, text, { max: COUNTED_PER_NODE_MAX })],
});

const CLUSTER_RESOURCES = counted(
  'cluster.resources',
  'How many the whole cluster has, for `--resource NAME=COUNT`: licences.',
);
const NODE_RESOURCES = counted(
  'node.resources',
  'How many this node has, for `--resource NAME=COUNT`: cameras, or GiB of scratch.',
);

/** Those of the kernel. */
const OWN: readonly Table[] = [
  CLUSTER_RESOURCES,
  NODE_RESOURCES,
  PARTITIONS,
  SITES,
  QUALITIES,
  GPU_WEIGHTS,
  SHARES,
  SHARE_GROUPS,
];

/** Fields of a partition, which commands may change too. */
export const PARTITION_FIELDS = PARTITIONS.fields;

/** All tables, those of wings in their places. */
export function tablesOf(more: readonly PlacedTable[]): readonly Table[] {
  return withPlaced(OWN.map(named), more.map(named));
}

const named = <T extends Table>(table: T) => ({ ...table, name: table.section });

// What is wrong between the entries of the kernel's tables: each may be right and all of them not.

/** Partitions whose usual time limit is longer than the longest. */
function* checkTimes(partitions: Entries): Generator<EntryProblem> {
  for (const [name, fields] of partitions) {
    const max = fields.get('limits.time') as number | null | undefined;
    const usual = fields.get('limits.default_time') as number | null | undefined;
    if (max == null || usual == null || usual <= max) continue;
    yield { name, what: 'limits.default_time is longer than limits.time' };
  }
}

/** Groups of shares that are not there, that share members, or that contain each other. */
function* checkMembership(groups: Entries): Generator<EntryProblem> {
  yield* checkMembers(groups);
  yield* checkCycles(groups);
}

/** Groups that are not there, and members of two groups. */
function* checkMembers(groups: Entries): Generator<EntryProblem> {
  const homes = new Map<string, string>();
  for (const [name, fields] of groups) {
    const wrong = (what: string) => ({ name, what });
    for (const member of membersOf(fields, 'groups')) {
      if (!groups.has(member)) {
        yield wrong(`there is no group '${member}'.${didYouMean(member, groups.keys())}`);
      }
    }
    for (const kind of ['users', 'groups'] as const) {
      for (const member of membersOf(fields, kind)) {
        const key = `${kind} ${member}`;
        const home = homes.get(key);
        if (home !== undefined) yield wrong(`${member} is already in ${home}`);
        homes.set(key, name);
      }
    }
  }
}

function* checkCycles(groups: Entries): Generator<EntryProblem> {
  const seen = new Set<string>();
  for (const start of groups.keys()) {
    const path = cycleFrom(groups, start);
    if (path === null || path.some((name) => seen.has(name))) continue;
    for (const name of path) seen.add(name);
    const what = `the groups contain each other in a circle: ${path.join(' > ')} > ${start}`;
    yield { name: start, what };
  }
}

/** The way from a group back to itself; null when there is none. */
function cycleFrom(groups: Entries, start: string): string[] | null {
  const visited = new Set<string>();
  const walk = (name: string): string[] | null => {
    if (visited.has(name)) return null;
    visited.add(name);
    for (const member of membersOf(groups.get(name), 'groups')) {
      if (member === start) return [name];
      const rest = walk(member);
      if (rest !== null) return [name, ...rest];
    }
    return null;
  };
  return walk(start);
}

function membersOf(
  fields: ReadonlyMap<string, unknown> | undefined,
  kind: 'users' | 'groups',
): readonly string[] {
  return (fields?.get(kind) as readonly string[] | undefined) ?? [];
}
