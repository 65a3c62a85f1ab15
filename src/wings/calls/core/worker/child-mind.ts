// What a worker has its child do: which calls it is handed, what it has started, and when it is
// killed. After its death it is known for certain which calls had started.

import {
  CALL_CHILD_START_MS,
  CALL_GRACE_MS,
  CALL_HANDED_MAX,
  CALL_SEAT_IDLE_MS,
} from '../../../../kernel/model/limits.ts';
import { CallTable } from '../call-table.ts';
import type { BareEnd, CallEntry, ChildPort, OwnAsset } from './entries.ts';

/** A child that dies so often before it is ready will never be. */
const STILLBORN_MAX = 3;

export interface ChildOwner {
  readonly ended: (entry: CallEntry, end: BareEnd) => void;
  /**
   * Called when the child never becomes ready. Absent: it is a child for inner calls, which begins
   * with the first of them, ends when there have been none for a while, and refuses them when it
   * cannot begin.
   */
  readonly hopeless?: (detail: string) => void;
}

export class ChildMind {
  readonly #port: ChildPort;
  readonly #owner: ChildOwner;
  /**
   * By run number, which is nearly the order in which they run: one whose bytes came late runs
   * after younger ones. What is recalled by it may be the next to run; then that runs elsewhere.
   */
  readonly #handed = new CallTable<CallEntry>();
  /** Not with the child yet; few. */
  #queue: CallEntry[] = [];
  readonly #loaded = new Set<OwnAsset>();
  #running: CallEntry | null = null;
  #state: 'none' | 'starting' | 'ready' | 'dying' = 'none';
  #startedAt = 0;
  /** The child was killed before it was ready. */
  #isStillborn = false;
  #stillborn = 0;
  #isRetired = false;
  /** Since when it has nothing to do, by ticks. */
  #idleSince = 0;

  constructor(port: ChildPort, owner: ChildOwner) {
    this.#port = port;
    this.#owner = owner;
  }

  get running(): CallEntry | null {
    return this.#running;
  }

  start(now: number): void {
    this.#state = 'starting';
    this.#idleSince = now;
    this.#startedAt = now;
    this.#isStillborn = false;
    this.#port.startChild();
  }

  add(entry: CallEntry, now: number): void {
    this.#queue.push(entry);
    if (this.#state === 'none' && this.#owner.hopeless === undefined) this.start(now);
  }

  /** Hands over what is complete, in order. */
  feed(): void {
    while (this.#state === 'ready' && !this.#isRetired && this.#handed.size < CALL_HANDED_MAX) {
      const at = this.#queue.findIndex(isComplete);
      const entry = this.#queue[at];
      if (entry === undefined) return;
      if (at === 0) this.#queue.shift();
      else this.#queue.splice(at, 1);
      this.#hand(entry);
    }
  }

  #hand(entry: CallEntry): void {
    const { run, call, attempt, asset, shared, payload } = entry;
    if (payload === null) return;
    this.#load(asset);
    for (const one of shared) this.#load(one);
    entry.state = 'handed';
    this.#handed.set(run, entry);
    const hashes = shared.map(({ sha256 }) => sha256);
    this.#port.run({ run, call, attempt, code: asset.sha256, shared: hashes, payload });
  }

  #load(asset: OwnAsset): void {
    if (this.#loaded.has(asset) || asset.bytes === null) return;
    this.#loaded.add(asset);
    this.#port.load(asset.sha256, asset.bytes);
  }

  unload(asset: OwnAsset): void {
    this.#loaded.delete(asset);
  }

