// Partitions as a noun: what commands have set of them.

import { ok } from '../../base/result.ts';
import { isWhole } from '../../base/whole.ts';
import type { Actor } from '../../model/actor.ts';
import { TIER_MAX } from '../../model/limits.ts';
import { type PartitionChange, partitionOf } from '../../model/scheduling.ts';
import { nameOf, needRole } from '../authority.ts';
import type { Noun } from '../noun.ts';
import type { Answer, Step } from '../step.ts';
import { unknownPartition } from './admission.ts';
import type { ChangePartition, ResetPartition } from './commands.ts';
import type { PartitionOverride } from './facts.ts';

export interface PartitionData {
  readonly partitions: readonly (readonly [string, PartitionOverride])[];
}

export const partitions: Noun<'partitions', PartitionData> = {
  commands: {
    change_partition: decideChangePartition,
    reset_partition: decideResetPartition,
  },
  events: {
    /** Changes add up until the reset. */
    partition_changed(state, { partition, change, by }, at) {
      const before = state.partitions.get(partition)?.change ?? {};
      state.partitions.set(partition, { change: { ...before, ...change }, by, at });
      state.scratch.scheduleDue = true;
    },
    partition_reset(state, { partition }) {
      state.partitions.delete(partition);
      state.scratch.scheduleDue = true;
    },
  },
  facts: () => ({ partitions: new Map() }),
  save: (state) => ({ partitions: [...state.partitions] }),
  load(state, data) {
    for (const [name, override] of data.partitions) state.partitions.set(name, override);
  },
};

function decideChangePartition(step: Step, command: ChangePartition, actor: Actor): Answer {
  const allowed = needRole(actor, 'operator', 'changing partitions');
  if (!allowed.ok) return allowed;
  const { partition, change } = command;
  const { scheduling } = step.settings;
  if (partitionOf(scheduling, partition) === null) {
    const { code, details, hint } = unknownPartition(scheduling, partition);
    return step.refuse(code, details, hint);
  }
  const wrong = wrongOf(change);
  if (wrong !== null) return step.refuse('argument.invalid', { what: wrong });
  step.emit({ kind: 'partition_changed', partition, change, by: nameOf(actor) });
  return ok({ kind: 'done' });
}

function decideResetPartition(step: Step, { partition }: ResetPartition, actor: Actor): Answer {
  const allowed = needRole(actor, 'operator', 'changing partitions');
  if (!allowed.ok) return allowed;
  const { scheduling } = step.settings;
  // What was set of a partition that is gone from the config may still be taken back.
  if (!step.state.partitions.has(partition)) {
    if (partitionOf(scheduling, partition) !== null) {
      return step.refuse('partition.not_changed', { partition });
    }
    const { code, details, hint } = unknownPartition(scheduling, partition);
    return step.refuse(code, details, hint);
  }
  step.emit({ kind: 'partition_reset', partition, by: nameOf(actor) });
  return ok({ kind: 'done' });
}

/** Words among those allowed, the schema of the API sees to; these are the numbers. */
function wrongOf({ tier, priority, ...words }: PartitionChange): string | null {
  if (tier === undefined && priority === undefined && Object.keys(words).length === 0) {
    return 'there is nothing to set; write for example state=down, policy=easy or tier=1';
  }
  if (tier !== undefined && !isWhole(tier, -TIER_MAX, TIER_MAX)) {
    return `a tier is a whole number from -${TIER_MAX} to ${TIER_MAX}, not ${tier}`;
  }
  if (priority !== undefined && !(priority >= 0 && priority <= 1)) {
    return `a partition's priority is a number from 0 to 1, not ${priority}`;
  }
  return null;
}
