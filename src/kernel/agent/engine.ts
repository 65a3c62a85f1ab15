// Drives the runner: input → events → journal → effects, in this order. All inputs of one turn of
// the event loop share one write of the journal, and on a busy node those of some turns. Only what
// ends processes does not wait for it.

import { ClocksApart } from '../model/clock.ts';
import type { EpochId } from '../model/ids.ts';
import type { BootClock, Clock, Timer } from '../ports/clock.ts';
import type { Log } from '../ports/log.ts';
import { apply } from '../runner/apply.ts';
import { decide } from '../runner/decide.ts';
import type { Epoch, Now } from '../runner/epoch.ts';
import type { RunnerEvent } from '../runner/events.ts';
import type { RunnerInput } from '../runner/inputs.ts';
import { type Effect, outstanding, outstandingOf } from '../runner/outstanding.ts';
import { pauseDeadline } from '../runner/pause/decide.ts';
import type { RunnerState } from '../runner/state.ts';
import { deadlineOf } from '../runner/time.ts';
import type { Journal } from './journal.ts';

/** What the engine has done to the world. */
export interface EngineHands {
  /** Carries out one effect. `prepare` and `sweep` come at once, the others after the journal. */
  perform(effect: Effect, epoch: Epoch): void;
  /** The journal holds everything decided so far: the time to speak to the head. */
  onSettled(): void;
}

/** A full disk is waited for: nothing may be started that the journal does not know. */
const JOURNAL_RETRY_MS = 1000;
/** An effect other than a start that failed is tried again: what stood in its way may be gone. */
const EFFECT_RETRY_MS = 5000;
/** Fewer events than a quarter of the tasks wait until so long after the last write. */
const GATHER_MS = 5;
const GATHER_PARTS = 4;

export class Engine {
  readonly state: RunnerState;
  readonly #clock: Clock;
  readonly #bootClock: BootClock | null;
  readonly #apart = new ClocksApart();
  #bootedAt: number | null = null;
  readonly #journal: Journal;
  readonly #log: Log;
  readonly #performed = new Map<EpochId, string>();
  #gathering: Timer | null = null;
  /** Monotonic; of the last time that everything was written and done. */
  #settledAt = Number.NEGATIVE_INFINITY;
  #hands: EngineHands = { perform: () => undefined, onSettled: () => undefined };
  #unwritten: RunnerEvent[] = [];
  #effects: Effect[] = [];
  #flushing = false;
  /** Set while the journal cannot be written. */
  #retry: Timer | null = null;
  #durableReports: number;
  #timer: Timer | null = null;
  #timerAt = Number.POSITIVE_INFINITY;
  #stopped = false;

  constructor(of: {
    state: RunnerState;
    clock: Clock;
    bootClock: BootClock | null;
    journal: Journal;
    log: Log;
  }) {
    this.state = of.state;
    this.#durableReports = of.state.nextReport;
    this.#clock = of.clock;
    this.#bootClock = of.bootClock;
    this.#journal = of.journal;
    this.#log = of.log;
  }

