// Kinds of events as the stream shows them: who sees them, and what they mean. Only what stands in
// such a list goes out; wings have lists of their own.

/** `job`: the owner of the job and operators; `all`: every user; `admin`: admins. */
export type EventAudience = 'job' | 'all' | 'admin';

export interface EventKind<F extends string = string> {
  readonly audience: EventAudience;
  readonly says: string;
  /** Names of what it shows besides its kind and its job. Nothing else of an event goes out. */
  readonly fields: readonly F[];
}

/** By their names. */
export type EventKinds = Readonly<Record<string, EventKind>>;

/** Each word of a text. */
type WordOf<S extends string> = S extends `${infer First} ${infer Rest}` ? First | WordOf<Rest> : S;

/** `fields`: the names, with blanks between them. */
export function shownTo<const S extends string>(
  audience: EventAudience,
  says: string,
  fields: S,
): EventKind<Exclude<WordOf<S>, ''>> {
  const names = fields.split(' ').filter((name) => name !== '');
  return { audience, says, fields: names as Exclude<WordOf<S>, ''>[] };
}

/** Those of the kernel. */
export const EVENT_KINDS = {
  head_started: shownTo('all', 'The head has started.', 'life'),
  store_copied: shownTo(
    'all',
    'The store of the head was copied to where it is: ids that it may have given out are skipped.',
    'jobIdFrom',
  ),
  clock_read: shownTo('admin', 'The head runs on a machine that was started anew.', 'reading'),
  clock_stepped: shownTo(
    'all',
    'Somebody has set the clock of the head, by this many milliseconds; below zero: back.',
    'byMs reading',
  ),
  head_behind: shownTo(
    'admin',
    'A node has heard of records that the head does not have.',
    'behind',
  ),
  loss_accepted: shownTo(
    'admin',
    'The head goes on without accepted records that are missing.',
    'loss life',
  ),
  identity_known: shownTo('admin', 'The head uses this certificate from here on.', 'fingerprint'),
  half_life_changed: shownTo('admin', 'The half-life of usage has changed.', 'halfLifeMs'),
  billing_changed: shownTo('admin', 'The weights of usage have changed.', 'weights'),
  usage_forgotten: shownTo('admin', 'The usage of some users has faded to zero.', 'users'),
  job_submitted: shownTo(
    'job',
    'A job was accepted; with its name, request and array, without its program and environment.',
    'owner uid key waitsFor behind name request array',
  ),
  environment_added: shownTo('admin', 'The variables of a job were kept; they are not shown.', ''),
  dependency_met: shownTo('job', 'One of the jobs that it waits for is done as wanted.', 'on next'),
  element_met: shownTo(
    'job',
    'Tasks of an array may start: those with their index have completed.',
    'on indices',
  ),
  begin_reached: shownTo('job', 'The time before which it may not start has come.', ''),
  job_changed: shownTo(
    'job',
    'Somebody changed what the waiting job asks for.',
    'by name request array walltimeMs partition nice',
  ),
  job_held: shownTo('job', 'Somebody holds the job.', 'by'),
  job_released: shownTo('job', 'Somebody released the job.', 'by'),
  job_reserved: shownTo(
    'job',
    'The job runs in a reservation from now on, or in none.',
    'reservation by',
  ),
  task_held: shownTo(
    'job',
    'The head holds the task: it took nodes down too often.',
    'place because',
  ),
  task_allocated: shownTo(
    'job',
    'The task has nodes; its start was ordered.',
    'place epoch shares next',
  ),
  part_placed: shownTo(
    'job',
    'The task was next on its node, and has a place there now.',
    'epochId node begun',
  ),
  part_recalled: shownTo(
    'job',
    'The task is next on its node no longer, unless it has begun.',
    'epochId node',
  ),
  task_returned: shownTo('job', 'The task was next on a node, and is back in the queue.', 'place'),
  part_asked: shownTo(
    'job',
    'A node is asked how its part of a task ended, which the head has lost.',
    'epochId node',
  ),
  part_started: shownTo(
    'job',
    'The task runs on one of its nodes; on the last of them it is running.',
    'epochId node nodeAt startedAt',
  ),
  suspend_asked: shownTo('job', 'The task was told to suspend.', 'place by because stopper'),
  resume_asked: shownTo('job', 'The task was told to resume.', 'place by stopper isOthers'),
  part_suspended: shownTo(
    'job',
    'The task is suspended on one of its nodes.',
    'epochId node turn since',
  ),
  part_resumed: shownTo(
    'job',
    'The task has resumed on one of its nodes.',
    'epochId node turn since',
  ),
  part_turns_heard: shownTo(
    'job',
    'A node has heard newer words to suspend and resume it than are kept.',
    'epochId node turn',
  ),
  end_asked: shownTo(
    'job',
    'The running task is to end: it is cancelled, requeued, or another part of it has failed.',
    'place why by because closes hastens discards outcome',
  ),
  signal_asked: shownTo(
    'job',
    "A signal is to be sent to the task's processes.",
    'place signal by',
  ),
  part_built: shownTo(
    'job',
    'The solver of its batch is built on its node; its own time begins.',
    'epochId node tookMs',
  ),
  part_storing: shownTo(
    'job',
    'The processes on one of its nodes are gone; their files are being kept.',
    'epochId node since',
  ),
  part_ended: shownTo(
    'job',
    'The task has ended on one of its nodes.',
    'epochId node endedAt cause nodeFault processes usage detail there stored',
  ),
  claim_dropped: shownTo(
    'job',
    'An older start of the task is known to be gone from a node.',
    'epochId node',
  ),
  task_requeued: shownTo(
    'job',
    'The task is back in the queue.',
    'place because outcome counts abandoned',
  ),
  task_done: shownTo('job', 'The task is done; with its outcome.', 'place outcome abandoned'),
  pending_ended: shownTo('job', 'Tasks that never started are done, together.', 'indices outcome'),
  job_done: shownTo('job', 'The job is done; with its outcome.', 'outcome endedAt'),
  jobs_retired: shownTo(
    'admin',
    'Jobs that are done have left memory; the history has them.',
    'jobIds',
  ),
  node_enrolled: shownTo('all', 'A node may join.', 'node resources labels'),
  node_connected: shownTo('all', 'The agent of a node is connected.', 'session hello stale'),
  node_disconnected: shownTo(
    'all',
    'The agent of a node is not connected any more.',
    'node session',
  ),
  node_unreachable: shownTo('all', 'A node has been silent for the time-out.', 'node'),
  node_clone_seen: shownTo('all', 'A second machine uses the identity of a node.', 'node clone'),
  node_clones_settled: shownTo(
    'all',
    'A node is known to be one machine again.',
    'node clones isOther by',
  ),
  node_fault_changed: shownTo('all', 'A node cannot take work, or can again.', 'node fault'),
  node_gpus_told: shownTo('all', 'The report of a node on its cards has changed.', 'node gpus'),
  node_paused: shownTo(
    'all',
    'A node stands aside for whoever sits at it: its tasks are suspended.',
    'node turn orderHeard pause',
  ),
  node_unpaused: shownTo('all', 'The pause of a node is over.', 'node turn orderHeard why since'),
  node_pause_asked: shownTo(
    'all',
    'An operator wants a pause of a node to begin or to end.',
    'node order until',
  ),
  node_pause_forgotten: shownTo(
    'all',
    'A node did not hear in time of a pause that was wanted.',
    'node',
  ),
  node_drained: shownTo('all', 'A node gets no new work.', 'node reason by'),
  node_undrained: shownTo('all', 'A node gets work again.', 'node by'),
  node_labelled: shownTo('all', 'The labels of a node changed.', 'node add remove'),
  node_declared_lost: shownTo(
    'all',
    'An operator or the fence command declared a silent node lost.',
    'node by',
  ),
  node_resized: shownTo('all', 'Somebody changed what a node offers.', 'node resources by'),
  node_removed: shownTo('all', 'A node was removed.', 'node by'),
  user_set: shownTo(
    'admin',
    'A user has another role, other groups or caps.',
    'user role groups filesBytesMax caps by',
  ),
  user_removed: shownTo('admin', 'A user was removed.', 'user by'),
  token_created: shownTo(
    'admin',
    'A token was made; its secret is not shown.',
    'tokenId purpose user label expiresAt by',
  ),
  token_revoked: shownTo('admin', 'A token was revoked.', 'tokenId by'),
  reservation_created: shownTo('admin', 'A reservation was made.', 'reservation by'),
  reservation_changed: shownTo('admin', 'A reservation was changed.', 'reservation by'),
  reservation_extended: shownTo(
    'admin',
    'A recurring reservation has further occurrences.',
    'id slots skipped placedUntil',
  ),
  reservation_slot_found: shownTo(
    'admin',
    'A skipped occurrence of a reservation has room now.',
    'id from slot',
  ),
  reservation_slot_begun: shownTo('admin', 'An occurrence of a reservation has begun.', 'id from'),
  reservation_slot_over: shownTo('admin', 'An occurrence of a reservation is over.', 'id from'),
  reservation_ended: shownTo('admin', 'A reservation has ended or was cancelled.', 'id why by'),
  maintenance_planned: shownTo('admin', 'Maintenance was planned.', 'maintenance by'),
  maintenance_moved: shownTo('admin', 'Maintenance has entered another phase.', 'id phase detail'),
  maintenance_cancelled: shownTo('admin', 'A maintenance was cancelled.', 'id by'),
  maintenance_stop: shownTo(
    'admin',
    'The site of a node is asked to stop it for maintenance, has stopped it, or given it back.',
    'id node stop',
  ),
  maintenance_taken_back: shownTo(
    'admin',
    'A node was put back into service before its maintenance ended.',
    'id node by',
  ),
  maintenance_work: shownTo(
    'admin',
    'The program of a maintenance made progress on a node.',
    'id node work',
  ),
  partition_changed: shownTo(
    'admin',
    'Somebody set values of a partition that override the config.',
    'partition change by',
  ),
  partition_reset: shownTo('admin', 'A partition is as the config says again.', 'partition by'),
} as const satisfies EventKinds;

/** With those of wings. */
export function eventKindsOf(parts: readonly { readonly events?: EventKinds }[]): EventKinds {
  return Object.assign({}, EVENT_KINDS, ...parts.map(({ events }) => events));
}
