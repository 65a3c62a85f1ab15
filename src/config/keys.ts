// Every configuration key, on one screen: name, type, default, what it is for. The reader, `config
// show` and docs/config.md are made from this table.

import {
  DEFAULT_BILLING,
  DEFAULT_POLICY,
  DEFAULT_WEIGHTS,
  DEPTH_DEFAULT,
  POLICIES,
} from '../core/model/scheduling.ts';
import { type Key, key } from './key.ts';

const weight = (name: string, value: number, text: string): Key =>
  key(`priority.${name}`, 'number', String(value), text, { min: -1e9, max: 1e9 });

const billing = (name: string, value: number, text: string): Key =>
  key(`fair_share.${name}_weight`, 'number', String(value), text, { min: 0, max: 1e6 });

const PRIORITY_KEYS: readonly Key[] = [
  weight('age', DEFAULT_WEIGHTS.age, 'Points for each hour of waiting.'),
  weight(
    'size',
    DEFAULT_WEIGHTS.size,
    'Points of a task of all nodes; smaller ones in proportion.',
  ),
  weight('fair_share', DEFAULT_WEIGHTS.fairShare, 'Points of a user who has used nothing lately.'),
  weight('partition', DEFAULT_WEIGHTS.partition, 'Points of a partition whose priority is 1.'),
  weight('qos', DEFAULT_WEIGHTS.qos, 'Points of a QoS whose priority is 1.'),
  weight('nice', DEFAULT_WEIGHTS.nice, 'Points that a step of nice takes away.'),
];

export const KEYS: readonly Key[] = [
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
    'Jobs run as their submitters; `false`: as the one who runs the nodes.',
  ),
  key('head.node_timeout', 'duration', '15s', 'Silence after which a node is unreachable.'),
  key('head.heartbeat', 'duration', '2s', 'How often agents say that they live.', { min: 10 }),
  key('head.tick', 'duration', '1s', 'Longest time between two looks at timers and queue.', {
    min: 1,
  }),
  key('head.kill_grace', 'duration', '10s', 'Time between TERM and KILL.'),
  key('head.crash_limit', 'count', '3', 'Starts that may take a node down before a task is held.', {
    min: 1,
  }),
  key('head.policy', 'choice', DEFAULT_POLICY, 'Order of starts, where a partition says none.', {
    choices: POLICIES,
  }),
  key(
    'head.retain_jobs',
    'count',
    '10000',
    'Finished jobs kept in memory; the store has the rest.',
  ),
  key('head.request_rate', 'count', '20000', 'Requests a second and user.', { min: 1 }),
  key(
    'head.log_limit',
    'size',
    '64M',
    'Captured output kept of one stream of one process; of more, its end is kept too.',
  ),
  key('head.log_total', 'size', '10G', 'Captured output kept of all jobs; the oldest goes first.'),
  key(
    'head.blobs_max',
    'size',
    '50G',
    'Files of jobs kept on the head; those that nothing names any more go first.',
  ),
  key('head.cpus', 'count', null, 'Cpus shown for the head, where nothing runs; default: all.'),
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
    'Program and arguments that check a node, run on it by its agent. See health.md.',
  ),
  key('health.interval', 'duration', '1m', 'Time from one check to the next.', { min: 100 }),
  key('health.timeout', 'duration', '10s', 'Time after which a check has failed.', { min: 1 }),
  key(
    'reservations.users',
    'flag',
    'false',
    'Users may reserve nodes for themselves, not operators alone.',
  ),
  key('defaults.nodes', 'count', '1', 'Nodes of a job that does not say.', { min: 1 }),
  key('defaults.procs', 'count', '1', 'Processes per node of a job that does not say.', { min: 1 }),
  key('defaults.cpus', 'count', '1', 'Cpus per node of a job that does not say.'),
  key(
    'defaults.memory',
    'size',
    null,
    "Memory per node of a job that does not say; default: the node's memory × cpus asked / its cpus.",
  ),
  key('defaults.time', 'duration', 'none', 'Time limit of a job that does not say.'),
  ...PRIORITY_KEYS,
  key(
    'scheduler.depth',
    'count',
    String(DEPTH_DEFAULT),
    'Waiting tasks of a partition that `conservative` plans ahead.',
  ),
  key('fair_share.half_life', 'duration', '7d', 'Time after which what was used counts half.', {
    min: 1000,
  }),
  billing('cpu', DEFAULT_BILLING.cpu, 'What a cpu held for a second counts as usage, in seconds.'),
  billing('memory', DEFAULT_BILLING.memory, 'The same of a GiB of memory.'),
  billing('gpu', DEFAULT_BILLING.gpu, 'The same of a gpu.'),
  key('node.name', 'text', null, 'Name of this node; default: the host name.'),
  key('node.cpus', 'count', null, 'Cpus offered; default: all that affinity and cgroup leave.'),
  key(
    'node.memory',
    'size',
    null,
    'Memory offered; default: all that the cgroup leaves, however many cpus are offered.',
  ),
  key('node.gpus', 'count', null, 'Gpus offered; default: all that are found.'),
  key('node.labels', 'texts', '', 'Labels of this node, for `--needs`.'),
  key('node.shared', 'texts', '', 'Directories that are the same here and where users submit.'),
  key(
    'node.spool_limit',
    'size',
    '10G',
    'Captured output of what runs or was not yet sent; beyond it the node takes no new work.',
  ),
  key(
    'node.switch_user',
    'choice',
    'auto',
    'Run jobs as their submitters; `auto`: when started by root.',
    {
      choices: ['auto', 'true', 'false'],
    },
  ),
  key('up.nodes', 'count', '1', 'Nodes of `weft up`.', { min: 1, max: 256 }),
  key('up.cpus', 'count', null, "Cpus of each; default: the machine's, divided among them.", {
    min: 1,
  }),
  key('up.memory', 'size', null, "Memory of each; default: the machine's, divided among them."),
  key('up.gpus', 'count', null, "Gpus of each; default: the machine's, divided among them."),
  key('up.keep', 'flag', 'true', 'Start heads and agents of `weft up` again that have died.'),
  key(
    'up.nodes_per_process',
    'count',
    null,
    'Nodes whose agents are one process; default: all that `weft up` starts at once.',
    { min: 1 },
  ),
  key('join.retries', 'count', '10', 'How often `weft join` tries to reach the head.', { min: 1 }),
  key('join.retry_wait', 'duration', '500ms', 'Time between two of these.'),
  key('client.timeout', 'duration', '30s', 'Time-out of one request to the head.', { min: 1 }),
];

/** A key of the seed's `cm-config.yml`: which of ours it is, and the unit of its bare number. */
export interface SeedKey {
  readonly key: string;
  readonly unit: 'ms' | 's' | 'h' | 'M' | 'count' | 'port';
}

const seed = (to: string, unit: SeedKey['unit']): SeedKey => ({ key: to, unit });

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
  request_timeout: seed('client.timeout', 'ms'),
  default_n_nodes: seed('defaults.nodes', 'count'),
  default_n_procs: seed('defaults.procs', 'count'),
  default_n_cpus_per_node: seed('defaults.cpus', 'count'),
  default_n_cpu_per_node: seed('defaults.cpus', 'count'),
  default_mem_per_node: seed('defaults.memory', 'M'),
  default_time_limit: seed('defaults.time', 'h'),
};

/**
 * Where a `cm-config.yml` says nothing, what the seed did. Not its time-out of 100 ms for a request,
 * within which its own listings failed when one node was down.
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