  get now(): Now {
    const both = { at: this.#clock.now(), monotonic: this.#clock.monotonic() };
    if (this.#bootClock !== null && this.#apart.haveMoved(both.at, both.monotonic)) {
      this.#bootedAt = Math.round(both.at - this.#bootClock.sinceMs());
    }
    const bootedAt = this.#bootedAt;
    return bootedAt === null ? both : { at: both.at, monotonic: both.monotonic, bootedAt };
  }

  /** Serial after the last report that the journal has; only those may be sent. */
  get nextReport(): number {
    return this.#durableReports;
  }

  /** False: the journal cannot be written at all. */
  get isWriting(): boolean {
    return this.#retry === null;
  }

  /**
   * Once, before the first step. Starts that the journal knows are not repeated: the launcher has
   * heard of them, or the process counts as lost.
   */
  attach(hands: EngineHands): void {
    this.#hands = hands;
    for (const { kind, epochId, key } of outstanding(this.state).effects) {
      if (kind === 'start') this.#performed.set(epochId, key);
    }
  }

  /** Takes up what is outstanding; signals once more, as a lost launcher may not have had them. */
  resume(): void {
    for (const { kind, epochId } of outstanding(this.state).effects) {
      if (kind === 'signal') this.#performed.delete(epochId);
      this.#touch(epochId);
    }
    this.#schedule();
    this.#settleSoon();
  }

  /** Decides and applies at once; writes and acts at the end of the turn. */
  step(input: RunnerInput): void {
    if (this.#stopped) return;
    const events = decide(this.state, input, this.now);
    if (events.length === 0) return;
    apply(this.state, events);
    // A pause is about them all.
    const isPause = events.some(({ kind }) => kind === 'pause_set' || kind === 'yield_set');
    // Some may stand here twice: a second look finds nothing to do.
    const touched: EpochId[] = isPause ? [...this.state.epochs.keys()] : [];
    for (const event of events) {
      this.#unwritten.push(event);
      const epochId = epochOf(event);
      if (epochId !== null && epochId !== touched.at(-1)) touched.push(epochId);
      const signal = signalOf(event);
      if (signal !== null) this.#effects.push(signal);
    }
    for (const epochId of touched) this.#touch(epochId);
    if (isPause) this.#scheduleFor(pauseDeadline(this.state, this.now));
    this.#settleSoon();
  }

  stop(): void {
    this.#stopped = true;
    this.#timer?.cancel();
    this.#gathering?.cancel();
    this.#write();
    this.#retry?.cancel();
  }

  /** Notes what the state now asks for this epoch, unless that was done already. */
  #touch(epochId: EpochId): void {
    const epoch = this.state.epochs.get(epochId);
    if (epoch === undefined) {
      this.#performed.delete(epochId);
      return;
    }
    this.#scheduleFor(deadlineOf(this.state, epoch));
    const effect = outstandingOf(epoch);
    if (effect === null || this.#performed.get(epochId) === effect.key) return;
    this.#performed.set(epochId, effect.key);
    // Neither starts anything; doing them now lets a short task pass in one turn and one write.
    if (effect.kind === 'prepare' || effect.kind === 'sweep') this.#perform(effect, epoch);
    else this.#effects.push(effect);
  }

  /** What goes wrong for one epoch must not end the agent, nor keep the others waiting. */
  #perform(effect: Effect, epoch: Epoch): void {
    try {
      this.#hands.perform(effect, epoch);
    } catch (error) {
      const { kind, epochId, key } = effect;
      this.#log.error({ error, epoch: epochId, effect: kind }, 'a step could not be carried out');
      this.#clock.after(EFFECT_RETRY_MS, () => this.#performAgain(epochId, key));
    }
  }

  #performAgain(epochId: EpochId, key: string): void {
    if (this.#stopped || this.#performed.get(epochId) !== key) return;
    this.#performed.delete(epochId);
    this.#touch(epochId);
    this.#settleSoon();
  }

  /**
   * At the end of the turn. Where much runs, what happens to a small part of it is gathered for
   * some milliseconds: a write to the journal and a message cost little more for twenty tasks than
   * for one.
   */
  #settleSoon(): void {
    if (this.#flushing) return;
    const gathered = this.#unwritten.length + this.#effects.length;
    const restMs = this.#settledAt + GATHER_MS - this.#clock.monotonic();
    if (gathered * GATHER_PARTS < this.state.epochs.size && restMs > 0) {
      this.#gathering ??= this.#clock.after(restMs, () => this.#settle());
      return;
    }
    this.#flushing = true;
    this.#clock.soon(() => this.#settle());
  }

  #settle(): void {
    this.#flushing = false;
    this.#gathering?.cancel();
    this.#gathering = null;
    if (this.#stopped) return;
    this.#settledAt = this.#clock.monotonic();
    while (this.#unwritten.length > 0 || this.#effects.length > 0) {
      const written = this.#write();
      const effects = this.#effects;
      this.#effects = written ? [] : effects.filter(({ ends }) => ends !== true);
      for (const effect of effects) {
        if (!written && effect.ends !== true) continue;
        const epoch = this.state.epochs.get(effect.epochId);
        if (epoch !== undefined) this.#perform(effect, epoch);
      }
      if (!written) return;
    }
    this.#hands.onSettled();
  }

  #write(): boolean {
    try {
      if (this.#unwritten.length > 0) this.#journal.append(this.#unwritten, this.state);
    } catch (error) {
      this.#writeLater(error);
      return false;
    }
    if (this.#retry !== null) this.#log.warn({}, 'the journal can be written again');
    this.#retry?.cancel();
    this.#retry = null;
    this.#unwritten = [];
    this.#durableReports = this.state.nextReport;
    return true;
  }

  /** Said once per outage: the log may be on the same full disk. */
  #writeLater(error: unknown): void {
    if (this.#retry === null) {
      this.#log.error(
        { error },
        'the journal cannot be written; until it can, tasks can only be ended',
      );
    }
    this.#retry?.cancel();
    this.#retry = this.#clock.after(JOURNAL_RETRY_MS, () => this.#settle());
  }

  #schedule(): void {
    let next = pauseDeadline(this.state, this.now) ?? Number.POSITIVE_INFINITY;
    for (const epoch of this.state.epochs.values()) {
      next = Math.min(next, deadlineOf(this.state, epoch) ?? next);
    }
    if (next !== Number.POSITIVE_INFINITY) this.#scheduleFor(next);
  }

  #scheduleFor(deadline: number | null): void {
    if (deadline === null || deadline >= this.#timerAt || this.#stopped) return;
    this.#timer?.cancel();
    this.#timerAt = deadline;
    // At least 1: a deadline reached but for a rounding of fractions must not be asked in a circle.
    const delay = Math.max(1, Math.ceil(deadline - this.#clock.monotonic()));
    this.#timer = this.#clock.after(delay, () => {
      this.#timerAt = Number.POSITIVE_INFINITY;
      this.step({ kind: 'tick' });
      this.#schedule();
    });
  }
}

function epochOf(event: RunnerEvent): EpochId | null {
  if ('epochId' in event) return event.epochId;
  return event.kind === 'epoch_accepted' ? event.order.epochId : null;
}

/** What is sent once, when it is decided; not again after a restart. */
function signalOf(event: RunnerEvent): Effect | null {
  if (event.kind !== 'signal_wanted' && event.kind !== 'warning_due') return null;
  const { epochId, signal, to } = event;
  const key = event.kind === 'warning_due' ? 'warning' : `signal#${event.serial}`;
  const effect = { kind: 'signal', epochId, key, signals: [signal], asked: true } as const;
  return to === undefined ? effect : { ...effect, to };
}
