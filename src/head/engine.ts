// The head's heart: inputs go through the controller, their records are committed in groups, and
// only then are answers given and orders sent. Many steps share one fsync.

import { present } from '../core/base/assert.ts';
import { err, type Result } from '../core/base/result.ts';
import { type Decision, decide, type Input } from '../core/controller/controller.ts';
import type { Command, Event } from '../core/controller/declared.ts';
import type { StepRecord } from '../core/controller/events.ts';
import { takeOrders } from '../core/controller/outstanding.ts';
import type { Reply } from '../core/controller/reply.ts';
import { asksForLoads, isCycleDue } from '../core/controller/schedule.ts';
import { exportState } from '../core/controller/snapshot.ts';
import type { State } from '../core/controller/state.ts';
import type { Actor } from '../core/model/actor.ts';
import { type Refusal, refuse } from '../core/model/errors.ts';
import type { NodeName } from '../core/model/ids.ts';
import type { Order } from '../core/model/orders.ts';
import type { Settings } from '../core/model/settings.ts';
import type { Clock, Timer } from '../ports/clock.ts';
import type { HistoryRow } from '../ports/history.ts';
import type { Log } from '../ports/log.ts';
import type { Room, Store } from '../ports/store.ts';
import { encodeRecords } from '../wire/codec.ts';
import { takeHistory } from './history-rows.ts';
import { encodeEntry, rebuild, SnapshotPace } from './journal.ts';
import { type LossInput, lossToAccept } from './loss.ts';
import { makesWork, SHORTAGE } from './shortage.ts';

/** How often a store that failed is tried again. */
const PROBE_MS = 500;
/** How often a full disk is looked at: each time a reserve of some MiB may be written. */
const ROOM_LOOK_MS = 5000;
/**
 * What nobody waits for joins the next commit, this much later at most: a short task's start is
 * mostly written together with its end, which saves one commit in three.
 */
const PATIENCE_MS = 5;

export interface EngineOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  readonly settings: Settings;
  /** Gives orders to the node's live session, if there is one; called after their commit. */
  readonly send: (node: NodeName, orders: readonly Order[]) => void;
  /** Load average per cpu of the connected nodes, as they said last. */
  readonly loads?: (state: State) => ReadonlyMap<NodeName, number>;
  /** `Snapshot.looksMax`; absent: what 20 ms are enough for. */
  readonly looksMax?: number;
  /** The largest job id of which there is a trace outside of the store; asked after a loss only. */
  readonly jobIdSeen?: () => Promise<number>;
  /** The memory is about to be rebuilt from the store: every session must start anew. */
  readonly onReload: () => void;
}

/** What was committed, for those who follow along. */
export interface Committed {
  readonly seq: number;
  readonly at: number;
  readonly events: readonly Event[];
}

type Done = (result: Result<Reply, Refusal>) => void;

/** The steps that go into one journal entry, and what has to happen once it is durable. */
interface Group {
  steps: StepRecord[];
  done: (() => void)[];
  failed: ((refusal: Refusal) => void)[];
}

export class Engine {
  readonly store: Store;
  #settings: Settings;
  readonly #options: EngineOptions;
  readonly #clock: Clock;
  readonly #listeners = new Set<(committed: Committed) => void>();
  #state: State;
  #seq: number;
  #next: Group = emptyGroup();
  #committing = false;
  #flushAsked = false;
  /** Something in `#next` should not wait for more to come. */
  #urgent = false;
  #patience: Timer | null = null;
  #mode: 'running' | 'failed' | 'stopped' = 'running';
  #stopping = false;
  #failure = '';
  /** Failed, and `#state` holds what is durable: it can be read. */
  #isReadable = false;
  #lives = 0;
  #roomLook: Timer | null = null;
  /** The disk is full, and what is written comes from the store's reserve. */
  #endsOnly = false;
  readonly #snapshots = new SnapshotPace();
  #idle: (() => void)[] = [];

