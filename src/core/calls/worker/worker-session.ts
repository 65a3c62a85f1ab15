// The mind of a worker: takes calls of the router, has the child run them one at a time, and keeps
// every end until it is acknowledged. A pure machine: messages, what the child says, lost lines and
// ticks go in; messages and orders for the child come out. It goes on while the router is away.

import {
  CALL_HELD_BYTES_MAX,
  CALL_INLINE_BYTES_MAX,
  CALL_SILENT_MS,
  CALL_TOLD_AFTER_MS,
} from '../../model/limits.ts';
import { gather } from '../incoming.ts';
import { kept } from '../kept.ts';
import type { Bytes, CallRef, RouterToWorker, WorkerCall, WorkerToRouter } from '../messages.ts';
import type { Peer } from '../peer.ts';
import { ChildMind } from './child-mind.ts';
import type { BareEnd, Entry, OwnAsset, WorkerPort } from './entries.ts';
import { WorkerAssets } from './worker-assets.ts';
import { type LineOwner, WorkerLine } from './worker-line.ts';
import { WorkerShelf } from './worker-shelf.ts';

export interface WorkerOptions {
  /** Node, task and epoch. */
  readonly worker: string;
  readonly sha256: (bytes: Bytes) => string;
}

/** A tick later than this was held up: even an idle worker ticks every second. */
const STOOD_MS = 3000;

