// Looks every so often whether somebody uses this machine, and has the node stand aside for it.

import type { Pausing } from '../../../kernel/agent/pausing.ts';
import { isSame } from '../../../kernel/base/same.ts';
import type { NodeGpus } from '../../../kernel/model/gpu.ts';
import type { LocalTime } from '../../../kernel/model/hours.ts';
import type { Presence, Wanted, YieldRules } from '../../../kernel/model/presence.ts';
import type { Clock, Timer } from '../../../kernel/ports/clock.ts';
import type { Log } from '../../../kernel/ports/log.ts';
import type { Now } from '../../../kernel/runner/epoch.ts';
import type { OwnerPresence } from '../ports/presence.ts';
import { beginWatch, type Watched, watch } from '../runner/yielding/decide.ts';
import { presenceOf } from '../runner/yielding/words.ts';
import { gpuSign } from './gpu-sign.ts';
import { type SessionReport, SessionReports } from './session-reports.ts';

export interface YieldSettings {
  readonly rules: YieldRules;
  readonly detectors: OwnerPresence;
  /** What a clock on the wall shows here. */
  readonly localTime: (at: number) => LocalTime;
}

export interface YieldWorld {
  readonly clock: Clock;
  readonly log: Log;
  readonly pausing: Pick<Pausing, 'yielding' | 'yield'>;
  /** Null when the site wants none of it. */
  readonly settings: YieldSettings | null;
  /** What the node tells of its cards; null: nothing. */
  readonly gpus: () => NodeGpus | null;
  /** The node stands aside from now on, or no more: the head is told what was seen. */
  readonly onChange: () => void;
}

/** A look costs some ms; whoever sits down waits this long for the machine at most. */
const LOOK_EVERY_MS = 5_000;

export class YieldWatch {
  readonly #world: YieldWorld;
  readonly #wanted: ReadonlySet<Wanted>;
  readonly #sessions = new SessionReports();
  #watched: Watched | null = null;
  #presence: readonly Presence[] | null = null;
  #timer: Timer | null = null;

  constructor(world: YieldWorld) {
    this.#world = world;
    this.#wanted = wantedBy(world.settings?.rules ?? null);
  }

  /** What the last look found; null: nobody looks. */
  get presence(): readonly Presence[] | null {
    return this.#presence;
  }

  /** Whether the input that helpers in sessions see matters here. */
  get wantsInput(): boolean {
    return this.#wanted.has('input');
  }

  start(): void {
    const { settings, pausing } = this.#world;
    if (settings !== null) this.#look(settings);
    // An agent that ran before had rules.
    else if (pausing.yielding !== null) pausing.yield(null);
  }

  stop(): void {
    this.#timer?.cancel();
    this.#world.settings?.detectors.close();
  }

  /** From a helper in the session of a user of this machine. */
  note(report: SessionReport): void {
    this.#sessions.note(report, this.#now());
  }

  #look(settings: YieldSettings): void {
    const { rules, detectors, localTime } = settings;
    const { pausing, clock, log, onChange } = this.#world;
    const now = this.#now();
    const seen = this.#sessions.laidOver(detectors.look(this.#wanted), now);
    const signs = this.#wanted.has('gpus') ? [...seen, gpuSign(this.#world.gpus())] : seen;
    const look = { now, local: localTime(now.at), signs };
    const before = this.#watched ?? beginWatch(pausing.yielding, now);
    this.#watched = watch(before, rules, look);
    this.#presence = presenceOf(rules, look, this.#watched.load);
    const pause = this.#watched.yielding?.pause ?? null;
    if (!isSame(pause, pausing.yielding)) {
      log.info({ pause }, pause === null ? 'nobody uses the machine' : 'the machine is in use');
      pausing.yield(pause);
      onChange();
    }
    this.#timer = clock.after(LOOK_EVERY_MS, () => this.#look(settings));
  }

  #now(): Now {
    const { clock } = this.#world;
    return { at: clock.now(), monotonic: clock.monotonic() };
  }
}

function wantedBy(rules: YieldRules | null): Set<Wanted> {
  const wanted = new Set<Wanted>();
  if (rules === null) return wanted;
  if (rules.idleBelowMs !== null) wanted.add('input');
  if (rules.sessions) wanted.add('sessions');
  if (rules.loadAbove !== null) wanted.add('load');
  if (rules.gpus === true) wanted.add('gpus');
  return wanted;
}
