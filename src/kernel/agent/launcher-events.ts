// What the launcher says of processes, as the Processes port has it.

import type { KnownProcess, LaunchStage, ProcessEvent } from '../model/processes.ts';
import { LEASE_OVER, RECORD_STATE, STAGE } from '../ports/launcher-frames.ts';
import type { LauncherAnswer, LauncherRecord } from './launcher-wire.ts';

const STAGES = new Map(Object.entries(STAGE).map(([name, stage]) => [stage, name as LaunchStage]));

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
  return { kind: 'failed', launchId, errno, stage: STAGES.get(stage) ?? 'exec' };
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
    leaseOver: from.why === LEASE_OVER,
  };
}

/** What a record answers to a start that was sent before; nothing while that is under way. */
export function eventOfRecord(record: LauncherRecord): ProcessEvent | undefined {
  if (record.state === RECORD_STATE.launching) return undefined;
  return endEventOf(record) ?? { kind: 'started', launchId: record.id };
}

function endEventOf(record: LauncherRecord): EndEvent | undefined {
  if (record.state === RECORD_STATE.exited) return exitedEvent(record);
  if (record.state === RECORD_STATE.failed)
    return failedEvent(record.id, record.status, record.stage);
  return undefined;
}

/** One line of the launcher's list. */
export function knownOf(record: LauncherRecord): KnownProcess {
  const end = endEventOf(record);
  const { id: launchId, startedAt } = record;
  if (end) return { launchId, state: 'ended', startedAt, end };
  if (record.state === RECORD_STATE.launching) return { launchId: record.id, state: 'launching' };
  return {
    launchId,
    startedAt,
    state: record.state === RECORD_STATE.stopped ? 'stopped' : 'running',
  };
}
