// From the end of a job to what is to be told of it.

import type { Job } from '../../../kernel/machine/jobs/facts.ts';
import type { State } from '../../../kernel/machine/state.ts';
import type { Step } from '../../../kernel/machine/step.ts';
import type { OutcomeKind } from '../../../kernel/model/job.ts';
import { NOTIFICATIONS_KEPT_MAX, NOTIFICATIONS_WAITING_MAX } from '../../../kernel/model/limits.ts';
import type { News } from '../../../kernel/model/notification.ts';

/** Somebody is to be told; nothing when nobody wants to be. Once for each subject. */
export function tell(step: Step, news: News, targets: readonly string[]): void {
  if (targets.length === 0) return;
  step.emit({ kind: 'notification_due', news, targets });
  const { subject } = news;
  targets.forEach((target, delivery) => {
    const why = whyTooMany(step.state, target);
    if (why !== null) step.emit({ kind: 'notification_given_up', subject, delivery, why });
  });
}

function whyTooMany({ indexes, notifications }: State, target: string): string | null {
  const waiting = indexes.lines.get(target)?.size ?? 0;
  if (waiting > NOTIFICATIONS_WAITING_MAX) {
    return `${NOTIFICATIONS_WAITING_MAX} others already wait for this target`;
  }
  if (notifications.size <= NOTIFICATIONS_KEPT_MAX) return null;
  return `${NOTIFICATIONS_KEPT_MAX} others already wait on this cluster`;
}

/** Tells of a job that is done; of an array once, with how many of its tasks ended in which way. */
export function tellOfJob(step: Step, job: Job): void {
  const { spec, outcome, endedAt } = job;
  // A batch tells as a whole.
  if (spec.notify === undefined || outcome === null || spec.batch !== undefined) return;
  const { kind, exit, detail } = outcome;
  const news: News = {
    subject: { kind: 'job', jobId: job.id },
    name: spec.name,
    owner: job.owner,
    outcome: kind,
    ...(exit === undefined ? {} : { exit }),
    ...(detail === undefined ? {} : { detail }),
    ...(spec.array === null ? {} : { counts: countsOf(job) }),
    submittedAt: job.submittedAt,
    startedAt: job.startedAt,
    endedAt: endedAt ?? step.at,
  };
  tell(step, news, spec.notify);
}

function countsOf({ ended }: Job): Partial<Record<OutcomeKind, number>> {
  return Object.fromEntries([...ended].map(([kind, indices]) => [kind, indices.size]));
}
