// The head's heart: inputs go through the controller, their records are committed in groups, and
// only then are answers given and orders sent. Many steps share one fsync.

import { present } from '../base/assert.ts';
import { err, type Result } from '../base/result.ts';
import { type Decision, decide, type Input } from '../machine/controller.ts';
import type { Command } from '../machine/declared.ts';
import { certainAt } from '../machine/head/clock.ts';
import type { Behind } from '../machine/head/facts.ts';
import type { Birth } from '../machine/head/lives.ts';
import type { Task } from '../machine/jobs/facts.ts';
import { takeOrders } from '../machine/outstanding.ts';
import type { Reply } from '../machine/reply.ts';
import { isCycleDue } from '../machine/schedule.ts';
import type { State } from '../machine/state.ts';
import type { Actor } from '../model/actor.ts';
import { type Refusal, refuse } from '../model/errors.ts';
import type { NodeName } from '../model/ids.ts';
import type { Order } from '../model/orders.ts';
import type { Settings } from '../model/settings.ts';
import type { SiteHang, SiteStart } from '../model/site.ts';
import type { Clock } from '../ports/clock.ts';
import type { HistoryRow } from '../ports/history.ts';
import type { Store } from '../ports/store.ts';
import { behindWords } from './behind.ts';
import { ClockWatch, stepWords } from './clock-watch.ts';
import { CommitPace, emptyGroup, type Group } from './commit-pace.ts';
import { type Committed, cycleInput, type EngineOptions, isPatient } from './engine-options.ts';
import { FirstWord } from './first-word.ts';
import { takeHistory } from './history-rows.ts';
import { encodeEntry } from './journal.ts';
import { lossBehind } from './loss.ts';
import { type Rebuilt, type RecoveryWorld, readStore, recover } from './recovery.ts';
import { RoomWatch } from './room-watch.ts';
import { bringsWork, makesWork, SHORTAGE } from './shortage.ts';
import { Snapshots } from './snapshots.ts';

type Done = (result: Result<Reply, Refusal>) => void;

export class Engine {
  readonly store: Store;
  #settings: Settings;
  readonly #options: EngineOptions;
  readonly #clock: Clock;
  readonly #clockWatch: ClockWatch | null;
  readonly #listeners = new Set<(committed: Committed) => void>();
  #state: State;
  #seq: number;
  #next: Group = emptyGroup();
  #committing = false;
  readonly #pace: CommitPace;
  #mode: 'running' | 'failed' | 'stopped' = 'running';
  #stopping = false;
  #failure = '';
  /** Failed, and `#state` holds what is durable: it can be read. */
  #isReadable = false;
  /** What was said of it last. */
  #behindSaid: Behind | null = null;
  #lives = 0;
  readonly #startedAt: number;
  readonly #room: RoomWatch;
  readonly #firstWord: FirstWord;
  readonly #snapshots: Snapshots;
  #idle: (() => void)[] = [];

