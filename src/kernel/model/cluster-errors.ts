// Refusals about what a cluster is made of: nodes, partitions, reservations and maintenance.

/** Part of `CODES` (errors.ts), which says what a kind is. */
export const CLUSTER_CODES = {
  'label.unknown': { kind: 'invalid_argument', text: 'No node has the label {label}.' },
  'label.invalid': {
    kind: 'invalid_argument',
    text: "Labels '{labels}', column {column}: {what}.",
  },
  'label.unmet': { kind: 'invalid_argument', text: "No node{among} meets '{labels}'." },
  'partition.unknown': { kind: 'invalid_argument', text: 'No partition {partition}.' },
  'partition.access_denied': {
    kind: 'permission_denied',
    text: 'Partition {partition} is for {allowed}; {user} is not one of them.',
  },
  'partition.closed': {
    kind: 'failed_precondition',
    text: 'Partition {partition} takes no jobs: it is {state}.',
  },
  'partition.walltime_exceeded': {
    kind: 'invalid_argument',
    text: 'Partition {partition} allows {limit}; the job asks for {walltime}.',
  },
  'partition.nodes_exceeded': {
    kind: 'invalid_argument',
    text: 'Partition {partition} allows {limit} per task; the job asks for {nodes}.',
  },
  'partition.memory_exceeded': {
    kind: 'invalid_argument',
    text: 'Partition {partition} allows {limit} memory per node; the job asks for {memory}.',
  },
  'partition.unsatisfiable': {
    kind: 'invalid_argument',
    text: 'Partition {partition} can never hold {request}. {biggest}.',
  },
  'start.not_external': {
    kind: 'failed_precondition',
    text: 'Job {job} is of partition {partition}, where the head itself decides what starts.',
  },
  'start.refused': {
    kind: 'failed_precondition',
    text: 'Job {job} does not start on {nodes}: {why}.',
  },
  'partition.not_changed': {
    kind: 'failed_precondition',
    text: 'Partition {partition} is as the config says; no command has changed it.',
  },
  'qos.unknown': { kind: 'invalid_argument', text: 'No QoS {qos}.' },
  'qos.access_denied': {
    kind: 'permission_denied',
    text: 'QoS {qos} is for {allowed}; {user} is not one of them.',
  },
  'quota.exceeded': {
    kind: 'resource_exhausted',
    text: '{user} already has {jobs} waiting under QoS {qos}; the limit per user is {limit}.',
  },
  'user.cap_exceeded': {
    kind: 'resource_exhausted',
    text: 'A task asks for {asked}, and {user} may hold {cap} at once.',
  },
  'node.not_found': { kind: 'not_found', text: 'No node {node}.' },
  'site.not_found': { kind: 'not_found', text: 'No site {site}.' },
  'node.drained': { kind: 'failed_precondition', text: 'Node {node} is already drained: {reason}' },
  'node.not_drained': { kind: 'failed_precondition', text: 'Node {node} is not drained.' },
  'node.reachable': {
    kind: 'failed_precondition',
    text: 'Node {node} is connected; only a silent node can be declared lost.',
  },
  'node.busy': { kind: 'failed_precondition', text: 'Node {node} still runs {tasks}.' },
  'node.cloned': {
    kind: 'failed_precondition',
    text: 'Another machine has the identity of node {node}: {why}. Neither gets work.',
  },
  'node.name_taken': {
    kind: 'already_exists',
    text: 'Node {node} is already enrolled; remove it first, or join under another name.',
  },
  'node.not_connected': {
    kind: 'unavailable',
    text: 'Node {node} is not connected; `weft pause` on the machine itself works all the same.',
  },
  'agent.failed': { kind: 'unavailable', text: 'The agent of {node} cannot start: {cause}.' },
  'agent.unreachable': {
    kind: 'unavailable',
    text: 'The agent of {node} does not answer on this machine: {cause}.',
  },
  'node.not_owner': {
    kind: 'permission_denied',
    text: '{user} may not pause {node}: neither its owner nor logged in at its console.',
  },
  'node.at_site': {
    kind: 'failed_precondition',
    text: 'Node {node} is of a site, whose jobs no pause suspends: it cannot be paused.',
  },
  'node.not_paused': { kind: 'failed_precondition', text: 'Node {node} is not paused.' },
  'pause.too_long': {
    kind: 'invalid_argument',
    text: 'A pause of {node} lasts {limit} at most, not {duration}.',
  },
  'maintenance.not_found': { kind: 'not_found', text: 'No maintenance {maintenance}.' },
  'maintenance.not_on': {
    kind: 'failed_precondition',
    text: 'Node {node} is in no maintenance that has begun{ahead}.',
  },
  'maintenance.not_at_site': {
    kind: 'invalid_argument',
    text: 'No such maintenance of {node}: {why}.',
  },
  'maintenance.over': {
    kind: 'failed_precondition',
    text: 'Maintenance {maintenance} is already {phase}.',
  },
  'reservation.not_found': { kind: 'not_found', text: 'No reservation {reservation}.' },
  'reservation.name_taken': {
    kind: 'already_exists',
    text: 'Reservation {name} already exists.',
  },
  'reservation.past': {
    kind: 'invalid_argument',
    text: '{what} is in the past: {at}.',
  },
  'reservation.unsatisfiable': {
    kind: 'invalid_argument',
    text: 'No reservation can hold {request}: {able} of the nodes fit.',
  },
  'reservation.conflict': {
    kind: 'failed_precondition',
    text: 'Node {node} is reserved for {other} from {from} to {until}.',
  },
  'reservation.busy': {
    kind: 'failed_precondition',
    text: 'Task {task} may run on {node} {until}.',
  },
  'reservation.no_slot': {
    kind: 'failed_precondition',
    text: 'There is no slot of {duration} for {request} before {until}; {earliest}.',
  },
  'reservation.denied': {
    kind: 'permission_denied',
    text: '{user} may not use reservation {reservation}.',
  },
  'reservation.too_many': {
    kind: 'resource_exhausted',
    text: 'The cluster already has {limit} reservations, the most that it may have.',
  },
  'reservation.job_unfit': {
    kind: 'failed_precondition',
    text: 'The job cannot run in reservation {reservation}: {what}.',
  },
} as const;