  ready(): void {
    this.#stillborn = 0;
    if (this.#state === 'starting') this.#state = 'ready';
  }

  /** A new child takes the place of this one as soon as it has nothing to do. */
  retire(): void {
    this.#isRetired = true;
    this.#retireIfIdle();
  }

  #retireIfIdle(): void {
    if (this.#isRetired && this.#handed.size === 0 && this.#state === 'ready') this.#kill();
  }

  starting(run: number, now: number): void {
    const entry = this.#handed.get(run);
    if (entry === undefined) return;
    entry.state = 'running';
    entry.startedAt = now;
    this.#running = entry;
    if (entry.verdict !== null) this.#abort(entry, now);
  }

  /** The call is over, and the child goes on. */
  ended(run: number, end: BareEnd): void {
    const entry = this.#handed.get(run);
    if (entry === undefined) return;
    this.#handed.delete(run);
    if (this.#running === entry) this.#running = null;
    this.#owner.ended(entry, entry.verdict === null ? end : { kind: entry.verdict });
    this.#retireIfIdle();
  }

  /** The child has not started these, and will not; those that nobody wants back are run later. */
  gaveBack(runs: readonly number[]): CallEntry[] {
    const back: CallEntry[] = [];
    for (const run of runs) {
      const entry = this.#handed.get(run);
      if (entry === undefined || entry.state !== 'handed') continue;
      this.#handed.delete(run);
      back.push(entry);
    }
    this.#retireIfIdle();
    return this.#sortBack(back);
  }

  /** What was to be returned is; the rest waits in front of all others. */
  #sortBack(back: readonly CallEntry[]): CallEntry[] {
    const stay: CallEntry[] = [];
    const returned: CallEntry[] = [];
    for (const entry of back) {
      entry.state = 'queued';
      if (entry.verdict !== null) this.#owner.ended(entry, { kind: entry.verdict });
      else if (entry.isRecalled) returned.push(entry);
      else stay.push(entry);
    }
    this.#queue = [...stay, ...this.#queue];
    return returned;
  }

  /**
   * The child is gone, and all that it had written is heard. What is to be returned, if anything.
   */
  died(detail: string, now: number): CallEntry[] {
    const wasStarting = this.#state === 'starting' || this.#isStillborn;
    const running = this.#running;
    const handed = this.#clear();
    if (running !== null) {
      this.#owner.ended(
        running,
        running.verdict === null ? { kind: 'lost', detail } : { kind: running.verdict },
      );
    }
    const returned = this.#sortBack(handed);
    this.#stillborn = wasStarting ? this.#stillborn + 1 : 0;
    if (this.#stillborn >= STILLBORN_MAX) this.#despair(detail);
    else if (this.#owner.hopeless !== undefined || this.#queue.length > 0) this.start(now);
    return returned;
  }

  /** The child is gone. What it had and had not started. */
  #clear(): CallEntry[] {
    const running = this.#running;
    const handed = this.#handed.values().filter((entry) => entry !== running);
    this.#handed.clear();
    this.#loaded.clear();
    this.#running = null;
    this.#isRetired = false;
    this.#state = 'none';
    return handed;
  }

  /**
   * The child is gone as the worker ends, and all that it had written is heard. Of what ran nothing
   * is told: the cluster says how that came. All the rest is to be returned.
   */
  halt(): CallEntry[] {
    const returned = this.#sortBack(this.#clear());
    return [...returned, ...this.#queue.splice(0)];
  }

  #despair(detail: string): void {
    const words = `The process for calls does not start: ${detail}`;
    if (this.#owner.hopeless !== undefined) return this.#owner.hopeless(words);
    this.#stillborn = 0;
    for (const entry of this.#queue.splice(0)) {
      this.#owner.ended(entry, { kind: 'refused', detail: words });
    }
  }

  /**
   * Asks for the end of a call: at once when it has not started, else by abort and then by force.
   */
  stop(entry: CallEntry, verdict: 'timed_out' | 'cancelled', now: number): void {
    if (entry.state === 'ended' || entry.verdict !== null) return;
    entry.verdict = verdict;
    if (entry.state === 'queued') {
      this.#queue = this.#queue.filter((one) => one !== entry);
      this.#owner.ended(entry, { kind: verdict });
    } else if (entry.state === 'handed') this.#port.takeBack([entry.run]);
    else this.#abort(entry, now);
  }

  #abort(entry: CallEntry, now: number): void {
    entry.killAt = now + CALL_GRACE_MS;
    this.#port.abort(entry.run);
  }

  /** Adds a time in which nothing has run here: neither the call nor its time limit. */
  stoodStill(ms: number, now: number): void {
    if (this.#state === 'starting') this.#startedAt = Math.min(now, this.#startedAt + ms);
    const entry = this.#running;
    if (entry === null) return;
    entry.startedAt = Math.min(now, entry.startedAt + ms);
    entry.killAt += ms;
  }

  tick(now: number): void {
    if (this.#state === 'starting' && now - this.#startedAt >= CALL_CHILD_START_MS) {
      this.#state = 'dying';
      this.#isStillborn = true;
      this.#port.killChild();
      return;
    }
    this.#restIfIdle(now);
    const entry = this.#running;
    if (entry === null || this.#state !== 'ready') return;
    const { timeoutMs, startedAt } = entry;
    if (timeoutMs > 0 && now - startedAt >= timeoutMs) this.stop(entry, 'timed_out', now);
    if (now >= entry.killAt) this.#kill();
  }

  /** One for inner calls. */
  #restIfIdle(now: number): void {
    if (this.#owner.hopeless !== undefined) return;
    if (this.#handed.size > 0 || this.#queue.length > 0) this.#idleSince = now;
    else if (now - this.#idleSince >= CALL_SEAT_IDLE_MS) this.#kill();
  }

  #kill(): void {
    if (this.#state !== 'ready') return;
    this.#state = 'dying';
    this.#port.killChild();
  }

  /** Takes calls that have not started, the last ones first; those with the child are asked for. */
  recall(count: number): CallEntry[] {
    const returned: CallEntry[] = [];
    while (returned.length < count) {
      const entry = this.#queue.pop();
      if (entry === undefined) break;
      returned.push(entry);
    }
    const asked = this.#handed
      .values()
      .reverse()
      .filter(({ state }) => state === 'handed');
    const runs = asked.filter(({ isRecalled }) => !isRecalled).slice(0, count - returned.length);
    for (const entry of runs) entry.isRecalled = true;
    if (runs.length > 0) this.#port.takeBack(runs.map(({ run }) => run));
    return returned;
  }

  /** Takes a call out of the queue; false when it is not there. */
  withdraw(entry: CallEntry): boolean {
    const { length } = this.#queue;
    this.#queue = this.#queue.filter((one) => one !== entry);
    return this.#queue.length < length;
  }
}

function isComplete({ payload, asset, shared }: CallEntry): boolean {
  return payload !== null && asset.bytes !== null && shared.every(({ bytes }) => bytes !== null);
}
