// What the config says of each partition, QoS and group: the fields of one, as keys are. The
// reader, `config show` and docs/config.md are made from these tables.

import { TIER_MAX } from '../model/limits.ts';
import { PARTITION_STATES, PLACEMENTS, POLICIES, PREEMPT_MODES } from '../model/scheduling.ts';
import { type Key, type KeyType, key } from './key.ts';
import type { Value } from './value.ts';

/** Values by field name; only those that were written. */
export type Fields = ReadonlyMap<string, Value>;
/** Fields by entry name, in the file's order. */
export type Entries = ReadonlyMap<string, Fields>;

/** A part of the file that has entries under names of the site's own. */
export interface Table {
  /** `partitions`: its entries are `partitions.NAME`. */
  readonly section: string;
  /** What an entry is called in messages: `a partition`. */
  readonly entry: string;
  /** An entry is one value (of the only field, named '') or a mapping of fields. */
  readonly fields: readonly Key[];
}

const field = (name: string, type: KeyType, value: string | null, text: string, more = {}): Key =>
  key(name, type, value, text, more);

const TIER = { min: -TIER_MAX, max: TIER_MAX };
const SHARE = { min: 1, max: 1_000_000 };
const PART = { min: 0, max: 1 };
const PRICE = { min: 0, max: 1_000_000 };

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

const SHARE_GROUPS: Table = {
  section: 'fair_share.groups',
  entry: 'a group',
  fields: [
    field('share', 'count', '1', 'Share of the group, divided among its members.', SHARE),
    field('users', 'texts', '', 'Users in the group; each user is in one group only.'),
    field('groups', 'texts', '', 'Groups in the group, from this table.'),
  ],
};

const COMMANDS: Table = {
  section: 'notify.commands',
  entry: 'a command',
  fields: [field('', 'texts', null, 'Program, by its absolute path, and arguments.')],
};

const FILTERS: Table = {
  section: 'filters',
  entry: 'a rule',
  fields: [
    field('over', 'choice', 'nodes', 'What the rule is for.', { choices: ['nodes', 'jobs'] }),
    field(
      'when',
      'labels',
      '',
      'Only what meets all of these; of jobs `user=`, `partition=`, `qos=`.',
    ),
    field('hide', 'flag', 'false', 'A scheduler at the wiki door does not see it.'),
    field('add', 'texts', '', 'Labels that it is shown with besides its own.'),
    field('queue', 'text', null, 'The queue (class) that it is shown in; default: its partition.'),
  ],
};

export const TABLES: readonly Table[] = [
  FILTERS,
  PARTITIONS,
  SITES,
  QUALITIES,
  SHARES,
  SHARE_GROUPS,
  COMMANDS,
];

/** `partitions`, `fair_share.users`: the table of this name, if it is one. */
export function tableOf(section: string): Table | undefined {
  return TABLES.find((table) => table.section === section);
}
