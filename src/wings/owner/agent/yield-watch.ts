// Looks every so often whether somebody uses this machine, and has the node stand aside for it.

import type { Pausing } from '../../../kernel/agent/pausing.ts';
import { isSame } from '../../../kernel/base/same.ts';
import { cardTitle, type NodeGpus } from '../../../kernel/model/gpu.ts';
import type { LocalTime } from '../../../kernel/model/hours.ts';
import type { Presence, Sign, Wanted, YieldRules } from '../../../kernel/model/presence.ts';
import type { Clock, Timer } from '../../../kernel/ports/clock.ts';
import type { Log } from '../../../kernel/ports/log.ts';
import type { Now } from '../../../kernel/runner/epoch.ts';
import type { OwnerPresence } from '../ports/presence.ts';
import { beginWatch, type Watched, watch } from '../runner/yielding/decide.ts';
import { presenceOf } from '../runner/yielding/words.ts';
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
  /** The rules of this moment; null when nobody wants any of it. */
  readonly settings: () => YieldSettings | null;
  /** Nobody can say what the rules are: what is, stays. */
  readonly isUnknown: () => boolean;
  /** Whether they may become others while the agent runs. */
  readonly mayChange: boolean;
  /** What the node tells of its cards; null: nothing. */
  readonly gpus: () => NodeGpus | null;
  /** The node stands aside from now on, or no more: the head is told what was seen. */
  readonly onChange: () => void;
}

/** A look costs some ms; whoever sits down waits this long for the machine at most. */
const LOOK_EVERY_MS = 5_000;

export class YieldWatch {
  readonly #world: YieldWorld;
  readonly #sessions = new SessionReports();
  #wanted: ReadonlySet<Wanted> = new Set();
  #settings: YieldSettings | null = null;
  #watched: Watched | null = null;
  #presence: readonly Presence[] | null = null;
  #timer: Timer | null = null;

  constructor(world: YieldWorld) {
    this.#world = world;
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
    this.#look();
  }

  stop(): void {
    this.#timer?.cancel();
    this.#settings?.detectors.close();
  }

  /** From a helper in the session of a user of this machine. */
  note(report: SessionReport): void {
    this.#sessions.note(report, this.#now());
  }

  #look(): void {
    const { clock, mayChange, settings } = this.#world;
    const now = settings();
    this.#settings = now ?? this.#settings;
    this.#wanted = wantedBy(now?.rules ?? null);
    if (now !== null) this.#lookWith(now);
    else if (!this.#world.isUnknown()) this.#lookAway();
    if (now === null && !mayChange) return;
    this.#timer = clock.after(LOOK_EVERY_MS, () => this.#look());
  }

  /** There are no rules: there were, or an agent that ran before had them. */
  #lookAway(): void {
    const { pausing, onChange } = this.#world;
    this.#watched = null;
    this.#presence = null;
    if (pausing.yielding === null) return;
    pausing.yield(null);
    onChange();
  }

  #lookWith({ rules, detectors, localTime }: YieldSettings): void {
    const { pausing, log, onChange } = this.#world;
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

/**
 * Users who only draw a desktop keep no card from being given, and are none; on a card that its
 * owner keeps only such can be. A task that uses a card without having it uses no machine.
 */
function gpuSign(gpus: NodeGpus | null): Sign {
  const by = 'gpus';
  if (gpus === null || gpus.cards.length === 0) {
    return { kind: 'blind', by, of: 'gpus', why: 'this node tells of no gpus' };
  }
  const used = gpus.cards.filter(({ state, kept }) => state === 'used_outside' && kept !== true);
  const who = used.flatMap((card) => {
    const first = card.users.find(({ task }) => task === undefined);
    return first === undefined ? [] : [`${first.user} on ${cardTitle(card)} (${first.program})`];
  });
  return { kind: 'gpus', by, who };
}
