// The configuration keys of the kernel: name, type, default, what it is for. The reader, `config
// show` and docs/config.md are made from these and those of wings.

import type { CAP_KINDS } from '../model/caps.ts';
import { CAP_MAX, CLIENT_TIMEOUT_MS } from '../model/limits.ts';
import {
  DEFAULT_BILLING,
  DEFAULT_POLICY,
  DEFAULT_WEIGHTS,
  DEPTH_DEFAULT,
  PLANNING_POLICIES,
} from '../model/scheduling.ts';
import { CAPPED_TYPE, type Key, key } from './key.ts';

const weight = (name: string, value: number, text: string): Key =>
  key(`priority.${name}`, 'number', String(value), text, { min: -1e9, max: 1e9 });

const billing = (name: string, value: number, text: string): Key =>
  key(`fair_share.${name}_weight`, 'number', String(value), text, { min: 0, max: 1e6 });

const cap = (name: (typeof CAP_KINDS)[number], text: string, min: number): Key =>
  key(`caps.${name}`, 'count', null, text, { min, max: CAP_MAX });

const PRIORITY_KEYS: readonly Key[] = [
  weight('age', DEFAULT_WEIGHTS.age, 'Points for each hour of waiting.'),
  weight(
    'size',
    DEFAULT_WEIGHTS.size,
    'Points for a task that asks for all nodes; smaller tasks get a proportional part.',
  ),
  weight(
    'fair_share',
    DEFAULT_WEIGHTS.fairShare,
    'Points for tasks of a user without recent usage.',
  ),
  weight('partition', DEFAULT_WEIGHTS.partition, 'Points for a partition whose priority is 1.'),
  weight('qos', DEFAULT_WEIGHTS.qos, 'Points for a QoS whose priority is 1.'),
  weight('nice', DEFAULT_WEIGHTS.nice, 'Points that each step of nice takes away.'),
];

