// Standard input on its way from a client to the process of its job. Nothing is kept here: a piece
// is passed to the node, and its sender is answered when the process's pipe has taken it.

import type { EpochId, JobId, NodeName } from '../../model/ids.ts';
import { formatEpochId, formatTaskId } from '../../model/ids.ts';
import type { Clock, Timer } from '../../ports/clock.ts';
import type { AgentToHead, HeadToAgent } from '../../wire/messages.ts';

export type FeedPiece = Omit<Extract<HeadToAgent, { kind: 'stdin' }>, 'kind'>;
/** How far a process has been given its input. */
export type Fed = Omit<Extract<AgentToHead, { kind: 'stdin_ack' }>, 'kind'>;

export interface FeedLink {
  /** False: the node is not connected. */
  feed(node: NodeName, piece: FeedPiece): boolean;
  /** Called with each acknowledgement of a node. */
  onFed(heard: (fed: Fed) => void): void;
}

/**
 * A client that feeds a job says something at least every quarter of this; one that is silent for
 * so long is gone, and its job would wait for input for ever.
 */
export const CLIENT_SILENT_MS = 60_000;

export class Feeder {
  readonly #clock: Clock;
  readonly #link: FeedLink;
  readonly #waiting = new Map<EpochId, Set<(fed: Fed) => void>>();
  /** Per job that is fed: runs when its client has been silent for too long. */
  readonly #silence = new Map<JobId, Timer>();

  constructor(clock: Clock, link: FeedLink) {
    this.#clock = clock;
    this.#link = link;
    link.onFed((fed) => {
      for (const heard of [...(this.#waiting.get(fed.epochId) ?? [])]) heard(fed);
    });
  }

  /** How far the process's pipe has taken the input; null when nothing was heard in this time. */
  pass(node: NodeName, piece: FeedPiece, timeoutMs: number, signal: AbortSignal) {
    return new Promise<number | null>((resolve) => {
      const { epochId } = piece;
      const end = piece.offset + piece.bytes.length;
      const finish = (offset: number | null): void => {
        timer.cancel();
        signal.removeEventListener('abort', gone);
        waiting.delete(heard);
        if (waiting.size === 0) this.#waiting.delete(epochId);
        resolve(offset);
      };
      // A late word about an earlier piece says nothing of this one; less is a gap.
      const heard = (fed: Fed): void => {
        const hasAll = fed.offset >= end && (fed.end || !piece.end);
        if (hasAll || fed.offset < piece.offset) finish(fed.offset);
      };
      const gone = (): void => finish(null);
      const timer = this.#clock.after(timeoutMs, gone);
      const waiting = this.#waiting.get(epochId) ?? new Set();
      this.#waiting.set(epochId, waiting.add(heard));
      signal.addEventListener('abort', gone);
      if (signal.aborted || !this.#link.feed(node, piece)) gone();
    });
  }

  /** From now until `heardFrom`, the client of this job is expected to say something. */
  expect(jobId: JobId, whenSilent: () => void): void {
    this.heardFrom(jobId);
    const timer = this.#clock.after(CLIENT_SILENT_MS, () => {
      this.#silence.delete(jobId);
      whenSilent();
    });
    this.#silence.set(jobId, timer);
  }

  /** No client is expected any more, and no job ended. */
  stop(): void {
    for (const jobId of [...this.#silence.keys()]) this.heardFrom(jobId);
  }

  heardFrom(jobId: JobId): void {
    this.#silence.get(jobId)?.cancel();
    this.#silence.delete(jobId);
  }
}

export function epochOf(jobId: JobId, epoch: number): EpochId {
  return formatEpochId(formatTaskId(jobId, null), epoch);
}
