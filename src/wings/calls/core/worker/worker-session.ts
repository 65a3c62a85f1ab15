// The mind of a worker: takes calls of the router, has the child run them one at a time, and keeps
// every end until it is acknowledged. A pure machine: messages, what the child says, lost lines and
// ticks go in; messages and orders for the child come out. It goes on while the router is away.

import {
  CALL_HELD_BYTES_MAX,
  CALL_INLINE_BYTES_MAX,
  CALL_SILENT_MS,
  CALL_TOLD_AFTER_MS,
} from '../../../../kernel/model/limits.ts';
import { passesNear, readsNear } from '../incoming.ts';
import { kept } from '../kept.ts';
import type { Bytes, RouterToWorker, WorkerToRouter } from '../messages.ts';
import { letGo, type NearBytes, type NearFiles, type PassedValue } from '../near.ts';
import type { Peer } from '../peer.ts';
import { Children } from './children.ts';
import type { BareEnd, CallEntry, WorkerPort } from './entries.ts';
import { ResultStore } from './result-store.ts';
import { WorkerAssets } from './worker-assets.ts';
import { WorkerIntake } from './worker-intake.ts';
import { WorkerLine } from './worker-line.ts';
import { callRefs, WorkerVoice } from './worker-voice.ts';

export interface WorkerOptions {
  /** Node, task and epoch. */
  readonly worker: string;
  readonly sha256: (bytes: Bytes) => string;
  /** Absent: large values go over the line. */
  readonly near?: NearBytes;
  /** For processes that read large values themselves; absent: they are read here. */
  readonly nearFiles?: NearFiles;
}

/** A tick later than this was held up: even an idle worker ticks every second. */
const STOOD_MS = 3000;
/** A router older than this rule does not tell a worker to leave that can run nothing. */
const QUIT_MS = 5000;

/** Why nothing runs here any more. */
interface Quit {
  readonly code: number;
  readonly detail: string;
  /** The end of the worker does not wait until clients have what ended here. */
  readonly isEnding: boolean;
  /** Since when the router could know: null as long as there is no line to it. */
  toldAt: number | null;
}

export class WorkerSession {
  readonly #options: WorkerOptions;
  readonly #port: WorkerPort;
  readonly #children: Children;
  readonly #assets = new WorkerAssets();
  readonly #shelf = new ResultStore();
  readonly #voice = new WorkerVoice();
  readonly #intake: WorkerIntake;
  #generation: string | null = null;
  #isLeaving = false;
  #quits: Quit | null = null;
  /** Some router may have given it calls. */
  #isKnown = false;
  #now: number;
  #tickAt: number;

