// Every refusal there is, on one screen. The CLI, the API and docs/errors.md are made from it.

export type Kind =
  | 'invalid_argument'
  | 'unauthenticated'
  | 'permission_denied'
  | 'not_found'
  | 'already_exists'
  | 'failed_precondition'
  | 'resource_exhausted'
  | 'unavailable'
  | 'deadline_exceeded'
  | 'internal';

/** HTTP status and exit code of each kind, and whether the same request may be sent again. */
export const KINDS = {
  invalid_argument: { http: 400, exit: 2, retry: 'no' },
  unauthenticated: { http: 401, exit: 4, retry: 'no' },
  permission_denied: { http: 403, exit: 4, retry: 'no' },
  not_found: { http: 404, exit: 3, retry: 'no' },
  already_exists: { http: 409, exit: 5, retry: 'after a change' },
  failed_precondition: { http: 409, exit: 5, retry: 'after a change' },
  resource_exhausted: { http: 429, exit: 6, retry: 'later' },
  unavailable: { http: 503, exit: 7, retry: 'yes, same key' },
  deadline_exceeded: { http: 504, exit: 8, retry: 'yes, same key' },
  internal: { http: 500, exit: 70, retry: 'no' },
} as const satisfies Record<Kind, { http: number; exit: number; retry: string }>;

