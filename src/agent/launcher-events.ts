// What the launcher says of processes, as the Processes port has it.

import type { KnownProcess, LaunchStage, ProcessEvent } from '../core/model/processes.ts';
import type { LauncherAnswer, LauncherRecord } from './launcher-wire.ts';

const STAGES: readonly LaunchStage[] = [
  'fork',
  'cgroup',
  'limits',
  'credentials',
  'chdir',
  'stdin',
  'stdout',
  'stderr',
  'exec',
  'lease',
];
const STATE_STOPPED = 2;
const STATE_EXITED = 3;
const STATE_FAILED = 4;
const STATE_LAUNCHING = 5;

/** The answer of one kind. */
export type Answer<K extends LauncherAnswer['kind']> = Extract<LauncherAnswer, { kind: K }>;

/** An answer that came by itself. */
export function eventOf(
  answer: Answer<'started' | 'failed' | 'exited' | 'stopped' | 'continued'>,
): ProcessEvent {
  if (answer.kind === 'started') return { kind: 'started', launchId: answer.id };
  if (answer.kind === 'failed') return failedEvent(answer.id, answer.errno, answer.stage);
  if (answer.kind === 'exited') return exitedEvent(answer);
  return { kind: answer.kind, launchId: answer.id };
}

type EndEvent = Extract<ProcessEvent, { kind: 'exited' | 'failed' }>;

function failedEvent(launchId: number, errno: number, stage: number): EndEvent {
  return { kind: 'failed', launchId, errno, stage: STAGES[stage - 1] ?? 'exec' };
}

function exitedEvent(from: Omit<Answer<'exited'>, 'kind'>): EndEvent {
  const signal = from.status & 0x7f;
  return {
    kind: 'exited',
    launchId: from.id,
    exit: signal === 0 ? { code: (from.status >> 8) & 0xff } : { signal },
    usage: {
      userUs: from.userUs,
      systemUs: from.systemUs,
      memoryPeakBytes: from.rssPeakKib * 1024,
    },
    endedAt: from.endedAt,
    leaseOver: from.leaseOver,
  };
}

/** What a record answers to a start that was sent before; nothing while that is under way. */
export function eventOfRecord(record: LauncherRecord): ProcessEvent | undefined {
  if (record.state === STATE_LAUNCHING) return undefined;
  return endOf(record) ?? { kind: 'started', launchId: record.id };
}

function endOf(record: LauncherRecord): EndEvent | undefined {
  if (record.state === STATE_EXITED) return exitedEvent(record);
  if (record.state === STATE_FAILED) return failedEvent(record.id, record.status, record.stage);
  return undefined;
}

/** One line of the launcher's list. */
export function knownOf(record: LauncherRecord): KnownProcess {
  const end = endOf(record);
  if (end) return { launchId: record.id, state: 'ended', end };
  if (record.state === STATE_LAUNCHING) return { launchId: record.id, state: 'launching' };
  return { launchId: record.id, state: record.state === STATE_STOPPED ? 'stopped' : 'running' };
}