export const OWN_KEYS: readonly Key[] = [
  key('cluster.name', 'text', 'weft', 'Name of the cluster, shown in listings.'),
  key(
    'head.listen',
    'address',
    '127.0.0.1:5001',
    'TLS address for agents and users; `none` = unix socket only.',
  ),
  key(
    'head.names',
    'texts',
    null,
    'Names and addresses of this machine for the certificate and join tokens.',
  ),
  key(
    'head.multi_user',
    'flag',
    'true',
    'Jobs run as their submitters; `false`: as the user who runs the agents.',
  ),
  key('head.node_timeout', 'duration', '15s', 'Silence after which a node is unreachable.'),
  key('head.heartbeat', 'duration', '2s', 'Time between two heartbeats of an agent.', { min: 10 }),
  key('head.tick', 'duration', '1s', 'Longest time between two checks of timers and queue.', {
    min: 1,
  }),
  key('head.kill_grace', 'duration', '10s', 'Time between TERM and KILL.'),
  key(
    'head.crash_limit',
    'count',
    '3',
    'A task is held after this many starts that took a node down.',
    {
      min: 1,
    },
  ),
  key('head.policy', 'choice', DEFAULT_POLICY, 'Order of starts in partitions that set none.', {
    choices: PLANNING_POLICIES,
  }),
  key('head.retain_jobs', 'count', '10000', 'Finished jobs kept in memory; the store keeps all.'),
  key('head.request_rate', 'count', '20000', 'Requests that one user may send per second.', {
    min: 1,
  }),
  key(
    'head.log_limit',
    'size',
    '64M',
    'Captured output kept per stream of a process; the end of longer output is kept too.',
  ),
  key(
    'head.log_total',
    'size',
    '10G',
    'Captured output kept of all jobs together; the oldest goes of users who keep more than an equal share.',
  ),
  key(
    'head.blobs_max',
    'size',
    '100G',
    'Files of jobs kept on the head, archived ones too; those that nothing names go first.',
  ),
  key(
    'head.user_files',
    'size',
    null,
    'Files of one user kept on the head; default: a quarter of the room, for a head of one user all.',
  ),
  key(
    'head.archive_max',
    'size',
    '50G',
    'Archived files of all jobs together; the oldest go of users who keep more than an equal share.',
  ),
  key('head.archive_age', 'duration', '14d', 'Archived files are removed after this time.', {
    min: 60_000,
  }),
  key(
    'head.archive_default',
    'size',
    '64M',
    'Kept of the files that a task leaves in its private directory, when its job does not say.',
  ),
  key(
    'head.build_time',
    'duration',
    '1h',
    'Time that a node may take to build the solver of a batch whose file does not say.',
    { min: 1000 },
  ),
  key('head.cpus', 'count', null, 'Cpus shown for the head, which runs no jobs; default: all.'),
  key('head.memory', 'size', null, 'Memory shown for the head; default: all.'),
  key(
    'fence.command',
    'texts',
    '',
    'Program and arguments that switch a silent node off; `{node}` is its name. See fencing.md.',
  ),
  key('fence.timeout', 'duration', '1m', 'Time after which the fence command has failed.', {
    min: 1,
  }),
  key(
    'health.command',
    'texts',
    '',
    'Program and arguments with which the agent checks its node. See health.md.',
  ),
  key('health.interval', 'duration', '1m', 'Time between two checks.', { min: 100 }),
  key('health.timeout', 'duration', '10s', 'Time after which a check has failed.', { min: 1 }),
  key(
    'reservations.users',
    'flag',
    'false',
    'Users may reserve nodes for themselves; `false`: only operators reserve.',
  ),
  key('defaults.nodes', 'count', '1', 'Default number of nodes of a job.', { min: 1 }),
  key('defaults.procs', 'count', '1', 'Default processes per node.', { min: 1 }),
  key('defaults.cpus', 'count', '1', 'Default cpus per node.'),
  key(
    'defaults.memory',
    'size',
    null,
    "Default memory per node; unset: the node's memory × cpus asked / its cpus.",
  ),
  key('defaults.time', 'duration', 'none', 'Default time limit of a job.'),
  key(
    'defaults.on_node_loss',
    'text',
    null,
    "What becomes of tasks whose node is silent, as `--on-node-loss` has it: `requeue`, `wait` or `lease=15m`; unset: wait, and requeue in a directory of the node's own.",
    {
      form: {
        is: /^(requeue|wait|lease=\S+)$/,
        expected: 'requeue, wait or lease=15m',
      },
    },
  ),
  ...PRIORITY_KEYS,
  key(
    'scheduler.depth',
    'count',
    String(DEPTH_DEFAULT),
    'Waiting tasks that `conservative` plans ahead in each partition.',
  ),
  key('fair_share.half_life', 'duration', '7d', 'Time after which usage counts half.', {
    min: 1000,
  }),
  billing('cpu', DEFAULT_BILLING.cpu, 'Usage counted for each second that a cpu is held.'),
  billing(
    'memory',
    DEFAULT_BILLING.memory,
    'Usage counted for each second that 1 GiB of memory is held.',
  ),
  billing('gpu', DEFAULT_BILLING.gpu, 'Usage counted for each second that a gpu is held.'),
  cap(
    'cpus',
    'Cpus a user may hold at once, unless `weft user set` says otherwise; default: all.',
    1,
  ),
  cap('gpus', 'Gpus a user may hold at once; default: all.', 0),
  key(
    'caps.gpu_types',
    'texts',
    '',
    'Gpus of a type that a user may hold at once: `[h100:2, a100:4]`; others: as `caps.gpus`.',
    CAPPED_TYPE,
  ),
  cap('running', 'Tasks a user may have running at once; default: any number.', 1),
  key('node.name', 'text', null, 'Name with which this machine joins; default: the host name.'),
  key('node.cpus', 'count', null, 'Cpus offered; default: all that affinity and cgroup allow.'),
  key(
    'node.memory',
    'size',
    null,
    'Memory offered; default: all that the cgroup allows, however many cpus are offered.',
  ),
  key('node.gpus', 'count', null, 'Gpus offered; default: all that are found.'),
  key('node.labels', 'texts', '', 'Labels of this node, for `--needs`.'),
  key(
    'node.shared',
    'texts',
    '',
    'Directories that this node shares with the machines users submit from.',
  ),
  key(
    'node.path',
    'text',
    '/usr/local/bin:/usr/bin:/bin',
    'PATH of jobs that bring none, and where container runtimes are looked for: folders that only root can write.',
    {
      form: {
        is: /^\/[^\0\n:]*(:\/[^\0\n:]*)*$/,
        expected: 'absolute folders with : between them',
      },
    },
  ),
  key(
    'node.spool_limit',
    'size',
    '10G',
    'Captured output kept on the node; above this the node takes no new work.',
  ),
  key(
    'node.cache',
    'size',
    null,
    'Files of tasks kept on the node for the next that need them; default: a tenth of its disk.',
  ),
  key(
    'node.builds',
    'size',
    null,
    'Builds of batch solvers kept on the node, the one used longest ago goes first; default: a tenth of its disk.',
  ),
  key(
    'node.builds_age',
    'duration',
    '30d',
    'A solver build that no job has used for this long is removed.',
  ),
  key(
    'node.switch_user',
    'choice',
    'auto',
    'Run jobs as their submitters; `auto`: if the agent runs as root.',
    {
      choices: ['auto', 'true', 'false'],
    },
  ),
  key('up.nodes', 'count', '1', 'Number of nodes of `weft up`.', { min: 1, max: 1024 }),
  key(
    'up.cpus',
    'count',
    null,
    "Cpus of each node; default: the machine's, divided among the nodes.",
    {
      min: 1,
    },
  ),
  key(
    'up.memory',
    'size',
    null,
    "Memory of each node; default: the machine's, divided among the nodes.",
  ),
  key(
    'up.gpus',
    'count',
    null,
    "Gpus of each node; default: the machine's, divided among the nodes.",
  ),
  key('up.keep', 'flag', 'true', 'Start the head and agents of `weft up` again when they die.'),
  key(
    'up.nodes_per_process',
    'count',
    null,
    'Nodes per agent process; default: all that `weft up` starts at once.',
    { min: 1 },
  ),
  key('join.retries', 'count', '10', 'How often `weft join` tries to reach the head.', { min: 1 }),
  key('join.retry_wait', 'duration', '500ms', 'Time between two of these attempts.'),
  key(
    'client.timeout',
    'duration',
    `${CLIENT_TIMEOUT_MS / 1000}s`,
    'Time-out of one request to the head.',
    { min: 1 },
  ),
];

