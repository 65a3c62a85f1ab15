// What really happened to calls: what was submitted, started and settled; and the rules about that.

import type { CallEnd } from '../../src/wings/calls/core/own-call.ts';
import { Violation } from '../violation.ts';

/** What a call does, as its function reads it in its payload. */
export interface Plan {
  /** `client:call`, unique in the run. */
  readonly id: string;
  readonly does: 'echo' | 'throw' | 'die' | 'hang';
  readonly ms: number;
  /** Bytes of the result beyond the id. */
  readonly size: number;
  /** Bytes of nothing in the payload. */
  readonly padding: number;
}

export interface CallTruth {
  readonly plan: Plan;
  readonly client: string;
  readonly number: number;
  readonly retriesMax: number;
  readonly timeoutMs: number;
  starts: number;
  completed: number;
  end: CallEnd | null;
  isCancelled: boolean;
  /** Nobody waits for it: its client is gone. */
  isOrphan: boolean;
}

export class CallTruths {
  readonly calls = new Map<string, CallTruth>();
  headStarts = 0;
  ended = 0;

  submitted(call: CallTruth): void {
    this.calls.set(call.plan.id, call);
  }

  /** C2: without retries at most one start, with them no more than they allow. */
  started(id: string, attempt: number): void {
    const call = this.#at(id);
    call.starts += 1;
    // A router that starts anew may not know of an attempt that its client had not heard of.
    const most = call.retriesMax === 0 ? 1 : call.retriesMax + 1 + this.headStarts;
    if (call.starts > most) {
      throw new Violation(
        'C2',
        `${id} starts ${call.starts} times with ${call.retriesMax} retries`,
      );
    }
    if (attempt > call.retriesMax + 1) throw new Violation('C2', `${id} is at attempt ${attempt}`);
    if (attempt < 1) throw new Violation('C2', `${id} is at attempt ${attempt}`);
  }

  completed(id: string): void {
    this.#at(id).completed += 1;
  }

  /** C1: once, and with what really came of it. */
  settled(id: string, end: CallEnd): void {
    const call = this.#at(id);
    if (call.end !== null) {
      throw new Violation('C1', `${id} settles as ${endTextOf(end)}, after ${endTextOf(call.end)}`);
    }
    call.end = end;
    this.ended += 1;
    const lie = lieOf(call, end);
    if (lie !== null) throw new Violation('C1', `${id} settles as ${endTextOf(end)}, but ${lie}`);
  }

  #at(id: string): CallTruth {
    const call = this.calls.get(id);
    if (call === undefined) throw new Violation('C1', `nobody submitted ${id}`);
    return call;
  }

  /** Calls that somebody waits for. */
  open(): string[] {
    return [...this.calls.values()]
      .filter(({ end, isOrphan }) => end === null && !isOrphan)
      .map(({ plan }) => plan.id);
  }
}

function endTextOf(end: CallEnd): string {
  return end.kind === 'settled' ? end.why : `a result${end.ok ? '' : ', an error'}`;
}

function lieOf(call: CallTruth, end: CallEnd): string | null {
  const { plan, completed, isCancelled, timeoutMs } = call;
  if (end.kind === 'result') {
    if (completed === 0) return 'it never came to its end';
    if (end.ok !== (plan.does === 'echo')) return `it was to ${plan.does}`;
    const text = new TextDecoder().decode(end.bytes.subarray(0, plan.id.length));
    if (text !== plan.id) return `its bytes are those of ${text}`;
    const size = plan.id.length + plan.size;
    return end.bytes.length === size ? null : `it has ${end.bytes.length} bytes, not ${size}`;
  }
  if (end.why === 'cancelled' && !isCancelled) return 'nobody has cancelled it';
  if (end.why === 'timeout' && timeoutMs === 0) return 'it had no time limit';
  if (end.why === 'refused' || end.why === 'pool_closed') return end.detail;
  return null;
}