export const CODES = {
  'argument.invalid': { kind: 'invalid_argument', text: '{what}' },
  'request.malformed': { kind: 'invalid_argument', text: 'The request cannot be read: {what}' },
  'request.too_large': {
    kind: 'invalid_argument',
    text: 'The request is larger than {limit}; nothing was accepted.',
  },
  'config.invalid': { kind: 'invalid_argument', text: '{where}: {what}' },
  'config.not_taken': {
    kind: 'invalid_argument',
    text: 'The new configuration was not taken, the one before holds. {what}',
  },
  'auth.required': { kind: 'unauthenticated', text: 'Who are you? {what}' },
  'auth.token_invalid': {
    kind: 'unauthenticated',
    text: 'This token is unknown, revoked or expired.',
  },
  'auth.fingerprint_mismatch': {
    kind: 'unauthenticated',
    text: 'The head at {address} shows certificate {actual}, expected {expected}.',
  },
  'auth.role_needed': {
    kind: 'permission_denied',
    text: '{action} needs the role {role}; {user} is {actual}.',
  },
  'auth.not_owner': { kind: 'permission_denied', text: 'Job {job} belongs to {owner}.' },
  'auth.single_user': {
    kind: 'permission_denied',
    text: 'This cluster runs everything as {owner} and serves nobody else.',
  },
  'auth.root_refused': {
    kind: 'permission_denied',
    text: 'Jobs as root are refused when nodes switch users; submit as an ordinary user.',
  },
  'job.not_found': { kind: 'not_found', text: 'No job {job}.' },
  'job.already_done': {
    kind: 'failed_precondition',
    text: 'Job {job} is already done ({outcome}).',
  },
  'job.not_pending': { kind: 'failed_precondition', text: 'Job {job} is {state}, not pending.' },
  'job.not_held': { kind: 'failed_precondition', text: 'Job {job} is not held.' },
  'job.not_running': { kind: 'failed_precondition', text: 'Job {job} is {state}, not running.' },
  'job.not_suspended': { kind: 'failed_precondition', text: 'Job {job} is not suspended.' },
  'job.dependency_unknown': {
    kind: 'invalid_argument',
    text: 'The job depends on {job}, which does not exist.',
  },
  'resources.unsatisfiable': {
    kind: 'invalid_argument',
    text: 'No node could ever hold {request}. {nearest}.',
  },
  'launch.too_large': {
    kind: 'invalid_argument',
    text: 'Too large to start: {what} ({size}, limit {limit}).',
  },
  'label.unknown': { kind: 'invalid_argument', text: 'No node has the label {label}.' },
  'label.invalid': {
    kind: 'invalid_argument',
    text: "Labels '{labels}', column {column}: {what}.",
  },
  'label.unmet': { kind: 'invalid_argument', text: "No node{among} meets '{labels}'." },
  'partition.unknown': { kind: 'invalid_argument', text: 'No partition {partition}.' },
  'partition.access_denied': {
    kind: 'permission_denied',
    text: 'Partition {partition} is for {allowed}; {user} is neither among them nor in their groups.',
  },
  'partition.closed': {
    kind: 'failed_precondition',
    text: 'Partition {partition} takes no jobs: it is {state}.',
  },
  'partition.walltime_exceeded': {
    kind: 'invalid_argument',
    text: 'Partition {partition} allows {limit}, the job asks for {walltime}.',
  },
  'partition.nodes_exceeded': {
    kind: 'invalid_argument',
    text: 'Partition {partition} allows {limit} nodes to a task, the job asks for {nodes}.',
  },
  'partition.memory_exceeded': {
    kind: 'invalid_argument',
    text: 'Partition {partition} allows {limit} memory on a node, the job asks for {memory}.',
  },
  'partition.unsatisfiable': {
    kind: 'invalid_argument',
    text: 'The nodes of partition {partition} could never hold {request}. {biggest}.',
  },
  'partition.not_changed': {
    kind: 'failed_precondition',
    text: 'Partition {partition} is as the config says: nothing was set by a command.',
  },
  'qos.unknown': { kind: 'invalid_argument', text: 'No QoS {qos}.' },
  'qos.access_denied': {
    kind: 'permission_denied',
    text: 'QoS {qos} is for {allowed}; {user} is neither among them nor in their groups.',
  },
  'quota.exceeded': {
    kind: 'resource_exhausted',
    text: '{user} has {count} jobs waiting under QoS {qos}, its limit is {limit}.',
  },
  'directory.not_shared': {
    kind: 'invalid_argument',
    text: 'No node shares {path}; leave --chdir out to run in a private directory.',
  },
  'node.not_found': { kind: 'not_found', text: 'No node {node}.' },
  'node.drained': { kind: 'failed_precondition', text: 'Node {node} is drained already: {reason}' },
  'node.not_drained': { kind: 'failed_precondition', text: 'Node {node} is not drained.' },
  'node.reachable': {
    kind: 'failed_precondition',
    text: 'Node {node} is connected; only a silent node can be declared lost.',
  },
  'node.busy': { kind: 'failed_precondition', text: 'Node {node} still runs {tasks}.' },
  'node.name_taken': {
    kind: 'already_exists',
    text: 'A node {node} is enrolled already; remove it first or join under another name.',
  },
  'maintenance.not_found': { kind: 'not_found', text: 'No maintenance {maintenance}.' },
  'maintenance.over': {
    kind: 'failed_precondition',
    text: 'Maintenance {maintenance} is {phase} already.',
  },
  'reservation.not_found': { kind: 'not_found', text: 'No reservation {reservation}.' },
  'reservation.name_taken': {
    kind: 'already_exists',
    text: 'There is a reservation {name} already.',
  },
  'reservation.past': {
    kind: 'invalid_argument',
    text: '{what} is in the past: {at}.',
  },
  'reservation.unsatisfiable': {
    kind: 'invalid_argument',
    text: 'No reservation could ever hold {request}: {able} such nodes are there.',
  },
  'reservation.conflict': {
    kind: 'failed_precondition',
    text: 'Node {node} is set aside for {other} from {from} to {until}.',
  },
  'reservation.busy': {
    kind: 'failed_precondition',
    text: 'Task {task} may run on {node} {until}.',
  },
  'reservation.no_slot': {
    kind: 'failed_precondition',
    text: 'There is no room of {duration} for {request} before {until}; {earliest}.',
  },
  'reservation.denied': {
    kind: 'permission_denied',
    text: 'Reservation {reservation} is not for {user}.',
  },
  'reservation.too_many': {
    kind: 'resource_exhausted',
    text: 'There are {limit} reservations, which is the limit.',
  },
  'reservation.job_unfit': {
    kind: 'failed_precondition',
    text: 'The job cannot run in reservation {reservation}: {what}.',
  },
  'user.not_found': { kind: 'not_found', text: 'No user {user}.' },
  'user.exists': { kind: 'already_exists', text: 'User {user} exists already.' },
  'token.not_found': { kind: 'not_found', text: 'No token {token}.' },
  'protocol.version': {
    kind: 'failed_precondition',
    text: 'The peer speaks protocol {theirs}, this side speaks {ours}; install the same release.',
  },
  'rate.exceeded': { kind: 'resource_exhausted', text: 'More than {limit} requests a second.' },
  'head.starting': { kind: 'unavailable', text: 'The head is reading its journal.' },
  'head.stopping': { kind: 'unavailable', text: 'The head is stopping.' },
  'head.unreachable': { kind: 'unavailable', text: 'No head answers at {address}: {cause}' },
  'store.unavailable': {
    kind: 'unavailable',
    text: 'The store cannot write ({cause}); nothing was accepted.',
  },
  'trace.unreadable': {
    kind: 'invalid_argument',
    text: 'Cannot read the trace {trace}: {cause}',
  },
  'trace.empty': {
    kind: 'invalid_argument',
    text: 'No job of {trace} can be replayed: {what}.',
  },
  'wait.timeout': { kind: 'deadline_exceeded', text: 'Not finished within {limit}.' },
  'event.too_old': {
    kind: 'failed_precondition',
    text: 'Record {after} is not in memory any more; the oldest that is, is {oldest}.',
  },
  'log.elsewhere': {
    kind: 'failed_precondition',
    text: 'The output of {task} goes to {path} on its nodes, not to the head.',
  },
  'log.no_run': { kind: 'not_found', text: 'There is no run {epoch} of {task}: {last}.' },
  'log.removed': { kind: 'not_found', text: 'The output of job {job} was removed to make room.' },
  'route.unknown': { kind: 'not_found', text: 'No such path: {path}.' },
  'internal.error': {
    kind: 'internal',
    text: 'A bug in the head; its log has incident {incident}.',
  },
} as const satisfies Record<string, { kind: Kind; text: string }>;

export type Code = keyof typeof CODES;

type Fields<Text extends string> = Text extends `${string}{${infer Name}}${infer Rest}`
  ? Name | Fields<Rest>
  : never;
/** The named values of a code's text. */
export type Details<C extends Code> = { readonly [K in Fields<(typeof CODES)[C]['text']>]: string };

/** An expected failure as plain data: goes over the wire as it is, with `kind` and `message`. */
export interface Refusal {
  readonly code: Code;
  readonly details: Readonly<Record<string, string>>;
  /** What to do next, when there is more to say than the text. */
  readonly hint?: string;
}

export function refuse<C extends Code>(code: C, details: Details<C>, hint?: string): Refusal {
  return hint === undefined ? { code, details } : { code, details, hint };
}

export function kindOf(code: Code): Kind {
  return CODES[code].kind;
}

/** The refusal in words, with its hint. */
export function formatRefusal(refusal: Refusal): string {
  const text = CODES[refusal.code].text.replace(
    /\{(\w+)\}/g,
    (_, name: string) => refusal.details[name] ?? `{${name}}`,
  );
  return refusal.hint === undefined ? text : `${text} ${refusal.hint}`;
}