/** A key of the seed's `cm-config.yml`: which of ours it is, and the unit of its bare number. */
export interface SeedKey {
  readonly key: string;
  readonly unit: 'ms' | 's' | 'h' | 'M' | 'count' | 'port';
  /** In the same unit: a smaller number counts as this one. */
  readonly least: number;
}

const seed = (to: string, unit: SeedKey['unit'], least = 0): SeedKey => ({ key: to, unit, least });

/** cm's default of 100 ms gives up on a head busy for a moment, with half of the work done. */
const REQUEST_MS_LEAST = 5000;

/** All fifteen, and the three that its report spells differently. */
export const SEED_KEYS: Readonly<Record<string, SeedKey>> = {
  scheduler_lag: seed('head.tick', 'ms'),
  status_lag: seed('head.heartbeat', 'ms'),
  register_retries: seed('join.retries', 'count'),
  register_retires: seed('join.retries', 'count'),
  register_retry_wait: seed('join.retry_wait', 's'),
  daemon_port: seed('head.listen', 'port'),
  num_cpus_per_child: seed('up.cpus', 'count'),
  memory_per_child: seed('up.memory', 'M'),
  num_cpus_per_head: seed('head.cpus', 'count'),
  memory_per_head: seed('head.memory', 'M'),
  request_timeout: seed('client.timeout', 'ms', REQUEST_MS_LEAST),
  default_n_nodes: seed('defaults.nodes', 'count'),
  default_n_procs: seed('defaults.procs', 'count'),
  default_n_cpus_per_node: seed('defaults.cpus', 'count'),
  default_n_cpu_per_node: seed('defaults.cpus', 'count'),
  default_mem_per_node: seed('defaults.memory', 'M'),
  default_time_limit: seed('defaults.time', 'h'),
};

/**
 * Where a `cm-config.yml` says nothing, what the seed did. Not its time-out of 100 ms for a
 * request, within which its own listings failed when one node was down.
 */
export const SEED_DEFAULTS: Readonly<Record<string, string>> = {
  'head.policy': 'first_fit',
  'head.heartbeat': '5s',
  'head.cpus': '2',
  'head.memory': '512M',
  'defaults.memory': '100M',
  'up.nodes': '4',
  'up.cpus': '2',
  'up.memory': '512M',
  'join.retry_wait': '5s',
};

/** `WEFT_HEAD_NODE_TIMEOUT` for `head.node_timeout`. */
export function environmentName(name: string): string {
  return `WEFT_${name.toUpperCase().replaceAll('.', '_')}`;
}