  private constructor(options: EngineOptions, state: State, seq: number) {
    this.#options = options;
    this.#clock = options.clock;
    this.#settings = options.settings;
    this.store = options.store;
    this.#state = state;
    this.#seq = seq;
  }

  /** Reads what is durable. Rejects with `StoreFailure`. */
  static async start(options: EngineOptions): Promise<Engine> {
    const recovered = await options.store.recover();
    const { state, seq } = rebuild(recovered);
    const loss = await lossToAccept(recovered, state, options);
    const engine = new Engine(options, state, seq);
    engine.#begin(loss);
    engine.#keepTo(recovered.room);
    return engine;
  }

  #begin(loss: LossInput | null): void {
    if (loss !== null) {
      const { log } = this.#options;
      log.warn(
        { ...loss.loss },
        'accepted records are lost; the head goes on without them (--accept-loss)',
      );
      this.perform(loss, () => undefined);
    }
    this.perform({ kind: 'started' }, () => undefined);
  }

  /** What decisions are made by now. */
  get settings(): Settings {
    return this.#settings;
  }

  /** From the next step on; what runs is not touched, and what waits is looked at anew. */
  changeSettings(settings: Settings): void {
    this.#settings = settings;
    this.#state.scratch.scheduleDue = true;
    this.#askFlush();
  }

  /** Read only. May be ahead of the store: await `settled` before telling anybody. */
  get state(): State {
    return this.#state;
  }

  /** Number of the last committed entry. */
  get seq(): number {
    return this.#seq;
  }

  /** Words about why nothing can be written now; null while all is well. */
  get failure(): string | null {
    return this.#mode === 'failed' ? this.#failure : null;
  }

  /** While the store cannot write: whether `state` shows what is durable. */
  get isReadable(): boolean {
    return this.#mode !== 'failed' || this.#isReadable;
  }

  /** Another number: `state` was thrown away meanwhile, and what was read of it may not be so. */
  get lives(): number {
    return this.#lives;
  }

  /** Words while only what ends work is accepted, as the disk is full; null otherwise. */
  get shortage(): string | null {
    return this.#endsOnly ? SHORTAGE : null;
  }

  now(): number {
    return this.#clock.now();
  }

  execute(command: Command, actor: Actor): Promise<Result<Reply, Refusal>> {
    return new Promise((resolve) => {
      this.perform({ kind: 'command', command, actor }, resolve);
    });
  }

  /** Resolves when everything visible in `state` is durable. */
  settled(): Promise<void> {
    if (!this.#committing && this.#next.steps.length === 0) return Promise.resolve();
    return new Promise((resolve) => {
      this.#next.done.push(resolve);
      this.#next.failed.push(() => resolve());
      this.#askFlush();
    });
  }

  onCommitted(listener: (committed: Committed) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** One step. `done` is called once its record, and all before it, are durable. */
  perform(input: Input, done: Done): void {
    const closed = this.#closed() ?? this.#refusedInShortage(input);
    if (closed !== null) {
      done(err(closed));
      return;
    }
    const at = this.#clock.now();
    const decision = decide(this.#state, input, this.settings, at);
    this.#record(decision, at);
    // Also an answer that changed nothing waits: it may tell of something not yet durable.
    this.#next.done.push(() => done(decision.result));
    this.#next.failed.push((refusal) => done(err(refusal)));
    if (isPatient(input)) this.#askFlushLater();
    else this.#askFlush();
  }

  /** Sends again whatever the node has not shown the effect of, with the next commit's word. */
  repeatOrders(name: NodeName): void {
    const node = this.#state.nodes.get(name);
    if (node === undefined) return;
    for (const epochId of node.holding.keys())
      this.#state.scratch.touched.push({ node: name, epochId });
    if (node.holding.size > 0) this.#askFlush();
  }

  /** Commits what is left, leaves a snapshot and lets the store go. */
  async stop(): Promise<void> {
    // From here on whoever asks is refused at once, not left without an answer.
    this.#stopping = true;
    await this.settled();
    await this.#whenIdle();
    const durable = this.#mode === 'running' && !this.#endsOnly;
    this.#mode = 'stopped';
    if (durable) {
      const bytes = encodeRecords(exportState(this.#state));
      await this.store.saveSnapshot(this.#seq, bytes).catch((error: unknown) => {
        this.#options.log.warn(
          { error: String(error) },
          'no snapshot was saved at the stop; the next start reads more of the journal',
        );
      });
    }
    await this.store.close();
  }

  #closed(): Refusal | null {
    if (this.#stopping) return refuse('head.stopping', {});
    if (this.#mode === 'running') return null;
    return refuse('store.unavailable', { cause: this.#failure });
  }

  #refusedInShortage(input: Input): Refusal | null {
    if (!this.#endsOnly || !makesWork(input)) return null;
    return refuse('store.unavailable', { cause: SHORTAGE });
  }

  #record(decision: Decision, at: number): void {
    if (decision.events.length === 0) return;
    this.#next.steps.push({ v: 1, at, events: decision.events });
  }

  #askFlushLater(): void {
    this.#patience ??= this.#clock.after(PATIENCE_MS, () => this.#askFlush());
  }

  #askFlush(): void {
    this.#urgent = true;
    if (this.#flushAsked || this.#committing) return;
    this.#flushAsked = true;
    this.#clock.soon(() => {
      this.#flushAsked = false;
      this.#flush();
    });
  }

  /** Closes the group that has gathered and commits it. One commit at a time. */
  #flush(): void {
    if (this.#committing || this.#mode !== 'running') return;
    this.#schedule();
    const group = this.#next;
    this.#next = emptyGroup();
    this.#urgent = false;
    this.#patience?.cancel();
    this.#patience = null;
    const outgoing = takeOrders(this.#state, this.#settings);
    if (group.steps.length === 0) {
      this.#committed(group, outgoing);
      return;
    }
    const history = takeHistory(this.#state);
    const bytes = encodeEntry(group.steps);
    const snapshot = this.#snapshotIfDue(bytes.length);
    this.#committing = true;
    this.#commit(group, bytes, history).then(
      () => {
        if (snapshot !== null) this.#saveSnapshot(snapshot);
        this.#committed(group, outgoing);
      },
      (error: unknown) => this.#fail(group, error),
    );
  }

  async #commit(group: Group, bytes: Uint8Array, history: readonly HistoryRow[]): Promise<void> {
    const seq = this.#seq + 1;
    const { nextJobId, nextReservationId, epochMax } = this.#state;
    const given = { nextJobId, nextReservationId, epochMax };
    await this.store.append({ seq, bytes, history, given });
    this.#seq = seq;
    const at = group.steps.at(-1)?.at ?? 0;
    const events = group.steps.flatMap((step) => step.events);
    for (const listener of this.#listeners) listener({ seq, at, events });
  }

  /** Beside the commits that follow: without it a restart only reads more. */
  #saveSnapshot(bytes: Uint8Array): void {
    this.store.saveSnapshot(this.#seq, bytes).catch((error: unknown) => {
      this.#options.log.warn(
        { error: String(error) },
        'no snapshot could be saved; the head tries again later',
      );
    });
  }

  #isCycleDue(): boolean {
    return !this.#endsOnly && isCycleDue(this.#state);
  }

  #schedule(): void {
    if (!this.#isCycleDue()) return;
    const at = this.#clock.now();
    const { loads, looksMax } = this.#options;
    const isAsked = loads !== undefined && asksForLoads(this.#state, this.settings);
    const input: Input = {
      kind: 'schedule',
      ...(isAsked ? { loads: loads(this.#state) } : {}),
      ...(looksMax === undefined ? {} : { looksMax }),
    };
    this.#record(decide(this.#state, input, this.settings, at), at);
  }

  #snapshotIfDue(bytes: number): Uint8Array | null {
    // What the reserve gives is for the journal: the snapshot comes with the room.
    if (!this.#snapshots.isDue(bytes) || this.#endsOnly) return null;
    const snapshot = encodeRecords(exportState(this.#state));
    this.#snapshots.made(snapshot.length);
    return snapshot;
  }

  #committed(group: Group, outgoing: Map<NodeName, Order[]>): void {
    this.#committing = false;
    for (const done of group.done) done();
    for (const [node, orders] of outgoing) if (orders.length > 0) this.#options.send(node, orders);
    if (this.#urgent || this.#isCycleDue()) this.#askFlush();
    else if (this.#next.done.length === 0) for (const idle of this.#idle.splice(0)) idle();
  }

  /** Nothing of the group is durable: what memory holds is no longer true, so it is built again. */
  #fail(group: Group, error: unknown): void {
    this.#committing = false;
    this.#mode = 'failed';
    this.#failure = error instanceof Error ? error.message : String(error);
    this.#options.log.error(
      { error: this.#failure },
      'the store cannot write; nothing is accepted',
    );
    const refusal = present(this.#closed(), 'the reason');
    const gathered = this.#next;
    this.#next = emptyGroup();
    this.#options.onReload();
    for (const failed of [...group.failed, ...gathered.failed]) failed(refusal);
    for (const idle of this.#idle.splice(0)) idle();
    this.#isReadable = false;
    this.#lives += 1;
    this.#readAgain().catch((error: unknown) => {
      this.#options.log.warn({ error: String(error) }, 'the store cannot be read either');
    });
    this.#retryLater();
  }

  /** So that jobs can be looked at until something can be written again. */
  async #readAgain(): Promise<void> {
    const { state, seq } = rebuild(await this.store.recover());
    if (this.#mode !== 'failed') return;
    this.#state = state;
    this.#seq = seq;
    this.#lives += 1;
    this.#isReadable = true;
  }

  #retryLater(): void {
    this.#clock.after(PROBE_MS, () => {
      if (this.#mode !== 'failed') return;
      this.#retry().catch((error: unknown) => {
        this.#options.log.warn({ error: String(error) }, 'the store still cannot write');
        this.#retryLater();
      });
    });
  }

  async #retry(): Promise<void> {
    const room = await this.store.probe();
    if (room === 'none') throw new Error(this.#failure);
    const recovered = await this.store.recover();
    const { state, seq } = rebuild(recovered);
    const loss = await lossToAccept(recovered, state, this.#options);
    if (this.#mode !== 'failed') return; // Stopped in the meantime.
    this.#state = state;
    this.#seq = seq;
    this.#mode = 'running';
    this.#options.log.info({ seq }, 'the store can write again');
    this.#begin(loss);
    this.#keepTo(room);
  }

  #keepTo(room: Room): void {
    const { log } = this.#options;
    if (room === 'ends_only' && !this.#endsOnly) log.error({}, SHORTAGE);
    if (room === 'enough' && this.#endsOnly)
      log.info({}, 'the disk has room again; new work is accepted');
    this.#endsOnly = room === 'ends_only';
    this.#roomLook?.cancel();
    this.#roomLook = null;
    if (this.#endsOnly) {
      this.#roomLook = this.#clock.after(ROOM_LOOK_MS, () => this.#lookForRoom());
      return;
    }
    this.#askFlush();
  }

  #lookForRoom(): void {
    if (this.#mode !== 'running' || this.#stopping) return;
    this.store.probe().then(
      (room) => {
        // A store that cannot write any more says so at the next commit.
        if (this.#mode === 'running') this.#keepTo(room === 'enough' ? 'enough' : 'ends_only');
      },
      (error: unknown) => {
        this.#options.log.warn(
          { error: String(error) },
          'the free space of the disk cannot be read',
        );
        this.#keepTo('ends_only');
      },
    );
  }

  #whenIdle(): Promise<void> {
    if (!this.#committing && this.#next.done.length === 0) return Promise.resolve();
    return new Promise((resolve) => this.#idle.push(resolve));
  }
}

/** Nobody's answer depends on it, and no order but the suspension of what was to be suspended. */
function isPatient(input: Input): boolean {
  return input.kind === 'report' && input.report.kind === 'task_started';
}

function emptyGroup(): Group {
  return { steps: [], done: [], failed: [] };
}
