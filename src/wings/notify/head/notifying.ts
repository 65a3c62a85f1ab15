// Tells those who want to know of the end of a job or batch, beside everything else: the head
// decides on, however long that takes. What is to be told and what came of it is the controller's.

import type { Engine } from '../../../kernel/head/engine.ts';
import { refusedTarget } from '../../../kernel/machine/jobs/notify-targets.ts';
import { formatRefusal } from '../../../kernel/model/errors.ts';
import {
  type Attempt,
  type NotifierKind,
  parseTarget,
  shownTarget,
  type Target,
} from '../../../kernel/model/notification.ts';
import type { Clock } from '../../../kernel/ports/clock.ts';
import type { Log } from '../../../kernel/ports/log.ts';
import { type DueMessage, outstandingNotifications } from '../machine/attempts.ts';
import { messageOfAll } from './message.ts';
import type { Notifiers } from './notifiers.ts';

export interface NotifyingOptions {
  readonly engine: Engine;
  readonly clock: Clock;
  readonly log: Log;
  readonly audit: Log;
  readonly clusterName: string;
}

/** How one kind of notifier does. */
export interface NotifierHealth {
  readonly toldAt: number | null;
  /** Null when the last attempt went well, or there was none. */
  readonly failure: { readonly at: number; readonly why: string } | null;
}

const NO_HEALTH: NotifierHealth = { toldAt: null, failure: null };

/** Attempts of one kind at once: a slow one holds up neither another kind nor the head. */
const RUNNING_MAX = 4;

export class Notifying {
  readonly #options: NotifyingOptions;
  readonly #health = new Map<NotifierKind, NotifierHealth>();
  /** Targets that are being told. */
  readonly #running = new Map<string, NotifierKind>();
  #notifiers: Notifiers;

  constructor(options: NotifyingOptions, notifiers: Notifiers) {
    this.#options = options;
    this.#notifiers = notifiers;
  }

  /** From the next attempt on. */
  change(notifiers: Notifiers): void {
    this.#notifiers = notifiers;
  }

  /** Those that are set up, with how they do. */
  get health(): ReadonlyMap<NotifierKind, NotifierHealth> {
    return new Map(
      this.#notifiers.kinds.map((kind) => [kind, this.#health.get(kind) ?? NO_HEALTH] as const),
    );
  }

  /** Starts what is due. */
  tick(): void {
    const { engine } = this.#options;
    if (engine.failure !== null || engine.state.indexes.lines.size === 0) return;
    for (const wish of outstandingNotifications(engine.state, engine.now())) {
      if (this.#running.has(wish.target)) continue;
      const target = parseTarget(wish.target);
      // What was accepted can be read: else a release has changed what it means.
      if (!target.ok) this.#note(wish, { kind: 'failed', why: target.error });
      else if (this.#count(target.value.kind) < RUNNING_MAX) this.#start(wish, target.value);
    }
  }

  #count(kind: NotifierKind): number {
    return [...this.#running.values()].filter((one) => one === kind).length;
  }

  #start(wish: DueMessage, target: Target): void {
    const { engine, log } = this.#options;
    const { lives } = engine;
    this.#running.set(wish.target, target.kind);
    // Nobody is told of an end that is not durable: the state may be ahead of the store.
    engine
      .settled()
      .then(() => (engine.lives === lives ? this.#tell(wish, target) : null))
      .then((attempt) => {
        if (attempt !== null) this.#noteHealth(target.kind, attempt);
        if (attempt !== null) this.#note(wish, attempt);
        else this.#running.delete(wish.target);
      })
      .catch((error: unknown) => {
        this.#running.delete(wish.target);
        log.error({ error, target: shownTarget(wish.target) }, 'a notification went wrong');
      });
  }

  async #tell(wish: DueMessage, target: Target): Promise<Attempt> {
    const { engine, clusterName } = this.#options;
    // The rules may have changed since it was accepted.
    const refused = refusedTarget(target, engine.settings.notify);
    if (refused !== null) return { kind: 'failed', why: formatRefusal(refused) };
    const news = wish.notifications.map((one) => one.news);
    return this.#notifiers.tell(target, messageOfAll(news, clusterName));
  }

  #note(wish: DueMessage, attempt: Attempt): void {
    const { engine, log, audit } = this.#options;
    const ids = wish.notifications.map(({ id }) => id);
    const target = shownTarget(wish.target);
    const words = attempt.kind === 'told' ? 'told' : attempt.why;
    audit.info({ who: 'system', what: 'notify', target, ids, words }, 'notification');
    const { target: whole } = wish;
    const told = wish.notifications.map(({ id, at }) => ({ id, at }));
    const command = { kind: 'note_attempt', target: whole, told, attempt } as const;
    engine.perform({ kind: 'command', command, actor: { kind: 'system' } }, (result) => {
      this.#running.delete(whole);
      // More may be waiting for this one.
      if (result.ok && attempt.kind === 'told') this.tick();
      if (result.ok) return;
      log.warn({ target, code: result.error.code }, 'that somebody was told could not be noted');
    });
  }

  #noteHealth(kind: NotifierKind, attempt: Attempt): void {
    const at = this.#options.clock.now();
    const before = this.#health.get(kind) ?? NO_HEALTH;
    this.#health.set(
      kind,
      attempt.kind === 'told'
        ? { toldAt: at, failure: null }
        : { ...before, failure: { at, why: attempt.why } },
    );
  }
}
