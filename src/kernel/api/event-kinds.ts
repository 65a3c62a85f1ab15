// Kinds of events as the stream shows them: who sees them, and what they mean. A test compares the
// list with what the head records.

/** `job`: the owner of the job and operators; `all`: every user; `admin`: admins. */
export type EventAudience = 'job' | 'all' | 'admin';

export interface EventKind<F extends string = string> {
  readonly audience: EventAudience;
  readonly says: string;
  /** Names of what it shows besides its kind and its job. Nothing else of an event goes out. */
  readonly fields: readonly F[];
}

function of<const F extends string>(
  audience: EventAudience,
  says: string,
  fields: readonly F[],
): EventKind<F> {
  return { audience, says, fields };
}

export const EVENT_KINDS = {
  head_started: of('all', 'The head has started.', ['life']),
  clock_read: of('admin', 'The head runs on a machine that was started anew.', ['reading']),
  clock_stepped: of(
    'all',
    'Somebody has set the clock of the head, by so many milliseconds; below zero: back.',
    ['byMs', 'reading'],
  ),
  head_behind: of('admin', 'A node has heard of records that the head does not have.', ['behind']),
  loss_accepted: of('admin', 'The head goes on without accepted records that are missing.', [
    'loss',
    'life',
  ]),
  identity_known: of('admin', 'The head uses this certificate from here on.', ['fingerprint']),
  half_life_changed: of('admin', 'The half-life of usage has changed.', ['halfLifeMs']),
  billing_changed: of('admin', 'The weights of usage have changed.', ['weights']),
  usage_forgotten: of('admin', 'The usage of some users has faded to zero.', ['users']),
  job_submitted: of(
    'job',
    'A job was accepted; with its name, request and array, without its program and environment.',
    ['owner', 'uid', 'key', 'waitsFor', 'behind', 'name', 'request', 'array'],
  ),
  environment_added: of('admin', 'The variables of a job were kept; they are not shown.', []),
  dependency_met: of('job', 'One of the jobs that it waits for is done as wanted.', ['on']),
  element_met: of('job', 'Tasks of an array may start: those with their index have completed.', [
    'on',
    'indices',
  ]),
  begin_reached: of('job', 'The time before which it may not start has come.', []),
  job_changed: of('job', 'Somebody changed what the waiting job asks for.', [
    'by',
    'name',
    'request',
    'array',
    'walltimeMs',
    'partition',
    'nice',
  ]),
  job_held: of('job', 'Somebody holds the job.', ['by']),
  job_released: of('job', 'Somebody released the job.', ['by']),
  job_reserved: of('job', 'The job runs in a reservation from now on, or in none.', [
    'reservation',
    'by',
  ]),
  task_held: of('job', 'The head holds the task: it took nodes down too often.', [
    'place',
    'because',
  ]),
  task_allocated: of('job', 'The task has nodes; its start was ordered.', [
    'place',
    'epoch',
    'shares',
  ]),
  part_asked: of('job', 'A node is asked how its part of a task ended, which the head has lost.', [
    'epochId',
    'node',
  ]),
  part_started: of('job', 'The task runs on one of its nodes; on the last of them it is running.', [
    'epochId',
    'node',
    'nodeAt',
    'startedAt',
  ]),
  suspend_asked: of('job', 'The task was told to suspend.', ['place', 'by', 'because', 'stopper']),
  resume_asked: of('job', 'The task was told to resume.', ['place', 'by', 'stopper', 'isOthers']),
  part_suspended: of('job', 'The task is suspended on one of its nodes.', [
    'epochId',
    'node',
    'turn',
    'since',
  ]),
  part_resumed: of('job', 'The task has resumed on one of its nodes.', [
    'epochId',
    'node',
    'turn',
    'since',
  ]),
  part_turns_heard: of(
    'job',
    'A node has heard newer words to suspend and resume it than are kept.',
    ['epochId', 'node', 'turn'],
  ),
  end_asked: of(
    'job',
    'The running task is to end: it is cancelled, requeued, or another part of it has failed.',
    ['place', 'why', 'by', 'because', 'closes', 'hastens', 'discards', 'outcome'],
  ),
  signal_asked: of('job', "A signal is to be sent to the task's processes.", [
    'place',
    'signal',
    'by',
  ]),
  part_built: of('job', 'The solver of its batch is built on its node; its own time begins.', [
    'epochId',
    'node',
    'tookMs',
  ]),
  part_storing: of(
    'job',
    'The processes on one of its nodes are gone; their files are being kept.',
    ['epochId', 'node', 'since'],
  ),
  part_ended: of('job', 'The task has ended on one of its nodes.', [
    'epochId',
    'node',
    'endedAt',
    'cause',
    'nodeFault',
    'processes',
    'usage',
    'detail',
    'there',
    'stored',
  ]),
  claim_dropped: of('job', 'An older start of the task is known to be gone from a node.', [
    'epochId',
    'node',
  ]),
  task_requeued: of('job', 'The task is back in the queue.', [
    'place',
    'because',
    'outcome',
    'counts',
    'abandoned',
  ]),
  task_done: of('job', 'The task is done; with its outcome.', ['place', 'outcome', 'abandoned']),
  pending_ended: of('job', 'Tasks that never started are done, together.', ['indices', 'outcome']),
  job_done: of('job', 'The job is done; with its outcome.', ['outcome', 'endedAt']),
  jobs_retired: of('admin', 'Jobs that are done have left memory; the history has them.', [
    'jobIds',
  ]),
  node_enrolled: of('all', 'A node may join.', ['node', 'resources', 'labels']),
  node_connected: of('all', 'The agent of a node is connected.', ['session', 'hello', 'stale']),
  node_disconnected: of('all', 'The agent of a node is not connected any more.', [
    'node',
    'session',
  ]),
  node_unreachable: of('all', 'A node has been silent for the time-out.', ['node']),
  node_clone_seen: of('all', 'A second machine uses the identity of a node.', ['node', 'clone']),
  node_clones_settled: of('all', 'A node is known to be one machine again.', [
    'node',
    'clones',
    'isOther',
    'by',
  ]),
  node_fault_changed: of('all', 'A node cannot take work, or can again.', ['node', 'fault']),
  node_gpus_told: of('all', 'What a node tells of its cards has changed.', ['node', 'gpus']),
  node_paused: of('all', 'A node stands aside for whoever sits at it: its tasks are suspended.', [
    'node',
    'turn',
    'orderHeard',
    'pause',
  ]),
  node_unpaused: of('all', 'The pause of a node is over.', [
    'node',
    'turn',
    'orderHeard',
    'why',
    'since',
  ]),
  node_pause_asked: of('all', 'An operator wants a pause of a node to begin or to end.', [
    'node',
    'order',
    'until',
  ]),
  node_pause_forgotten: of('all', 'A node did not hear in time of a pause that was wanted.', [
    'node',
  ]),
  node_drained: of('all', 'A node gets no new work.', ['node', 'reason', 'by']),
  node_undrained: of('all', 'A node gets work again.', ['node', 'by']),
  node_labelled: of('all', 'The labels of a node changed.', ['node', 'add', 'remove']),
  node_declared_lost: of('all', 'An operator or the fence command declared a silent node lost.', [
    'node',
    'by',
  ]),
  node_resized: of('all', 'Somebody changed what a node offers.', ['node', 'resources', 'by']),
  node_removed: of('all', 'A node was removed.', ['node', 'by']),
  user_set: of('admin', 'A user has another role or other groups.', [
    'user',
    'role',
    'groups',
    'filesBytesMax',
    'by',
  ]),
  user_removed: of('admin', 'A user was removed.', ['user', 'by']),
  token_created: of('admin', 'A token was made; its secret is not shown.', [
    'tokenId',
    'purpose',
    'user',
    'label',
    'expiresAt',
    'by',
  ]),
  token_revoked: of('admin', 'A token was revoked.', ['tokenId', 'by']),
  reservation_created: of('admin', 'A reservation was made.', ['reservation', 'by']),
  reservation_changed: of('admin', 'A reservation was changed.', ['reservation', 'by']),
  reservation_extended: of('admin', 'A recurring reservation has further occurrences.', [
    'id',
    'slots',
    'skipped',
    'placedUntil',
  ]),
  reservation_slot_found: of('admin', 'A skipped occurrence of a reservation has room now.', [
    'id',
    'from',
    'slot',
  ]),
  reservation_slot_begun: of('admin', 'An occurrence of a reservation has begun.', ['id', 'from']),
  reservation_slot_over: of('admin', 'An occurrence of a reservation is over.', ['id', 'from']),
  reservation_ended: of('admin', 'A reservation has ended or was cancelled.', ['id', 'why', 'by']),
  maintenance_planned: of('admin', 'Maintenance was planned.', ['maintenance', 'by']),
  maintenance_moved: of('admin', 'Maintenance has entered another phase.', [
    'id',
    'phase',
    'detail',
  ]),
  maintenance_cancelled: of('admin', 'A maintenance was cancelled.', ['id', 'by']),
  maintenance_stop: of(
    'admin',
    'The site of a node is asked to stop it for maintenance, has stopped it, or given it back.',
    ['id', 'node', 'stop'],
  ),
  maintenance_taken_back: of(
    'admin',
    'A node was put back into service before its maintenance ended.',
    ['id', 'node', 'by'],
  ),
  maintenance_work: of('admin', 'The program of a maintenance made progress on a node.', [
    'id',
    'node',
    'work',
  ]),
  batch_submitted: of('admin', 'A batch was accepted, with all of its jobs.', [
    'batch',
    'owner',
    'origin',
    'after',
    'build',
    'jobs',
  ]),
  batch_resumed: of('admin', 'What did not complete of a batch was submitted again.', [
    'batch',
    'jobs',
  ]),
  build_failed: of('admin', 'The solver of a batch could not be built on a node.', [
    'batch',
    'node',
    'epochId',
  ]),
  failed_builds_forgotten: of('admin', 'Nodes that could not build a solver are tried again.', [
    'batch',
  ]),
  build_renewed: of('admin', 'The solver of a batch is built anew, on every node.', [
    'batch',
    'by',
  ]),
  batch_removed: of('admin', 'A batch that is over was removed.', ['batch', 'by']),
  batches_forgotten: of('admin', 'Batches that ended long ago have left memory.', ['batches']),
  pool_scaled: of('job', 'A pool asks for another number of workers, or may ask for others.', [
    'min',
    'max',
    'idleMs',
    'target',
    'by',
  ]),
  fleet_started: of('admin', 'Pilots were asked for: nodes that a batch system hosts.', [
    'fleet',
    'min',
    'max',
    'idleMs',
  ]),
  fleet_scaled: of('admin', 'A fleet of pilots may have another number of them, and tries again.', [
    'fleet',
    'min',
    'max',
    'idleMs',
    'by',
  ]),
  fleet_stopped: of('admin', 'The pilots of a fleet are to end.', ['fleet', 'by']),
  fleet_paused: of('admin', 'A fleet starts no more pilots, as its batch system kept failing.', [
    'fleet',
    'why',
  ]),
  fleet_removed: of('admin', 'All pilots of a fleet are gone, and no more are wanted.', ['fleet']),
  pilots_asked: of('admin', 'Pilots are to be submitted to their batch system.', [
    'fleet',
    'launch',
    'count',
  ]),
  pilots_submitted: of('admin', 'The batch system has taken them, as this job of its own.', [
    'fleet',
    'launch',
    'site',
  ]),
  pilots_refused: of('admin', 'The batch system has not taken them.', ['fleet', 'launch', 'why']),
  pilot_seen: of('admin', 'A pilot waits or runs there, until when it says.', [
    'fleet',
    'launch',
    'index',
    'isRunning',
    'endsAt',
  ]),
  pilot_up: of('admin', 'The node of a pilot gets work from now on.', ['fleet', 'launch', 'index']),
  pilot_leaving: of('admin', 'A pilot is to end.', ['fleet', 'launch', 'index', 'why']),
  pilot_gone: of('admin', 'A pilot has ended, and its node with it.', [
    'fleet',
    'launch',
    'index',
    'why',
    'failed',
  ]),
  notification_due: of('job', 'The job is done, and somebody is to be told.', ['news', 'targets']),
  notification_told: of('job', 'One of those who are to be told was told.', [
    'subject',
    'delivery',
  ]),
  notification_failed: of('job', 'One of them could not be told; it is tried again.', [
    'subject',
    'delivery',
    'why',
    'nextAt',
  ]),
  notification_given_up: of('job', 'One of them could not be told, and is not tried again.', [
    'subject',
    'delivery',
    'why',
  ]),
  notice_set: of('all', 'Somebody set the message that all users see.', ['notice']),
  notice_cleared: of('all', 'That message was taken away, or its time is over.', ['by']),
  partition_changed: of('admin', 'Somebody set values of a partition that override the config.', [
    'partition',
    'change',
    'by',
  ]),
  partition_reset: of('admin', 'A partition is as the config says again.', ['partition', 'by']),
} as const satisfies Record<string, EventKind>;

export type EventKindName = keyof typeof EVENT_KINDS;

export const EVENT_KIND_NAMES = Object.keys(EVENT_KINDS) as [EventKindName, ...EventKindName[]];
