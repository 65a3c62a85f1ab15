// Those who want to know of the end of jobs and batches, and the ways to them: messages that
// arrive, fail, hang, or arrive without an answer. Who was told of what is judged against the
// durable record (T1, T2).

import type { Engine } from '../src/kernel/head/engine.ts';
import type { Event } from '../src/kernel/machine/declared.ts';
import type { Of } from '../src/kernel/machine/events.ts';
import { NOTIFY_PAUSE_MIN_MS, NOTIFY_TRIES_MAX } from '../src/kernel/model/limits.ts';
import {
  type Attempt,
  formatSubject,
  formatTarget,
  NOTIFIER_KINDS,
  type NotifyRules,
  type Target,
} from '../src/kernel/model/notification.ts';
import type { Message } from '../src/wings/notify/head/message.ts';
import type { Notifiers } from '../src/wings/notify/head/notifiers.ts';
import { outstandingNotifications } from '../src/wings/notify/machine/attempts.ts';
import { type BatchesTruth, isOver } from './batch-truth.ts';
import type { Dice, Streams } from './chance.ts';
import type { Life, Time } from './clock.ts';
import type { Truth } from './truth.ts';
import { Violation } from './violation.ts';

export interface PostWorld {
  readonly time: Time;
  readonly streams: Streams;
  readonly truth: Truth;
  readonly batches: BatchesTruth;
  readonly note: (text: string) => void;
  readonly engine: () => Engine | null;
  /** A failed check is no failed attempt. */
  readonly guard: (check: () => void) => void;
  /** The head's clock may be set back by so much while an attempt is about to begin. */
  readonly jumpMs: number;
}

export const NOTIFY_RULES: NotifyRules = {
  matrix: ['*'],
  webhook: ['*'],
  command: ['tell'],
  mail: ['*'],
  giveUpMs: 100_000,
};

const TARGETS = [
  'matrix:@ann:lab',
  'webhook:http://hook.example/x',
  'command:tell',
  'mail:ann@lab.example',
];
/** One attempt, as `notify.timeout` bounds it. */
const TIMEOUT_MS = 10_000;
/** What is due is begun in this time, whatever hangs beside it: a commit may be in between. */
const BEGUN_MS = 8000;
/** Attempts of one kind at once (notify/head/notifying.ts). */
const RUNNING_MAX = 4;

interface Delivered {
  readonly target: string;
  state: 'waiting' | 'told' | 'given_up';
  tries: number;
  nextAt: number;
}

interface Due {
  /** By the head's clock. */
  at: number;
  readonly since: number;
  readonly all: readonly Delivered[];
}

/** The last attempt in which somebody heard of something. */
interface Heard {
  readonly life: Life;
  readonly lives: number;
  readonly begunAt: number;
  isAnswered: boolean;
}

export class Post {
  /** Everything that is told arrives from now on, and is answered. */
  isHealed = false;
  /** Targets that are being told, by the head that does. */
  readonly open = new Map<string, Life>();
  readonly #world: PostWorld;
  /** By subject, as durable records say. */
  readonly #due = new Map<string, Due>();
  /** The head's clock when its machine was started, as far as that is durable. */
  #bootedAt = 0;
  readonly #heard = new Map<string, Heard>();
  /** Since when a target waits although it is due. */
  readonly #idle = new Map<string, number>();

  constructor(world: PostWorld) {
    this.#world = world;
  }

  /** Whom a submission names. */
  wishes(share: number | null, dice: Dice): { readonly notify?: readonly string[] } {
    if (share === null || !dice.happens(share)) return {};
    return { notify: TARGETS.filter(() => dice.happens(0.4)) };
  }

