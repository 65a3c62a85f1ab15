// The order of waiting tasks: a sum of parts, each a weight times a factor. Age grows alike for all
// that wait, so the order inside a group never changes, and everybody gets to the front one day.

import type { UserName } from '../../model/ids.ts';
import type { Partition, Qos, Weights } from '../../model/scheduling.ts';

const HOUR_MS = 3_600_000;

/** What a waiting job brings of its own. */
export interface PriorityInput {
  readonly nice: number;
  /** Ms since 1970. */
  readonly submittedAt: number;
}

/** What all jobs of a group share. */
export interface Standing {
  readonly owner: UserName;
  readonly nodeCount: number;
  readonly partition: Partition;
  readonly qos: Qos;
}

/** What the sum is made of besides the job itself. */
export interface PriorityRules {
  readonly weights: Weights;
  /** Fairness of each user 0…1: 1 has used nothing, 0.5 just the share; absent = 1. */
  readonly fairness: ReadonlyMap<UserName, number>;
  readonly nodeCount: number;
}

/** The parts of the sum, in points, for `weft why` and `weft jobs --sort priority`. */
export interface PriorityParts {
  readonly age: number;
  readonly size: number;
  readonly fairShare: number;
  readonly partition: number;
  readonly qos: number;
  readonly nice: number;
}

export function priorityParts(
  waiting: PriorityInput,
  standing: Standing,
  rules: PriorityRules,
  now: number,
): PriorityParts {
  const { weights } = rules;
  return {
    age: (weights.age * Math.max(0, now - waiting.submittedAt)) / HOUR_MS,
    ...groupParts(standing, rules),
    nice: waiting.nice === 0 ? 0 : -weights.nice * waiting.nice,
  };
}

export function sumOf(parts: PriorityParts): number {
  return parts.age + parts.size + parts.fairShare + parts.partition + parts.qos + parts.nice;
}

/** The points that all of a group have. */
export function groupPriority(standing: Standing, rules: PriorityRules): number {
  const { size, fairShare, partition, qos } = groupParts(standing, rules);
  return size + fairShare + partition + qos;
}

/** The points of a job against others of its group: higher is better, and it never changes. */
export function ownPriority({ nice, submittedAt }: PriorityInput, weights: Weights): number {
  return -weights.nice * nice - (weights.age * submittedAt) / HOUR_MS;
}

function groupParts(standing: Standing, { weights, fairness, nodeCount }: PriorityRules) {
  const { owner, partition, qos } = standing;
  return {
    size: weights.size * Math.min(1, standing.nodeCount / Math.max(1, nodeCount)),
    fairShare: weights.fairShare * (fairness.get(owner) ?? 1),
    partition: weights.partition * partition.priority,
    qos: weights.qos * qos.priority,
  };
}