  constructor(options: WorkerOptions, port: WorkerPort, now: number) {
    this.#options = options;
    this.#port = port;
    this.#now = now;
    this.#tickAt = now;
    this.#children = new Children(
      port,
      (entry, end) => this.#end(entry, end),
      (detail) => {
        this.#quits = { code: 1, detail, isEnding: false, toldAt: null };
      },
    );
    const { near = null, nearFiles } = options;
    this.#intake = new WorkerIntake({
      shelf: this.#shelf,
      children: this.#children,
      assets: this.#assets,
      voice: this.#voice,
      now: () => this.#now,
      sha256: options.sha256,
      near,
      takeNear: nearFiles === undefined ? readsNear(near) : passesNear(nearFiles),
      refused: (entry, detail) => this.#end(entry, { kind: 'refused', detail }),
    });
    this.#children.own.start(now);
  }

  /** Calls that it has in any state. */
  get calls(): number {
    return this.#shelf.count;
  }

  /** A line to the router is there; an older one counts no more. */
  open(peer: Peer<WorkerToRouter>, now: number) {
    const line = new WorkerLine(peer, this.#intake, now);
    this.#voice.use(line);
    this.#isKnown = true;
    this.#isLeaving = false;
    this.#assets.newLine();
    const held = this.#shelf.newLine();
    const { worker } = this.#options;
    const { over } = this.#shelf;
    peer.send({ kind: 'hello', worker, generation: this.#generation, held, over });
    this.#tellQuit();
    return {
      take: (messages: readonly RouterToWorker[], at: number): void => {
        this.#now = at;
        line.heardAt = at;
        for (const message of messages) if (this.#voice.line === line) this.#take(line, message);
        this.#turn();
      },
      gone: (): void => {
        this.#voice.lost(line);
      },
    };
  }

  /** Every 20 ms or so. */
  tick(now: number): void {
    const stoodMs = now - this.#tickAt;
    this.#tickAt = now;
    this.#now = now;
    if (stoodMs > STOOD_MS) this.#stoodStill(stoodMs);
    this.#children.tick(now);
    for (const entry of this.#children.running) {
      if (now - entry.startedAt >= CALL_TOLD_AFTER_MS) this.#voice.tellStart(entry);
    }
    const { line } = this.#voice;
    if (line !== null && now - line.heardAt >= CALL_SILENT_MS) this.#voice.close();
    const toldAt = this.#quits?.toldAt ?? now;
    if (now - toldAt >= QUIT_MS) this.#exit();
    this.#turn();
  }

  /** Worker and child were stopped, or had no processor: nobody is judged by that time. */
  #stoodStill(ms: number): void {
    this.#children.stoodStill(ms, this.#now);
    const { line } = this.#voice;
    if (line !== null) line.heardAt = this.#now;
  }

  /** Here as below, `depth` says which child: 0 is the worker's own. */
  childReady(now: number, depth = 0): void {
    this.#now = now;
    this.#children.at(depth).ready();
    this.#turn();
  }

  /** Told by the child before it calls the function. */
  childStarting(run: number, now: number, depth = 0): void {
    this.#now = now;
    this.#children.at(depth).starting(run, now);
  }

  /** `ok`: the bytes are the result; else the error that the function threw. */
  childEnded(
    of: { readonly run: number; readonly ok: boolean; readonly bytes: PassedValue },
    now: number,
    depth = 0,
  ): void {
    this.#now = now;
    const { run, ok, bytes } = of;
    const child = this.#children.at(depth);
    const entry = child.running;
    const elapsedMs = entry?.run === run ? Math.max(0, now - entry.startedAt) : 0;
    const isInline = bytes.length <= CALL_INLINE_BYTES_MAX;
    if (!isInline && entry?.run === run && !entry.isDropped) {
      this.#shelf.keepResult(entry, bytes);
    } else letGo(bytes);
    const isHere = isInline && bytes instanceof Uint8Array;
    const payload = isHere ? { inline: kept(bytes) } : { size: bytes.length };
    child.ended(run, { kind: 'result', ok, elapsedMs, payload });
    this.#turn();
  }

  childProgress(run: number, bytes: Bytes, depth = 0): void {
    const entry = this.#children.at(depth).running;
    if (entry?.run === run) this.#voice.tellProgress(entry, bytes);
  }

  childGaveBack(runs: readonly number[], now: number, depth = 0): void {
    this.#now = now;
    this.#return(this.#children.at(depth).gaveBack(runs));
    this.#turn();
  }

  /** The child has ended by itself or was killed: by which signal or code, and its last words. */
  childDied(detail: string, now: number, depth = 0): void {
    this.#now = now;
    const isQuitting = this.#quits !== null;
    this.#return(this.#children.at(depth).died(detail, now));
    if (!isQuitting && this.#quits !== null) {
      if (!this.#isKnown) return this.#exit();
      this.#tellQuit();
      this.#return(this.#children.recallAll());
    }
    this.#turn();
  }

  /**
   * The worker is being ended, and its children are gone: what they had not started goes back. The
   * port's exit follows when the router has heard it, which is waited for no longer than a moment.
   */
  halt(code: number, now: number): void {
    this.#now = now;
    this.#quits = { code, detail: 'The task is ended.', isEnding: true, toldAt: null };
    if (this.#voice.line === null) return this.#exit();
    this.#tellQuit();
    this.#return(this.#children.halt());
  }

  /** Before what is returned, or the router would give it to this worker once more. */
  #tellQuit(): void {
    if (this.#quits === null || this.#voice.line === null) return;
    this.#quits.toldAt = this.#now;
    this.#voice.tellQuit();
  }

  #exit(): void {
    const { code, detail } = this.#quits ?? { code: 0, detail: 'The pool needs fewer workers.' };
    this.#port.exit(code, detail);
  }

  /** A new child takes the place of this one as soon as that has nothing to do. */
  retireChild(depth = 0): void {
    this.#children.at(depth).retire();
  }

  #turn(): void {
    // Results that nobody fetches as fast as they come would fill this process.
    if (this.#shelf.heldBytes < CALL_HELD_BYTES_MAX) this.#children.feed();
    if (this.#isLeaving && (this.#shelf.count === 0 || this.#quits?.isEnding === true)) {
      this.#isLeaving = false;
      this.#exit();
    }
  }

  #take(line: WorkerLine, message: RouterToWorker): void {
    switch (message.kind) {
      case 'call':
      case 'inner':
        if (this.#quits !== null) return this.#voice.tellReturned([message]);
        return this.#intake.take(line, message);
      case 'ack':
        return this.#onAck(line, message);
      case 'asset':
        return this.#intake.takeAsset(message);
      case 'session':
        return this.#onSession(line, message);
      case 'cancel': {
        const entry = line.entryAt(message);
        if (entry !== undefined) this.#stop(entry);
        return;
      }
      case 'ping':
        return line.peer.send({ kind: 'pong' });
      case 'recall':
        return this.#return(this.#children.own.recall(message.count));
      case 'over':
        return this.#onOver(message.id, message.isDetached);
      case 'welcome':
        this.#generation = message.generation;
        return;
      case 'forget':
        for (const asset of this.#assets.forget(message.assets)) this.#children.unload(asset);
        return;
      case 'leave':
        this.#isLeaving = true;
        return;
      case 'closing':
        if (message.isFinal) this.#port.exit(1, message.detail);
        return;
      default:
        if (!line.take(message)) this.#voice.close();
    }
  }

  #stop(entry: CallEntry): void {
    this.#children.of(entry).stop(entry, 'cancelled', this.#now);
  }

  #onSession(
    line: WorkerLine,
    { session: number, id }: Extract<RouterToWorker, { kind: 'session' }>,
  ): void {
    const session = this.#shelf.open(id, number);
    line.sessions.set(number, session);
    for (const entry of session.calls.values()) this.#voice.tellAgain(entry);
  }

  #end(entry: CallEntry, end: BareEnd): void {
    entry.state = 'ended';
    entry.end = end;
    letGo(entry.payload);
    entry.payload = null;
    entry.into = null;
    if (end.kind !== 'result') this.#shelf.freeResult(entry);
    for (const one of [entry.asset, ...entry.shared]) one.users -= 1;
    this.#voice.line?.unwant(entry);
    if (entry.isDropped) return;
    this.#voice.tellEnd(entry);
    if (entry.session.isOver) this.#shelf.forget(entry);
  }

  #return(entries: readonly CallEntry[]): void {
    const calls = callRefs(entries);
    for (const entry of entries) {
      for (const one of [entry.asset, ...entry.shared]) one.users -= 1;
      this.#voice.line?.unwant(entry);
      letGo(entry.payload);
      entry.payload = null;
      this.#shelf.forget(entry);
    }
    this.#voice.tellReturned(calls);
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
        this.#stop(entry);
      }
    }
    this.#shelf.drop(session);
  }
}