  /** The means of telling of one life of the head. */
  notifiersOf(life: Life): Notifiers {
    return { kinds: NOTIFIER_KINDS, tell: (target, message) => this.#tell(life, target, message) };
  }

  /** A head that has just begun has waited for nothing. */
  booted(): void {
    this.#idle.clear();
  }

  #tell(life: Life, target: Target, message: Message): Promise<Attempt> {
    const { time, streams, note, guard, engine } = this.#world;
    const to = formatTarget(target);
    const lives = engine()?.lives ?? 0;
    const begunAt = time.now;
    const subjects = subjectsIn(message);
    guard(() => {
      for (const subject of subjects) this.#checkTell(to, subject, { life, lives });
    });
    this.open.set(to, life);
    this.#idle.delete(to);
    const dice = streams.of(target.kind);
    const ways = ['told', 'told', 'told', 'refused', 'unanswered', 'hangs'] as const;
    const way = this.isHealed ? 'told' : dice.pick(ways);
    const ms = way === 'hangs' ? TIMEOUT_MS : dice.pick([5, 300, 4000]);
    note(`${to} is told of ${subjects}: ${way}`);
    return new Promise((resolve) => {
      time.after(ms, () => {
        const heard = { life, lives, begunAt, isAnswered: way === 'told' };
        const isHeard = way === 'told' || way === 'unanswered';
        for (const one of isHeard ? subjects : []) this.#heard.set(`${to} ${one}`, heard);
        if (!life.alive) return;
        this.open.delete(to);
        resolve(way === 'told' ? { kind: 'told' } : { kind: 'failed', why: way });
      });
    });
  }

  #checkTell(to: string, subject: string, { life, lives }: Pick<Heard, 'life' | 'lives'>): void {
    const words = `${to} is told of ${subject}`;
    if (!this.#isOver(subject)) throw new Violation('T1', `${words}, whose end is not durable`);
    const due = this.#due.get(subject);
    const delivery = due?.all.find(({ target }) => target === to);
    if (delivery?.state !== 'waiting') {
      throw new Violation('T1', `${words}, which is ${delivery?.state ?? 'not due'}`);
    }
    const before = this.#heard.get(`${to} ${subject}`);
    const isOfThis = before !== undefined && before.begunAt >= (due?.since ?? 0);
    if (isOfThis && before.isAnswered && before.life === life && before.lives === lives) {
      throw new Violation('T1', `${words} twice by one head`);
    }
    const now = this.#headNow();
    if (now + this.#world.jumpMs < delivery.nextAt) {
      throw new Violation('T2', `${words} ${delivery.nextAt - now} ms too early`);
    }
  }

  /** By the clock of what is durable: that it was set may not be yet. */
  #headNow(): number {
    const engine = this.#world.engine();
    if (engine === null) return Infinity;
    const now = engine.now();
    return now - (engine.state.clock?.bootedAt ?? this.#bootedAt) + this.#bootedAt;
  }

