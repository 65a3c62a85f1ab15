// What a worker knows of the calls it has.

import type { CallTable } from '../call-table.ts';
import type { Gathering } from '../incoming.ts';
import type { AssetNumber, Bytes, CallNumber, SessionNumber, WorkerToRouter } from '../messages.ts';
import type { PassedValue } from '../near.ts';

/**
 * `handed`: the child has it, and does it after what it does now. `ended`: its end is kept until
 * the router has it.
 */
export type EntryState = 'queued' | 'handed' | 'running' | 'ended';

export type EntryEnd = Extract<
  WorkerToRouter,
  { kind: 'result' | 'lost' | 'timed_out' | 'cancelled' | 'refused' }
>;
/** An end without what names its call, which depends on the line. */
export type BareEnd = EntryEnd extends infer E
  ? E extends EntryEnd
    ? Omit<E, 'session' | 'call' | 'attempt'>
    : never
  : never;

export interface WorkerSessionEntry {
  readonly id: string;
  /** On the present line; null until the router has told it. */
  number: SessionNumber | null;
  readonly calls: CallTable<CallEntry>;
  isOver: boolean;
}

export interface OwnAsset {
  readonly sha256: string;
  readonly size: number;
  bytes: Bytes | null;
  into: Gathering | null;
  isAsked: boolean;
  /** The asset's number on the present line; null when it was not announced there. */
  number: AssetNumber | null;
  /** Calls here that need it. */
  users: number;
}

export interface CallEntry {
  /** Names it towards the child: every attempt has another. */
  readonly run: number;
  /** Which of the worker's processes runs it: 0 its own, 1 that for calls of what runs there, … */
  readonly depth: number;
  readonly session: WorkerSessionEntry;
  readonly call: CallNumber;
  readonly attempt: number;
  readonly asset: OwnAsset;
  readonly shared: readonly OwnAsset[];
  readonly timeoutMs: number;
  payload: PassedValue | null;
  into: Gathering | null;
  state: EntryState;
  /** Why it is being ended. */
  verdict: 'timed_out' | 'cancelled' | null;
  /** The call is to be given back if it has not started. */
  isRecalled: boolean;
  /** Another attempt has taken its place, or nobody wants its end. */
  isDropped: boolean;
  startedAt: number;
  isStartTold: boolean;
  /** When the child is killed for it; infinite as long as it need not be. */
  killAt: number;
  end: BareEnd | null;
  /** The bytes of a large result. */
  result: PassedValue | null;
}

/** What the child is to run. */
export interface ChildCall {
  readonly run: number;
  readonly call: CallNumber;
  readonly attempt: number;
  /** SHA-256 of the function, and of shared values: loaded before. */
  readonly code: string;
  readonly shared: readonly string[];
  readonly payload: PassedValue;
}

/** A child, as the worker's mind sees it. */
export interface ChildPort {
  /** A new child; `childReady` or `childDied` follows. */
  startChild(): void;
  /** At once, by SIGKILL; `childDied` follows when all it has written is read. */
  killChild(): void;
  /** Code or a shared value, once for each child and before the first call that uses it. */
  load(sha256: string, bytes: Bytes): void;
  run(call: ChildCall): void;
  /** `childGaveBack` follows for those that have not started, as soon as the child listens. */
  takeBack(runs: readonly number[]): void;
  /** The function is told that it should end: its child is killed if it does not. */
  abort(run: number): void;
}

/** The worker's own child, those for inner calls, and the process itself. */
export interface WorkerPort extends ChildPort {
  /** The child for calls of this depth, 1 or more; asked for once. */
  seat(depth: number): ChildPort;
  exit(code: number, detail: string): void;
}
