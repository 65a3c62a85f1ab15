// `weft top` at a terminal: looks at the head again and again, and does what keys say.

import type { RouteName } from '../../api/paths.ts';
import { plural } from '../../base/plural.ts';
import { quoteWord } from '../../base/shell-word.ts';
import type { Api } from '../../connect/api.ts';
import { Failure } from '../../model/failure.ts';
import type { HookWing } from '../context.ts';
import type { Paint } from '../output/paint.ts';
import type { OpenScreen, Screen } from '../screen.ts';
import { type Asked, type Facts, fetchFacts, panesOf, rowsOf } from './facts.ts';
import { bodyHeight, drawFrame } from './frame.ts';
import { readKeys } from './keys.ts';
import { Pages } from './pages.ts';
import {
  type ActionKind,
  openingView,
  press,
  type TopAction,
  type TopRequest,
  type View,
} from './view.ts';

export interface TopParts {
  readonly api: Api;
  readonly wings: readonly HookWing[];
  readonly screen: Screen;
  readonly paint: Paint;
  readonly asked: Omit<Asked, 'sort'>;
  readonly filter: string;
  readonly intervalMs: number;
}

/** Share of the time that is spent on looking, at most: a large cluster is looked at less often. */
const LOOKING_SHARE = 0.03;
/** An escape that nothing follows within this time is the key. */
const ESCAPE_MS = 50;

export class TopSession {
  readonly #parts: TopParts;
  readonly #pages: Pages;
  #view: View;
  #facts: Facts;
  #page: readonly string[] = [];
  #trouble: string | null = null;
  #screen: OpenScreen | null = null;
  #rest = '';
  #timer: NodeJS.Timeout | undefined;
  #escape: NodeJS.Timeout | undefined;
  #isLooking = false;
  #isOver = false;
  #isAskedAgain = false;
  #finish: (error?: unknown) => void = () => undefined;

  constructor(parts: TopParts, facts: Facts) {
    this.#parts = parts;
    this.#facts = facts;
    this.#pages = new Pages(parts.api, parts.wings);
    this.#view = openingView(parts.filter);
  }

