// A runner in a test: feeds inputs, checks the invariants after each, and that each input given
// twice gives nothing the second time.

import assert from 'node:assert/strict';
import type { EpochId } from '../../../../src/kernel/model/ids.ts';
import type { ExitStatus } from '../../../../src/kernel/model/job.ts';
import type { LaunchStage } from '../../../../src/kernel/model/processes.ts';
import { apply } from '../../../../src/kernel/runner/apply.ts';
import { sumOf } from '../../../../src/kernel/runner/books.ts';
import { check } from '../../../../src/kernel/runner/check.ts';
import { decide } from '../../../../src/kernel/runner/decide.ts';
import type { Epoch, Now } from '../../../../src/kernel/runner/epoch.ts';
import type { RunnerEvent } from '../../../../src/kernel/runner/events.ts';
import type { RunnerInput } from '../../../../src/kernel/runner/inputs.ts';
import { type Effect, outstanding } from '../../../../src/kernel/runner/outstanding.ts';
import { emptyState, type RunnerState } from '../../../../src/kernel/runner/state.ts';
import { fromStored, toStored } from '../../../../src/kernel/runner/stored.ts';

export class World {
  readonly state: RunnerState = emptyState();
  readonly journal: RunnerEvent[] = [];
  /** Both clocks, in ms. */
  time = 1000;
  /** By so much somebody has set the wall clock; null: nobody watches that. */
  setMs: number | null = null;

  /** The kinds of the events that follow, in order. */
  feed(...inputs: RunnerInput[]): string[] {
    return this.events(...inputs).map(({ kind }) => kind);
  }

  events(...inputs: RunnerInput[]): RunnerEvent[] {
    const all: RunnerEvent[] = [];
    for (const input of inputs) {
      const events = decide(this.state, input, this.now());
      apply(this.state, events);
      check(this.state);
      this.#assertStorable();
      assert.deepEqual(
        decide(this.state, input, this.now()),
        [],
        `again: ${JSON.stringify(input)}`,
      );
      all.push(...structuredClone(events));
    }
    this.journal.push(...structuredClone(all));
    return all;
  }

  /** What journals keep of an epoch gives the very same epoch. */
  #assertStorable(): void {
    for (const epoch of this.state.epochs.values()) {
      const written = JSON.stringify(toStored(epoch));
      assert.deepEqual(fromStored(JSON.parse(written)), epoch);
    }
  }

  /** What must be done, as `kind key`. */
  toDo(): string[] {
    return outstanding(this.state).effects.map(({ epochId, kind, key }: Effect) => {
      return `${epochId} ${kind === key ? kind : `${kind} ${key}`}`;
    });
  }

  reports(): string[] {
    return outstanding(this.state).reports.map((report) => {
      if (report.kind === 'node_pause') return report.pause === null ? 'unpaused' : 'paused';
      const { epochId } = report;
      return report.kind === 'task_ended'
        ? `${epochId} ${report.cause}`
        : `${epochId} ${report.kind}`;
    });
  }

  epoch(epochId: EpochId): Epoch {
    const epoch = this.state.epochs.get(epochId);
    assert.ok(epoch, `epoch ${epochId} is here`);
    return epoch;
  }

  now(): Now {
    const { time, setMs } = this;
    if (setMs === null) return { at: time, monotonic: time };
    return { at: time + setMs, monotonic: time, bootedAt: setMs };
  }

  /** The journal, applied from nothing, gives the very same state. */
  assertReplays(): void {
    const again = emptyState();
    apply(again, structuredClone(this.journal));
    assert.deepEqual(sumOf(again), sumOf(this.state));
  }
}

export const PREPARATION = { limits: 'cgroup', group: 'g1', uid: 1000, directory: '/tmp' };

export function prepared(epochId: EpochId): RunnerInput {
  return { kind: 'prepared', epochId, preparation: PREPARATION };
}

export function started(launchId: number): RunnerInput {
  return { kind: 'process', event: { kind: 'started', launchId } };
}

export function exited(launchId: number, code: number, endedAt: number): RunnerInput {
  return ended(launchId, { code }, endedAt);
}

export function killed(launchId: number, signal: number, endedAt: number): RunnerInput {
  return ended(launchId, { signal }, endedAt);
}

function ended(launchId: number, exit: ExitStatus, endedAt: number): RunnerInput {
  const usage = { userUs: 10, systemUs: 1, memoryPeakBytes: 100 };
  const event = { kind: 'exited', launchId, exit, usage, endedAt, leaseOver: false } as const;
  return { kind: 'process', event };
}

export function process(kind: 'stopped' | 'continued' | 'lost', launchId: number): RunnerInput {
  return { kind: 'process', event: { kind, launchId } };
}

export function failed(launchId: number, stage: LaunchStage, errno: number): RunnerInput {
  return { kind: 'process', event: { kind: 'failed', launchId, errno, stage } };
}

type Swept = Extract<RunnerInput, { kind: 'swept' }>;

export function swept(epochId: EpochId, told: Partial<Swept> = {}): RunnerInput {
  const usual = { outOfMemory: false, memoryPeakBytes: null, silent: false, leaves: false };
  return { kind: 'swept', epochId, ...usual, ...told };
}

export function stored(epochId: EpochId, problem?: string): RunnerInput {
  const kept = { files: 2, bytes: 10, leftOut: 1, ...(problem === undefined ? {} : { problem }) };
  return { kind: 'stored', epochId, stored: kept };
}