  #isOver(subject: string): boolean {
    const { truth, batches } = this.#world;
    const [kind, name = ''] = subject.split(' ');
    if (kind === 'job') {
      return [...truth.jobs.values()].some(({ id, outcome }) => `${id}` === name && outcome);
    }
    const batch = batches.batches.get(name);
    // One that is over can be removed, or run again, before all have heard of it.
    return batch === undefined || isOver(batch) || this.#due.has(subject);
  }

  /** A durable event, after the truth has learned it. */
  learn(event: Event, at: number): void {
    switch (event.kind) {
      case 'clock_read':
        this.#bootedAt = event.reading.bootedAt;
        return;
      case 'clock_stepped':
        this.#bootedAt = event.reading.bootedAt;
        return this.#rebase(event.byMs);
      case 'notification_due':
        return this.#noteDue(event, at);
      case 'notification_told':
        return this.#noteTold(event);
      case 'notification_failed':
        return this.#noteFailed(event, at);
      case 'notification_given_up':
        return this.#noteGivenUp(event, at);
      default:
    }
  }

  #rebase(byMs: number): void {
    for (const due of this.#due.values()) {
      due.at += byMs;
      for (const delivery of due.all) delivery.nextAt += byMs;
    }
  }

  #noteDue({ news, targets }: Of<'notification_due'>, at: number): void {
    const subject = formatSubject(news.subject);
    if (!this.#isOver(subject)) throw new Violation('T1', `${subject} is told of, and is not over`);
    for (const target of targets) this.#heard.delete(`${target} ${subject}`);
    const all = targets.map(
      (target): Delivered => ({ target, state: 'waiting', tries: 0, nextAt: at }),
    );
    this.#due.set(subject, { at, since: this.#world.time.now, all });
  }

  #noteTold(event: Of<'notification_told'>): void {
    const { subject, delivery, since } = this.#find(event);
    const heard = this.#heard.get(`${delivery.target} ${subject}`);
    // Of an earlier end of the same batch it may have heard: that is no news of this one.
    if (heard === undefined || heard.begunAt < since) {
      throw new Violation('T1', `${delivery.target} counts as told of ${subject}, and never was`);
    }
    delivery.state = 'told';
  }

  #noteFailed(event: Of<'notification_failed'>, at: number): void {
    const { subject, delivery } = this.#find(event);
    delivery.tries += 1;
    delivery.nextAt = event.nextAt;
    if (delivery.tries > NOTIFY_TRIES_MAX || event.nextAt < at + pauseAfter(delivery.tries)) {
      throw new Violation('T2', `${delivery.target} is told of ${subject} again and again`);
    }
  }

  #noteGivenUp(event: Of<'notification_given_up'>, at: number): void {
    const { subject, delivery, dueAt } = this.#find(event);
    delivery.state = 'given_up';
    const nextAt = at + pauseAfter(delivery.tries + 1);
    if (nextAt > dueAt + NOTIFY_RULES.giveUpMs) return;
    throw new Violation('T1', `${delivery.target} is not told of ${subject} any more, too early`);
  }

  #find({ subject: of, delivery: at }: Pick<Of<'notification_told'>, 'subject' | 'delivery'>) {
    const subject = formatSubject(of);
    const due = this.#due.get(subject);
    const delivery = due?.all[at];
    if (due !== undefined && delivery?.state === 'waiting') {
      return { subject, delivery, dueAt: due.at, since: due.since };
    }
    throw new Violation('T1', `delivery ${at} of ${subject} is ${delivery?.state ?? 'unknown'}`);
  }

  /** T2: whoever is due is being told, whatever hangs beside. Call every so often. */
  look(): void {
    const { engine: engineOf, time } = this.#world;
    const engine = engineOf();
    if (engine === null || engine.failure !== null) return this.#idle.clear();
    const due = outstandingNotifications(engine.state, engine.now()).map(({ target }) => target);
    for (const target of [...this.#idle.keys()])
      if (!due.includes(target)) this.#idle.delete(target);
    for (const target of due) {
      const kind = target.split(':')[0];
      const busy = [...this.open].filter(([one, { alive }]) => {
        return alive && one.split(':')[0] === kind;
      });
      if (this.open.get(target)?.alive === true || busy.length >= RUNNING_MAX) {
        this.#idle.delete(target);
        continue;
      }
      const since = this.#idle.get(target) ?? time.now;
      this.#idle.set(target, since);
      if (time.now - since <= BEGUN_MS) continue;
      throw new Violation('T2', `${target} is due since ${time.now - since} ms, and is not told`);
    }
  }

  /** Nobody is to be told of anything any more. */
  get isAllTold(): boolean {
    return [...this.#due.values()].every(({ all }) =>
      all.every(({ state }) => state !== 'waiting'),
    );
  }

  /** T1: whatever ended was told of, or given up. */
  checkAll(): void {
    const { truth, batches } = this.#world;
    for (const { id, spec, outcome } of truth.jobs.values()) {
      if (spec.notify === undefined || spec.notify.length === 0 || outcome === null) continue;
      const batch = spec.batch === undefined ? undefined : batches.parts.get(id)?.batch;
      const subject = batch === undefined ? `job ${id}` : `batch ${batch.title}`;
      const open = this.#due.get(subject)?.all.find(({ state }) => state === 'waiting');
      if (this.#due.has(subject) && open === undefined) continue;
      const whom = open?.target ?? 'nobody';
      throw new Violation('T1', `${subject} is over, and ${whom} is still to be told`);
    }
  }
}

/** Twice as long after each failure. */
function pauseAfter(tries: number): number {
  return NOTIFY_PAUSE_MIN_MS * 2 ** (tries - 1);
}

/** Whatever a message speaks of, in the words that people read. */
function subjectsIn({ text }: Message): string[] {
  const found = [...text.matchAll(/\b(?:Job (\d+) \(|Batch (\S+\/[^\s:]+))/g)];
  return [...new Set(found.map(([, job, batch]) => (job ? `job ${job}` : `batch ${batch}`)))];
}