  /** Resolves when somebody quits; rejects with what is not a failure of the head's. */
  async run(): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#finish = (error) => (error === undefined ? resolve() : reject(error));
    try {
      this.#open();
      this.#again(this.#parts.intervalMs);
      await promise;
    } finally {
      this.#isOver = true;
      clearTimeout(this.#timer);
      clearTimeout(this.#escape);
      this.#screen?.close();
    }
  }

  #open(): void {
    this.#screen = this.#parts.screen.open({
      keys: (text) => this.#hear(text),
      resized: () => this.#draw(),
      ended: () => this.#finish(),
    });
    this.#draw();
  }

  #hear(text: string): void {
    clearTimeout(this.#escape);
    const { keys, rest } = readKeys(this.#rest + text);
    this.#rest = rest;
    for (const key of keys) this.#press(key);
    if (rest === '\u001b') this.#escape = setTimeout(() => this.#pressEscape(), ESCAPE_MS);
  }

  #pressEscape(): void {
    this.#rest = '';
    this.#press('escape');
  }

  #press(key: string): void {
    const { names } = rowsOf(this.#facts, this.#view.pane, this.#view.filter);
    const height = bodyHeight(this.#parts.screen.size());
    const panes = panesOf(this.#facts);
    const shown = { panes, names, lineCount: this.#page.length, height };
    const before = this.#view.page;
    const { view, wish } = press(this.#view, key, shown);
    this.#view = view;
    if (view.page?.kind !== before?.kind || view.page?.subject !== before?.subject) this.#page = [];
    if (wish !== null) this.#fulfil(wish);
    if (wish?.kind !== 'quit') this.#draw();
  }

  #fulfil(wish: TopRequest): void {
    switch (wish.kind) {
      case 'quit':
        return this.#finish();
      case 'redraw':
        return this.#screen?.forget();
      case 'refresh':
        return void this.#look();
      case 'sleep':
        this.#screen?.close();
        this.#parts.screen.sleep();
        return this.#open();
      case 'do':
        return void this.#do(wish.action);
    }
  }

  async #do(action: TopAction): Promise<void> {
    try {
      const said = await perform(this.#parts.api, action);
      this.#view = { ...this.#view, said };
    } catch (error) {
      if (!(error instanceof Failure)) return this.#finish(error);
      this.#view = { ...this.#view, said: error.message };
    }
    this.#draw();
    await this.#look();
  }

  async #look(): Promise<void> {
    // What was asked for while a look is under way may not be in it.
    if (this.#isLooking) {
      this.#isAskedAgain = true;
      return;
    }
    clearTimeout(this.#timer);
    this.#isLooking = true;
    const used = process.cpuUsage();
    try {
      await this.#fetch();
      this.#trouble = null;
    } catch (error) {
      if (!(error instanceof Failure)) return this.#finish(error);
      this.#trouble = `Not up to date: ${error.message}`;
    } finally {
      this.#isLooking = false;
    }
    this.#draw();
    const { user, system } = process.cpuUsage(used);
    const restMs = (user + system) / 1000 / LOOKING_SHARE;
    this.#again(this.#isAskedAgain ? 0 : Math.max(this.#parts.intervalMs, restMs));
    this.#isAskedAgain = false;
  }

  async #fetch(): Promise<void> {
    const { api, asked, screen } = this.#parts;
    const sort = this.#view.isByPriority ? 'priority' : 'newest';
    const { page } = this.#view;
    this.#facts = await fetchFacts(api, { ...asked, sort });
    if (page === null) return;
    const lines = await this.#pages.lines(page, screen.size().columns);
    const { page: now } = this.#view;
    if (now?.kind === page.kind && now.subject === page.subject) this.#page = lines;
  }

  #again(ms: number): void {
    clearTimeout(this.#timer);
    // A look that was under way when somebody quit is the last one.
    if (!this.#isOver) this.#timer = setTimeout(() => void this.#look(), ms);
  }

  #draw(): void {
    if (this.#isOver) return;
    const { screen, paint } = this.#parts;
    const [facts, view, page, trouble] = [this.#facts, this.#view, this.#page, this.#trouble];
    const size = screen.size();
    this.#screen?.show(drawFrame({ facts, view, page, size, paint, trouble }));
  }
}

// What `weft top` does to a job or a node, and the command that does the same.

type JobActionKind = Exclude<ActionKind, 'drain' | 'undrain'>;
type JobRoute = Extract<RouteName, `${JobActionKind}Job`>;

const VERBS: Readonly<Record<JobActionKind, string>> = {
  cancel: 'cancel',
  hold: 'hold',
  release: 'release',
  suspend: 'suspend',
  resume: 'resume',
  requeue: 'requeue',
};
const DONE: Readonly<Record<JobActionKind, string>> = {
  cancel: 'cancelled',
  hold: 'held',
  release: 'released',
  suspend: 'suspended',
  resume: 'resumed',
  requeue: 'requeued',
};

/** Does it. Resolves with what has happened, and how the command line says it; throws a failure. */
async function perform(api: Api, { kind, subject, reason = '' }: TopAction): Promise<string> {
  if (kind === 'drain') {
    await api.call('drainNode', { params: { name: subject }, body: { reason } });
    return `Node ${subject} gets no new work (weft node drain -r ${quoteWord(reason)} ${subject})`;
  }
  if (kind === 'undrain') {
    await api.call('undrainNode', { params: { name: subject } });
    return `Node ${subject} gets work again (weft node undrain ${subject})`;
  }
  const route: JobRoute = `${kind}Job`;
  const { count } = await api.call(route, { params: { id: subject } });
  return `Job ${subject}: ${plural(count, 'task')} ${DONE[kind]} (weft ${VERBS[kind]} ${subject})`;
}