export class WorkerSession {
  readonly #options: WorkerOptions;
  readonly #port: WorkerPort;
  readonly #child: ChildMind;
  readonly #assets = new WorkerAssets();
  readonly #shelf = new WorkerShelf();
  readonly #owner: LineOwner = {
    arrived: (whole) => this.#arrived(whole),
    missed: (key) => this.#refuse(key, 'Its bytes cannot be had any more.'),
  };
  #line: WorkerLine | null = null;
  #generation: string | null = null;
  #nextRun = 1;
  #isLeaving = false;
  #now: number;
  #tickAt: number;

  constructor(options: WorkerOptions, port: WorkerPort, now: number) {
    this.#options = options;
    this.#port = port;
    this.#now = now;
    this.#tickAt = now;
    this.#child = new ChildMind(port, (entry, end) => this.#end(entry, end));
    this.#child.start(now);
  }

  /** Calls that it has in any state. */
  get calls(): number {
    return this.#shelf.count;
  }

  /** A line to the router is there; an older one counts no more. */
  open(peer: Peer<WorkerToRouter>, now: number) {
    this.#line?.peer.close();
    const line = new WorkerLine(peer, this.#owner, now);
    this.#line = line;
    this.#isLeaving = false;
    this.#assets.newLine();
    const held = this.#shelf.newLine();
    const { worker } = this.#options;
    const { over } = this.#shelf;
    peer.send({ kind: 'hello', worker, generation: this.#generation, held, over });
    return {
      take: (messages: readonly RouterToWorker[], at: number): void => {
        this.#now = at;
        line.heardAt = at;
        for (const message of messages) if (this.#line === line) this.#take(line, message);
        this.#turn();
      },
      gone: (): void => {
        if (this.#line === line) this.#line = null;
      },
    };
  }

  /** Every 20 ms or so. */
  tick(now: number): void {
    const stoodMs = now - this.#tickAt;
    this.#tickAt = now;
    this.#now = now;
    if (stoodMs > STOOD_MS) this.#stoodStill(stoodMs);
    this.#child.tick(now);
    const entry = this.#child.running;
    if (entry !== null && now - entry.startedAt >= CALL_TOLD_AFTER_MS) this.#tellStart(entry);
    const line = this.#line;
    if (line !== null && now - line.heardAt >= CALL_SILENT_MS) {
      line.peer.close();
      this.#line = null;
    }
    this.#turn();
  }

  /** Worker and child were stopped, or had no processor: nobody is judged by that time. */
  #stoodStill(ms: number): void {
    this.#child.stoodStill(ms, this.#now);
    if (this.#line !== null) this.#line.heardAt = this.#now;
  }

  childReady(now: number): void {
    this.#now = now;
    this.#child.ready();
    this.#turn();
  }

  /** Told by the child before it calls the function. */
  childStarting(run: number, now: number): void {
    this.#now = now;
    this.#child.starting(run, now);
  }

  /** `ok`: the bytes are the result; else the error that the function threw. */
  childEnded(
    of: { readonly run: number; readonly ok: boolean; readonly bytes: Bytes },
    now: number,
  ): void {
    this.#now = now;
    const { run, ok, bytes } = of;
    const entry = this.#child.running;
    const elapsedMs = entry?.run === run ? Math.max(0, now - entry.startedAt) : 0;
    const isInline = bytes.length <= CALL_INLINE_BYTES_MAX;
    if (!isInline && entry?.run === run && !entry.isDropped) {
      this.#shelf.keepResult(entry, bytes);
    }
    const payload = isInline ? { inline: kept(bytes) } : { size: bytes.length };
    this.#child.ended(run, { kind: 'result', ok, elapsedMs, payload });
    this.#turn();
  }

  childProgress(run: number, bytes: Bytes): void {
    const entry = this.#child.running;
    const ref = entry?.run === run ? this.#refOf(entry) : null;
    if (ref === null || entry === null || entry.verdict !== null) return;
    this.#tellStart(entry);
    this.#line?.peer.send({ kind: 'progress', ...ref, bytes });
  }

  childGaveBack(runs: readonly number[], now: number): void {
    this.#now = now;
    this.#return(this.#child.gaveBack(runs));
    this.#turn();
  }

  /** The child has ended by itself or was killed: by which signal or code, and its last words. */
  childDied(detail: string, now: number): void {
    this.#now = now;
    this.#return(this.#child.died(detail, now));
    this.#turn();
  }

  /** A new child takes the place of this one as soon as that has nothing to do. */
  retireChild(): void {
    this.#child.retire();
  }

  #turn(): void {
    // Results that nobody fetches as fast as they come would fill this process.
    if (this.#shelf.heldBytes < CALL_HELD_BYTES_MAX) this.#child.feed();
    if (this.#isLeaving && this.#shelf.count === 0) {
      this.#isLeaving = false;
      this.#port.exit(0, 'The pool needs fewer workers.');
    }
  }

  #take(line: WorkerLine, message: RouterToWorker): void {
    switch (message.kind) {
      case 'call':
        return this.#onCall(line, message);
      case 'ack':
        return this.#onAck(line, message);
      case 'asset':
        return this.#onAsset(message);
      case 'session':
        return this.#onSession(line, message);
      case 'cancel': {
        const entry = line.entryAt(message);
        if (entry !== undefined) this.#child.stop(entry, 'cancelled', this.#now);
        return;
      }
      case 'ping':
        return line.peer.send({ kind: 'pong' });
      case 'recall':
        return this.#return(this.#child.recall(message.count));
      case 'over':
        return this.#onOver(message.id, message.isDetached);
      case 'welcome':
        this.#generation = message.generation;
        return;
      case 'forget':
        for (const asset of this.#assets.forget(message.assets)) this.#child.unload(asset);
        return;
      case 'leave':
        this.#isLeaving = true;
        return;
      case 'closing':
        if (message.isFinal) this.#port.exit(1, message.detail);
        return;
      default:
        if (line.take(message)) return;
        line.peer.close();
        this.#line = null;
    }
  }

  #onSession(
    line: WorkerLine,
    { session: number, id }: Extract<RouterToWorker, { kind: 'session' }>,
  ): void {
    const session = this.#shelf.open(id, number);
    line.sessions.set(number, session);
    for (const entry of session.calls.values()) this.#tellAgain(line, entry);
  }

  /** After a new line: what ended meanwhile, or may have got lost on the old one. */
  #tellAgain(line: WorkerLine, entry: Entry): void {
    if (entry.state === 'ended') this.#tellEnd(entry);
    entry.isStartTold = false;
    if (entry.payload === null && entry.state === 'queued') line.wantPayload(entry);
  }

  #onCall(line: WorkerLine, message: WorkerCall): void {
    const session = line.sessions.get(message.session);
    const asset = this.#assets.at(message.asset);
    if (session === undefined || asset === undefined) return;
    const shared = message.shared.map((number) => this.#assets.at(number));
    const entry: Entry = {
      ...{ run: this.#nextRun, session, call: message.call, attempt: message.attempt, asset },
      ...{ shared: shared.filter((one) => one !== undefined), timeoutMs: message.timeoutMs },
      ...{ payload: null, into: null, state: 'queued', verdict: null, isRecalled: false },
      ...{ isDropped: false, startedAt: 0, isStartTold: false, killAt: Number.POSITIVE_INFINITY },
      ...{ end: null, result: null },
    };
    this.#nextRun += 1;
    this.#shelf.add(entry);
    for (const one of [asset, ...entry.shared]) one.users += 1;
    this.#child.add(entry);
    const { payload } = message;
    if ('inline' in payload) entry.payload = kept(payload.inline);
    else entry.into = gather(payload.size);
    if (entry.payload === null) line.wantPayload(entry);
    this.#wantAsset(line, asset);
    for (const one of entry.shared) this.#wantAsset(line, one);
  }

  #wantAsset(line: WorkerLine, asset: OwnAsset): void {
    const wish = this.#assets.wish(asset);
    if (wish !== null) line.wantAsset(asset, wish);
  }

  #onAsset(message: Extract<RouterToWorker, { kind: 'asset' }>): void {
    const asset = this.#assets.tell(message);
    // Calls that came over an older line may wait for it.
    if (asset.users > 0 && this.#line !== null) this.#wantAsset(this.#line, asset);
  }

  #arrived(whole: Entry | OwnAsset): void {
    if ('run' in whole) {
      whole.payload = whole.into?.bytes ?? null;
      whole.into = null;
      return;
    }
    const { into, sha256 } = whole;
    if (into !== null && this.#options.sha256(into.bytes) !== sha256) {
      return this.#refuse(whole, 'The bytes of its function or of a shared value are damaged.');
    }
    this.#assets.arrived(whole);
  }

  /** What never comes is not waited for. */
  #refuse(key: Entry | OwnAsset, detail: string): void {
    if ('run' in key) return this.#refuseEntry(key, detail);
    this.#assets.refused(key);
    for (const { calls } of this.#shelf.sessions) {
      for (const entry of calls.values()) {
        const isUser = entry.asset === key || entry.shared.includes(key);
        if (isUser) this.#refuseEntry(entry, detail);
      }
    }
  }

  #refuseEntry(entry: Entry, detail: string): void {
    if (this.#child.withdraw(entry)) this.#end(entry, { kind: 'refused', detail });
  }

  #end(entry: Entry, end: BareEnd): void {
    entry.state = 'ended';
    entry.end = end;
    entry.payload = null;
    entry.into = null;
    if (end.kind !== 'result') this.#shelf.freeResult(entry);
    for (const one of [entry.asset, ...entry.shared]) one.users -= 1;
    this.#line?.unwant(entry);
    if (entry.isDropped) return;
    this.#tellEnd(entry);
    if (entry.session.isOver) this.#shelf.forget(entry);
  }

  #tellEnd(entry: Entry): void {
    const ref = this.#refOf(entry);
    if (ref === null || entry.end === null) return;
    const end = entry.session.isOver ? ({ kind: 'cancelled' } as const) : entry.end;
    this.#line?.peer.send({ ...ref, ...end });
  }

  #tellStart(entry: Entry): void {
    const ref = this.#refOf(entry);
    if (entry.isStartTold || ref === null || this.#line === null) return;
    entry.isStartTold = true;
    this.#line.peer.send({ kind: 'started', ...ref });
  }

  /** How it is named on the present line; null when it cannot be. */
  #refOf({ session, call, attempt, isDropped }: Entry) {
    const { number } = session;
    return number === null || isDropped ? null : { session: number, call, attempt };
  }

  #return(entries: readonly Entry[]): void {
    const calls: CallRef[] = [];
    for (const entry of entries) {
      const ref = this.#refOf(entry);
      if (ref !== null) calls.push({ session: ref.session, call: ref.call });
      for (const one of [entry.asset, ...entry.shared]) one.users -= 1;
      this.#line?.unwant(entry);
      this.#shelf.forget(entry);
    }
    if (calls.length > 0) this.#line?.peer.send({ kind: 'returned', calls });
  }

  #onAck(line: WorkerLine, { session, calls }: Extract<RouterToWorker, { kind: 'ack' }>): void {
    const entries = line.sessions.get(session)?.calls;
    for (const call of calls) {
      const entry = entries?.get(call);
      if (entry?.state === 'ended') this.#shelf.forget(entry);
    }
  }

  #onOver(id: string, isDetached: boolean): void {
    this.#shelf.remember(id);
    const session = this.#shelf.sessionOf(id);
    if (session === undefined) return;
    session.isOver = true;
    for (const entry of session.calls.values()) {
      if (entry.state === 'ended') this.#shelf.forget(entry);
      else if (entry.state !== 'running' || !isDetached) {
        this.#child.stop(entry, 'cancelled', this.#now);
      }
    }
    this.#shelf.drop(session);
  }
}
