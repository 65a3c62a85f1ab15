// Every refusal there is: of what, and in which words. The CLI, the API and docs/errors.md are made
// from it.

import { asClause } from '../base/sentence.ts';
import { BACKUP_CODES } from './backup-errors.ts';
import { CLUSTER_CODES } from './cluster-errors.ts';
import { LOGIN_CODES } from './login-errors.ts';
import { PILOT_CODES } from './pilot-errors.ts';
import { POOL_CODES } from './pool-errors.ts';
import { STEP_CODES } from './step-errors.ts';

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
  'batch.invalid': { kind: 'invalid_argument', text: '{where}: {what}' },
  'batch.file_changed': {
    kind: 'failed_precondition',
    text: '{file} was changed while it was read; nothing was started.',
  },
  'batch.exists': {
    kind: 'already_exists',
    text: '{batch} is in {folder} already: {done} of {jobs} completed.',
  },
  'batch.changed': {
    kind: 'failed_precondition',
    text: '{batch} has changed since {jobs} completed.',
  },
  'batch.busy': {
    kind: 'failed_precondition',
    text: 'Another run of {batch} works in {folder}{holder}.',
  },
  'batch.dependency_unmet': {
    kind: 'failed_precondition',
    text: '{batch} comes after {other}, which is not complete: {what}.',
  },
  'batch.not_found': { kind: 'not_found', text: 'There is no batch {batch}.' },
  'batch.not_owner': { kind: 'permission_denied', text: 'Batch {batch} belongs to {owner}.' },
  'batch.taken': {
    kind: 'already_exists',
    text: '{batch} is there already: {done} of {jobs} completed.',
  },
  'batch.not_done': {
    kind: 'failed_precondition',
    text: 'Some jobs of batch {batch} wait or run.',
  },
  'batch.nothing_to_run': {
    kind: 'failed_precondition',
    text: 'No job of batch {batch} has failed; {what}.',
  },
  'batch.no_build': { kind: 'failed_precondition', text: 'Batch {batch} builds no solver.' },
  'batch.not_retained': {
    kind: 'failed_precondition',
    text: 'Job {job} of batch {batch} ended so long ago that only its record is left.',
  },
  'batch.not_an_export': {
    kind: 'failed_precondition',
    text: '{folder} is not empty, and no export of {batch}.',
  },
  'batch.not_archived': {
    kind: 'unavailable',
    text: 'Results cannot be kept in {folder}: {what}.',
  },
  'batch.build_failed': {
    kind: 'failed_precondition',
    text: 'The build of {batch} failed ({why}); no job was started. Its log is {log}.{said}',
  },
  'config.not_taken': {
    kind: 'invalid_argument',
    text: 'The new configuration was refused; the old one stays in force. {what}',
  },
  'auth.required': { kind: 'unauthenticated', text: 'Not logged in: {what}' },
  'auth.token_invalid': {
    kind: 'unauthenticated',
    text: 'This token is unknown, revoked or expired.',
  },
  'auth.fingerprint_mismatch': {
    kind: 'unauthenticated',
    text: 'The head at {address} shows certificate {actual}, expected {expected}.',
  },
  'auth.not_the_head': {
    kind: 'unauthenticated',
    text: 'The program that listens on {address} is not the head: {what}.',
  },
  'auth.foreign_page': {
    kind: 'permission_denied',
    text: 'The request comes from {origin}, which is not the page of this head.',
  },
  'auth.foreign_host': {
    kind: 'permission_denied',
    text: 'The page was asked for under the name {host}, by which this head is not known.',
  },
  'auth.fresh_login_needed': {
    kind: 'permission_denied',
    text: '{action} from the page needs a login by a link that is at most {limit} old.',
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
    text: 'Jobs as root are refused by nodes that switch users, and no other node could run this one: {nodes}.',
  },
  'job.not_found': { kind: 'not_found', text: 'No job {job}.' },
  'job.is_array': {
    kind: 'invalid_argument',
    text: 'Job {job} is an array; name one task of it, as {job}[0].',
  },
  'job.already_done': {
    kind: 'failed_precondition',
    text: 'Job {job} is already done ({outcome}).',
  },
  'job.not_done': { kind: 'failed_precondition', text: 'Job {job} is not done yet.' },
  'job.nothing_to_retry': {
    kind: 'failed_precondition',
    text: 'All tasks of job {job} completed; there is nothing to run again.',
  },
  'job.not_retained': {
    kind: 'failed_precondition',
    text: 'Job {job} ended so long ago that only its record is left, without its environment.',
  },
  'job.dependency_broken': {
    kind: 'failed_precondition',
    text: 'Job {job} depends on {on}:{condition}, which can no longer be met.',
  },
  'job.not_pending': { kind: 'failed_precondition', text: 'Job {job} is {state}, not pending.' },
  'job.not_held': { kind: 'failed_precondition', text: 'Job {job} is not held.' },
  'job.not_running': { kind: 'failed_precondition', text: 'Job {job} is {state}, not running.' },
  'job.at_site': {
    kind: 'failed_precondition',
    text: 'Job {job} is at site {site}, which {lack} for Weft; nothing was done.',
  },
  'job.not_fed': {
    kind: 'failed_precondition',
    text: 'Job {job} does not read its standard input from a client.',
  },
  'job.not_suspended': { kind: 'failed_precondition', text: 'Job {job} is not suspended.' },
  'job.dependency_unknown': {
    kind: 'invalid_argument',
    text: 'The job depends on {job}, which does not exist.',
  },
  'key.taken': {
    kind: 'already_exists',
    text: 'The key {key} was used for job {job}, which runs another command.',
  },
  'resources.unsatisfiable': {
    kind: 'invalid_argument',
    text: 'The cluster can never hold {request}. {nearest}.',
  },
  'resources.beyond_cluster': {
    kind: 'invalid_argument',
    text: 'The job asks for {asked} {resource}; the whole cluster has {total}.',
  },
  'launch.too_large': {
    kind: 'invalid_argument',
    text: 'Too large to start: {what} ({size}; the limit is {limit}).',
  },
  'notification.not_set_up': {
    kind: 'failed_precondition',
    text: 'This cluster does not send notifications by {kind}.',
  },
  'notification.target_refused': {
    kind: 'permission_denied',
    text: 'This cluster does not notify {target}; it may notify {allowed}.',
  },
  'notification.command_unknown': {
    kind: 'invalid_argument',
    text: 'No notification command {name}; this cluster has {names}.',
  },
  ...CLUSTER_CODES,
  ...POOL_CODES,
  ...STEP_CODES,
  ...PILOT_CODES,
  ...BACKUP_CODES,
  ...LOGIN_CODES,
  'directory.not_shared': {
    kind: 'invalid_argument',
    text: 'No node shares {path}; leave --chdir out to run in a private directory.',
  },
  'directory.not_on_nodes': {
    kind: 'invalid_argument',
    text: 'The job would run in {path}, which {nodes} does not share.',
  },
  'user.not_found': { kind: 'not_found', text: 'No user {user}.' },
  'user.exists': { kind: 'already_exists', text: 'User {user} already exists.' },
  'token.not_found': { kind: 'not_found', text: 'No token {token}.' },
  'protocol.version': {
    kind: 'failed_precondition',
    text: 'The other side speaks protocol {theirs}, this side {ours}; install the same release on both.',
  },
  'rate.exceeded': {
    kind: 'resource_exhausted',
    text: 'You sent more than {limit} requests in a second.',
  },
  'head.behind': { kind: 'failed_precondition', text: 'Refused: {what}.' },
  'head.starting': { kind: 'unavailable', text: 'The head is reading its journal.' },
  'head.stopping': { kind: 'unavailable', text: 'The head is stopping.' },
  'head.failed': { kind: 'unavailable', text: 'The head {what}: {cause}' },
  'head.unreachable': { kind: 'unavailable', text: 'No head answers at {address}: {cause}' },
  'store.unavailable': {
    kind: 'unavailable',
    text: 'The head cannot write to its store ({cause}); nothing was accepted.',
  },
  'trace.unreadable': {
    kind: 'invalid_argument',
    text: 'Cannot read the trace {trace}: {cause}',
  },
  'trace.empty': {
    kind: 'invalid_argument',
    text: 'No job of {trace} can be replayed: {what}.',
  },
  'wait.timeout': {
    kind: 'deadline_exceeded',
    text: 'The wait ended after {limit}; the job is not affected.',
  },
  'event.too_old': {
    kind: 'failed_precondition',
    text: 'Record {after} is no longer in memory; the oldest one is {oldest}.',
  },
  'event.not_yet': {
    kind: 'failed_precondition',
    text: 'There is no record {after} yet; the newest one is {newest}.',
  },
  'log.elsewhere': {
    kind: 'failed_precondition',
    text: 'The output of {task} goes to {path} on its nodes, not to the head.',
  },
  'log.at_site': {
    kind: 'failed_precondition',
    text: 'Job {job} is job {id} of site {site}, given to it by its own user: its output goes to files there, and not to the head.',
  },
  'log.lacking': {
    kind: 'unavailable',
    text: 'Not all of the output of {task} is here: the rest has not come from its node.',
  },
  'log.no_run': { kind: 'not_found', text: 'Task {task} has no run {epoch}: {last}.' },
  'log.removed': {
    kind: 'not_found',
    text: 'The output of job {job} was removed to make room for newer output.',
  },
  'epoch.not_running': {
    kind: 'failed_precondition',
    text: 'Node {node} does not run {epoch}.',
  },
  'outputs.partial': {
    kind: 'failed_precondition',
    text: 'All that is whole was fetched; {count} did not come:\n{what}',
  },
  'outputs.too_large': {
    kind: 'failed_precondition',
    text: 'The task left {size}; the head keeps {limit} of all jobs together (head.archive_max).',
  },
  'outputs.not_found': {
    kind: 'not_found',
    text: 'No files of {task} are kept.',
  },
  'files.lacking': {
    kind: 'failed_precondition',
    text: 'The head lacks {count} of the files that the job names: {files}.',
  },
  'blob.not_found': {
    kind: 'not_found',
    text: 'The head has no file content {hash} that you sent or that a job of yours names.',
  },
  'blob.offset': {
    kind: 'failed_precondition',
    text: 'The head has {offset} bytes of {hash} from you; the piece begins elsewhere.',
  },
  'blob.hash_mismatch': {
    kind: 'invalid_argument',
    text: 'What came as {hash} is {actual}; it was removed. Did the file change while it was sent?',
  },
  'blob.damaged': {
    kind: 'failed_precondition',
    text: 'The content {hash} is damaged on the head; {path} was not written.',
  },
  'blob.quota': {
    kind: 'resource_exhausted',
    text: 'The head has {used} of at most {limit} of files (head.blobs_max); there is no room for {size} more.',
  },
  'blob.user_quota': {
    kind: 'resource_exhausted',
    text: '{user} has {used} of at most {limit} of files on the head; there is no room for {size} more.',
  },
  'blob.disk_full': {
    kind: 'resource_exhausted',
    text: 'The disk of the head is full ({cause}); nothing of the file was kept.',
  },
  'blob.taken_over': {
    kind: 'failed_precondition',
    text: 'Another connection sends {hash} now; this one was ended.',
  },
  'page.not_built': { kind: 'unavailable', text: 'The web page of this head is not built.' },
  'route.unknown': { kind: 'not_found', text: 'No such path: {path}.' },
  'outputs.damaged': {
    kind: 'internal',
    text: 'The list of output files of {task} is wrong: {what}. Nothing was written.',
  },
  'pull.busy': {
    kind: 'failed_precondition',
    text: 'Another weft pull (process {pid}) brings the files of job {job} to {folder}.',
  },
  'internal.error': {
    kind: 'internal',
    text: 'The head has a bug; its log has the details under incident {incident}.',
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
  // Where the sentence ends or goes on after a detail, that brings no full stop of its own.
  const text = CODES[refusal.code].text.replace(
    /\{(\w+)\}([.;,)]?)/g,
    (_, name: string, mark: string) => {
      const detail = refusal.details[name] ?? `{${name}}`;
      return mark === '' ? detail : asClause(detail) + mark;
    },
  );
  return refusal.hint === undefined ? text : `${text} ${refusal.hint}`;
}
