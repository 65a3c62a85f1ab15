// Kinds of events as the stream shows them: who sees them, and what they mean. A test compares the
// list with what the head records.

/** `job`: the owner of the job and operators; `all`: every user; `admin`: admins. */
export type EventAudience = 'job' | 'all' | 'admin';

export interface EventKind {
  readonly audience: EventAudience;
  readonly says: string;
}

const of = (audience: EventAudience, says: string): EventKind => ({ audience, says });

export const EVENT_KINDS = {
  head_started: of('all', 'The head has started.'),
  loss_accepted: of('admin', 'The head goes on without accepted records that are missing.'),
  identity_known: of('admin', 'The head uses this certificate from here on.'),
  half_life_changed: of('admin', 'The half-life of usage has changed.'),
  billing_changed: of('admin', 'The weights of usage have changed.'),
  usage_forgotten: of('admin', 'The usage of some users has faded to zero.'),
  job_submitted: of(
    'job',
    'A job was accepted; with its name, request and array, without its program and environment.',
  ),
  environment_added: of('admin', 'The variables of a job were kept; they are not shown.'),
  dependency_met: of('job', 'One of the jobs that it waits for is done as wanted.'),
  element_met: of('job', 'Tasks of an array may start: those with their index have completed.'),
  begin_reached: of('job', 'The time before which it may not start has come.'),
  job_changed: of('job', 'Somebody changed what the waiting job asks for.'),
  job_held: of('job', 'Somebody holds the job.'),
  job_released: of('job', 'Somebody released the job.'),
  job_reserved: of('job', 'The job runs in a reservation from now on, or in none.'),
  task_held: of('job', 'The head holds the task: it took nodes down too often.'),
  task_allocated: of('job', 'The task has nodes; its start was ordered.'),
  part_started: of('job', 'The task runs on one of its nodes; on the last of them it is running.'),
  suspend_asked: of('job', 'The task was told to suspend.'),
  resume_asked: of('job', 'The task was told to resume.'),
  part_suspended: of('job', 'The task is suspended on one of its nodes.'),
  part_resumed: of('job', 'The task has resumed on one of its nodes.'),
  end_asked: of(
    'job',
    'The running task is to end: it is cancelled, requeued, or another part of it has failed.',
  ),
  signal_asked: of('job', "A signal is to be sent to the task's processes."),
  part_storing: of(
    'job',
    'The processes on one of its nodes are gone; their files are being kept.',
  ),
  part_ended: of('job', 'The task has ended on one of its nodes.'),
  claim_dropped: of('job', 'An older start of the task is known to be gone from a node.'),
  task_requeued: of('job', 'The task is back in the queue.'),
  task_done: of('job', 'The task is done; with its outcome.'),
  pending_ended: of('job', 'Tasks that never started are done, together.'),
  job_done: of('job', 'The job is done; with its outcome.'),
  jobs_retired: of('admin', 'Jobs that are done have left memory; the history has them.'),
  node_enrolled: of('all', 'A node may join.'),
  node_connected: of('all', 'The agent of a node is connected.'),
  node_disconnected: of('all', 'The agent of a node is not connected any more.'),
  node_unreachable: of('all', 'A node has been silent for the time-out.'),
  node_fault_changed: of('all', 'A node cannot take work, or can again.'),
  node_paused: of('all', 'A node stands aside for whoever sits at it: its tasks are suspended.'),
  node_unpaused: of('all', 'The pause of a node is over.'),
  node_pause_asked: of('all', 'An operator wants a pause of a node to begin or to end.'),
  node_pause_forgotten: of('all', 'A node did not hear in time of a pause that was wanted.'),
  node_drained: of('all', 'A node gets no new work.'),
  node_undrained: of('all', 'A node gets work again.'),
  node_labelled: of('all', 'The labels of a node changed.'),
  node_declared_lost: of('all', 'An operator or the fence command declared a silent node lost.'),
  node_resized: of('all', 'Somebody changed what a node offers.'),
  node_removed: of('all', 'A node was removed.'),
  user_set: of('admin', 'A user has another role or other groups.'),
  user_removed: of('admin', 'A user was removed.'),
  token_created: of('admin', 'A token was made; its secret is not shown.'),
  token_revoked: of('admin', 'A token was revoked.'),
  reservation_created: of('admin', 'A reservation was made.'),
  reservation_changed: of('admin', 'A reservation was changed.'),
  reservation_extended: of('admin', 'A recurring reservation has further occurrences.'),
  reservation_slot_found: of('admin', 'A skipped occurrence of a reservation has room now.'),
  reservation_slot_begun: of('admin', 'An occurrence of a reservation has begun.'),
  reservation_slot_over: of('admin', 'An occurrence of a reservation is over.'),
  reservation_ended: of('admin', 'A reservation has ended or was cancelled.'),
  maintenance_planned: of('admin', 'Maintenance was planned.'),
  maintenance_moved: of('admin', 'Maintenance has entered another phase.'),
  maintenance_cancelled: of('admin', 'A maintenance was cancelled.'),
  maintenance_work: of('admin', 'The program of a maintenance made progress on a node.'),
  batch_submitted: of('admin', 'A batch was accepted, with all of its jobs.'),
  batch_resumed: of('admin', 'What did not complete of a batch was submitted again.'),
  build_failed: of('admin', 'The solver of a batch could not be built on a node.'),
  failed_builds_forgotten: of('admin', 'Nodes that could not build a solver are tried again.'),
  build_renewed: of('admin', 'The solver of a batch is built anew, on every node.'),
  batch_removed: of('admin', 'A batch that is over was removed.'),
  batches_forgotten: of('admin', 'Batches that ended long ago have left memory.'),
  pool_scaled: of('job', 'A pool asks for another number of workers, or may ask for others.'),
  notification_due: of('job', 'The job is done, and somebody is to be told.'),
  notification_told: of('job', 'One of those who are to be told was told.'),
  notification_failed: of('job', 'One of them could not be told; it is tried again.'),
  notification_given_up: of('job', 'One of them could not be told, and is not tried again.'),
  notice_set: of('all', 'Somebody set the message that all users see.'),
  notice_cleared: of('all', 'That message was taken away, or its time is over.'),
  partition_changed: of('admin', 'Somebody set values of a partition that override the config.'),
  partition_reset: of('admin', 'A partition is as the config says again.'),
} as const satisfies Record<string, EventKind>;

export type EventKindName = keyof typeof EVENT_KINDS;

export const EVENT_KIND_NAMES = Object.keys(EVENT_KINDS) as [EventKindName, ...EventKindName[]];