  private constructor(
    options: EngineOptions,
    { state, seq, journalBytes }: Pick<Rebuilt, 'state' | 'seq' | 'journalBytes'>,
  ) {
    const { store, clock, log, bootClock } = options;
    this.#options = options;
    this.#clock = clock;
    this.#startedAt = clock.now();
    this.#clockWatch = bootClock === undefined ? null : new ClockWatch(clock, bootClock);
    this.#settings = options.settings;
    this.store = store;
    this.#state = state;
    this.#seq = seq;
    this.#pace = new CommitPace(
      clock,
      () => this.#committing,
      () => this.#flush(),
    );
    this.#snapshots = new Snapshots({ store, log, clock, journalBytes });
    this.#firstWord = new FirstWord(clock, options.firstWordMs ?? 0, () => this.#pace.ask());
    this.#room = new RoomWatch({
      store,
      clock,
      log,
      onRoom: () => this.#pace.ask(),
      isRunning: () => this.#mode === 'running' && !this.#stopping,
    });
  }

  /** Reads what is durable. Rejects with `StoreFailure`. */
  static async start(options: EngineOptions): Promise<Engine> {
    const rebuilt = await readStore(options);
    const engine = new Engine(options, rebuilt);
    engine.#begin(rebuilt);
    return engine;
  }

  #begin({ loss, skipped, room }: Pick<Rebuilt, 'loss' | 'skipped' | 'room'>): void {
    if (loss !== null) {
      const { log } = this.#options;
      log.warn(
        { ...loss.loss },
        'accepted records are lost; the head goes on without them (--accept-loss)',
      );
      this.perform({ ...loss, ...this.#birth() }, () => undefined);
    }
    const clock = this.#clockWatch?.reading;
    const read = clock === undefined ? {} : { clock };
    const copied = skipped === null ? {} : { skipped };
    this.perform({ kind: 'started', ...this.#birth(), ...read, ...copied }, () => undefined);
    if (skipped !== null) {
      const words = 'the store was copied to where it is: what was accepted after that is missing';
      this.#options.log.warn({ nextJobId: skipped.nextJobId }, words);
    }
    this.#noteBehind();
    this.#firstWord.begin(this.#state);
    this.#room.keepTo(room);
  }

  #birth(): { readonly birth?: Birth } {
    const { nonce } = this.#options;
    return nonce === undefined ? {} : { birth: { nonce: nonce(), seq: this.#seq } };
  }

  /** A node has just told of records that are missing here. */
  #noteBehind(): void {
    const { behind } = this.#state;
    if (behind === null || behind === this.#behindSaid) return;
    this.#behindSaid = behind;
    const { log, acceptLoss = false } = this.#options;
    if (!acceptLoss) {
      log.error({ ...behind }, behindWords(behind));
      return;
    }
    const { lives } = this;
    lossBehind(this.#state, this.#options).then(
      (loss) => {
        if (loss === null || this.#closed() !== null || this.lives !== lives) return;
        log.warn({ ...loss.loss }, 'nodes know of records that are lost (--accept-loss)');
        this.perform({ ...loss, ...this.#birth() }, () => undefined);
      },
      (error: unknown) => log.error({ error: String(error) }, 'the loss could not be accepted'),
    );
  }

  /** What decisions are made by now. */
  get settings(): Settings {
    return this.#settings;
  }

  /** From the next step on; what runs is not touched, and what waits is looked at anew. */
  changeSettings(settings: Settings): void {
    this.#settings = settings;
    this.planAnew();
  }

  /** Looks at what waits again: something has changed that is no event. */
  planAnew(): void {
    this.#state.scratch.scheduleDue = true;
    this.#pace.ask();
  }

  /** Read only. May be ahead of the store: await `settled` before telling anybody. */
  get state(): State {
    return this.#state;
  }

  /** Number of the last committed entry. */
  get seq(): number {
    return this.#seq;
  }

  /** Steps that wait for the next commit: no more than before after one that changed nothing. */
  get gathered(): number {
    return this.#next.steps.length;
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

  /** Why nothing can be written, or only ends, mostly a full disk; null while all is well. */
  get obstacle(): string | null {
    return this.failure ?? (this.#room.endsOnly ? SHORTAGE : null);
  }

  /** Words while only what ends work is accepted, as the disk is full; null otherwise. */
  get shortage(): string | null {
    return this.#room.endsOnly ? SHORTAGE : this.behind;
  }

  /** Words while records are missing that nodes know of; null otherwise. */
  get behind(): string | null {
    const { behind } = this.#state;
    return behind === null ? null : behindWords(behind);
  }

  /** Nodes have said what they heard, and this store has all of it. */
  get seemsNewest(): boolean {
    return this.#state.behind === null && !this.#firstWord.isAwaited;
  }

  /** A node has come since this head was started. */
  get isMet(): boolean {
    return this.#firstWord.isMet;
  }

  /** What counts from instants in `state` counts to it: a set clock moves those first. */
  now(): number {
    const at = this.#clock.now();
    const clock = this.#clockWatch?.look(at) ?? null;
    if (clock !== null) this.perform({ kind: 'clock', clock }, () => undefined);
    return at;
  }

  /** When this head was started, by the clock of now. */
  get startedAt(): number {
    return this.#clockWatch?.startedAt ?? this.#startedAt;
  }

  /** Now, but earlier while the clock may have been set forward by mistake. */
  certainNow(): number {
    return certainAt(this.#state, this.now());
  }

  /** Queues of sites whose own schedulers decide; null: nobody knows of any. */
  standings(): ReturnType<NonNullable<EngineOptions['standings']>> | null {
    return this.#options.standings?.() ?? null;
  }

  /** The job of a site that is this start of a task; undefined: none is known. */
  startAtSite(task: Task): SiteStart | undefined {
    return this.#options.startAtSite?.(task);
  }

  /** The site of a task that does not answer; undefined: none is known. */
  siteHang(task: Task): SiteHang | undefined {
    return this.#options.siteHang?.(task);
  }

  execute(command: Command, actor: Actor): Promise<Result<Reply, Refusal>> {
    const firstWord = this.#firstWord.before(this.#state, command);
    return firstWord === null
      ? this.#execute(command, actor)
      : firstWord.then(() => this.#execute(command, actor));
  }

  #execute(command: Command, actor: Actor): Promise<Result<Reply, Refusal>> {
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
      this.#pace.ask();
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
    const at = this.#stepTime();
    const decision = decide(this.#state, input, this.settings, at);
    this.#record(decision, at);
    if (input.kind === 'hello') {
      this.#noteBehind();
      const isCopy = decision.result.ok && decision.result.value.kind === 'node_cloned';
      if (decision.result.ok && !isCopy) this.#firstWord.heard(input.hello.node);
    }
    // Also an answer that changed nothing waits: it may tell of something not yet durable.
    this.#next.done.push(() => done(decision.result));
    this.#next.failed.push((refusal) => done(err(refusal)));
    if (isPatient(input)) this.#pace.askLater();
    else this.#pace.ask();
  }

  /** Sends again whatever the node has not shown the effect of, with the next commit's word. */
  repeatOrders(name: NodeName): void {
    const node = this.#state.nodes.get(name);
    if (node === undefined) return;
    for (const epochId of node.holding.keys())
      this.#state.scratch.touched.push({ node: name, epochId });
    if (node.holding.size > 0) this.#pace.ask();
  }

  /**
   * Called from time to time: a snapshot is saved where nothing else is to be written. True where
   * one begins.
   */
  saveSnapshotInQuiet(): boolean {
    if (this.#mode !== 'running' || this.#stopping || this.#room.endsOnly) return false;
    if (!this.#snapshots.isDueInQuiet()) return false;
    if (this.#committing || this.#next.steps.length > 0) return false;
    this.#snapshots.take(this.#state);
    this.#snapshots.save(this.#seq);
    return true;
  }

  /** Commits what is left, leaves a snapshot and lets the store go. */
  async stop(): Promise<void> {
    // From here on whoever asks is refused at once, not left without an answer.
    this.#stopping = true;
    await this.settled();
    await this.#whenIdle();
    const durable = this.#mode === 'running' && !this.#room.endsOnly;
    this.#mode = 'stopped';
    if (durable) await this.#snapshots.saveLast(this.#seq, this.#state);
    await this.store.close();
  }

  #closed(): Refusal | null {
    if (this.#stopping) return refuse('head.stopping', {});
    if (this.#mode === 'running') return null;
    return refuse('store.unavailable', { cause: this.#failure });
  }

  #refusedInShortage(input: Input): Refusal | null {
    if (this.behind !== null && (makesWork(input) || bringsWork(this.#state, input)))
      return refuse('head.behind', { what: this.behind });
    if (!makesWork(input)) return null;
    if (!this.#room.endsOnly) return null;
    return refuse('store.unavailable', { cause: SHORTAGE });
  }

  /** Now; when the wall clock was set, that is decided before what it was asked for. */
  #stepTime(): number {
    const at = this.#clock.now();
    const clock = this.#clockWatch?.look(at) ?? null;
    if (clock !== null) {
      this.#record(decide(this.#state, { kind: 'clock', clock }, this.settings, at), at);
    }
    return at;
  }

  #record(decision: Decision, at: number): void {
    if (decision.events.length === 0) return;
    for (const event of decision.events) {
      if (event.kind === 'clock_stepped') this.#options.log.warn({ ...event }, stepWords(event));
    }
    this.#next.steps.push({ v: 1, at, events: decision.events });
  }

  /** Closes the group that has gathered and commits it. One commit at a time. */
  #flush(): void {
    if (this.#committing || this.#mode !== 'running') return;
    this.#schedule();
    const group = this.#next;
    this.#next = emptyGroup();
    this.#pace.taken();
    const outgoing = takeOrders(this.#state, this.#settings);
    if (group.steps.length === 0) {
      this.#committed(group, outgoing);
      return;
    }
    const history = takeHistory(this.#state);
    const bytes = encodeEntry(group.steps);
    const isTaken = this.#takeSnapshotIfDue(bytes.length);
    this.#committing = true;
    this.#commit(group, bytes, history).then(
      () => {
        if (isTaken) this.#snapshots.save(this.#seq);
        this.#committed(group, outgoing);
      },
      (error: unknown) => {
        if (isTaken) this.#snapshots.giveUp();
        this.#fail(group, error);
      },
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
    for (const listener of this.#listeners) listener({ seq, at, events, history });
  }

  #isCycleDue(): boolean {
    return !this.#room.endsOnly && !this.#firstWord.isAwaited && isCycleDue(this.#state);
  }

  #schedule(): void {
    if (!this.#isCycleDue()) return;
    const at = this.#stepTime();
    const input = cycleInput(this.#options, this.#state, this.settings);
    this.#record(decide(this.#state, input, this.settings, at), at);
  }

  #takeSnapshotIfDue(bytes: number): boolean {
    // What the reserve gives is for the journal: the snapshot comes with the room.
    if (!this.#snapshots.isDue(bytes) || this.#room.endsOnly) return false;
    this.#snapshots.take(this.#state);
    return true;
  }

  #committed(group: Group, outgoing: Map<NodeName, Order[]>): void {
    this.#committing = false;
    for (const done of group.done) done();
    for (const [node, orders] of outgoing) if (orders.length > 0) this.#options.send(node, orders);
    if (this.#pace.isUrgent || this.#isCycleDue()) this.#pace.ask();
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
    const world: RecoveryWorld = {
      ...this.#options,
      isFailed: () => this.#mode === 'failed',
      onReadable: (rebuilt) => this.#onReadable(rebuilt),
      onBack: (rebuilt) => this.#onBack(rebuilt),
    };
    recover(world, this.#failure);
  }

  #onReadable({ state, seq }: Pick<Rebuilt, 'state' | 'seq'>): void {
    this.#state = state;
    this.#seq = seq;
    this.#lives += 1;
    this.#isReadable = true;
  }

  #onBack(rebuilt: Rebuilt): void {
    this.#state = rebuilt.state;
    this.#seq = rebuilt.seq;
    this.#mode = 'running';
    this.#options.log.info({ seq: rebuilt.seq }, 'the store can write again');
    this.#begin(rebuilt);
  }

  #whenIdle(): Promise<void> {
    if (!this.#committing && this.#next.done.length === 0) return Promise.resolve();
    return new Promise((resolve) => this.#idle.push(resolve));
  }
}
