// What somebody looks at in `weft top`, and what a key makes of it.

import type { Pane } from './facts.ts';
import type { Key } from './keys.ts';

/** What is done to one job or node. */
export type ActionKind =
  | 'cancel'
  | 'hold'
  | 'release'
  | 'suspend'
  | 'resume'
  | 'requeue'
  | 'drain'
  | 'undrain';

export interface TopAction {
  readonly kind: ActionKind;
  /** A job's id, or a node's name. */
  readonly subject: string;
  /** Why a node is drained. */
  readonly reason?: string;
}

/** Text about one subject, over the list. */
export interface Page {
  readonly kind: 'job' | 'why' | 'logs' | 'node' | 'help';
  readonly subject: string;
  /** The first line shown; null: the last lines, also of what still comes. */
  readonly top: number | null;
}

export interface Prompt {
  readonly kind: 'filter' | 'reason' | 'sure' | 'task';
  readonly text: string;
  /** The job of which a task is asked for. */
  readonly subject?: string;
  /** What an answer leads to; a filter leads to none. */
  readonly action: TopAction | null;
}

export interface View {
  readonly pane: Pane;
  /** By name: a list that changes keeps what was chosen. */
  readonly chosen: Readonly<Record<Pane, string | null>>;
  readonly filter: string;
  readonly isByPriority: boolean;
  readonly page: Page | null;
  readonly prompt: Prompt | null;
  /** What the last action led to. */
  readonly said: string;
}

export type TopRequest =
  | { readonly kind: 'quit' | 'sleep' | 'redraw' | 'refresh' }
  | { readonly kind: 'do'; readonly action: TopAction };

/** What is on the screen while the key comes. */
export interface Shown {
  readonly panes: readonly Pane[];
  /** Names of the rows, behind the filter. */
  readonly names: readonly string[];
  /** Lines of the page, if one is open. */
  readonly lineCount: number;
  /** Rows of the list, or of the page. */
  readonly height: number;
}

export interface Pressed {
  readonly view: View;
  readonly wish: TopRequest | null;
}

export function openingView(filter: string): View {
  return {
    pane: 'jobs',
    chosen: { jobs: null, nodes: null, gpus: null },
    filter,
    isByPriority: false,
    page: null,
    prompt: null,
    said: '',
  };
}

/** Index of the chosen row; the first while none is, or while it is not there. */
export function chosenRow({ pane, chosen }: View, names: readonly string[]): number {
  const name = chosen[pane];
  return name === null ? 0 : Math.max(0, names.indexOf(name));
}

/** The view after a key. */
export function press(view: View, key: Key, shown: Shown): Pressed {
  if (key === 'ctrl-c') return { view, wish: { kind: 'quit' } };
  if (key === 'ctrl-z') return { view, wish: { kind: 'sleep' } };
  if (key === 'ctrl-l') return { view, wish: { kind: 'redraw' } };
  const quiet = view.said === '' ? view : { ...view, said: '' };
  if (view.prompt !== null) return pressInPrompt(quiet, view.prompt, key);
  if (view.page !== null) return pressInPage(quiet, view.page, key, shown);
  return pressInList(quiet, key, shown);
}

function pressInPrompt(view: View, prompt: Prompt, key: Key): Pressed {
  const over = { ...view, prompt: null };
  if (prompt.kind === 'sure') {
    const wish = key === 'y' && prompt.action !== null ? requestOf(prompt.action) : null;
    return { view: over, wish };
  }
  if (key === 'escape') {
    return { view: prompt.kind === 'filter' ? { ...over, filter: '' } : over, wish: null };
  }
  if (key === 'enter') {
    const { action, text, subject } = prompt;
    if (subject !== undefined) return openTask(over, subject, text.trim());
    // A drain without a reason helps nobody who waits for the node.
    if (action !== null && text.trim() === '') return { view, wish: null };
    return { view: over, wish: action && requestOf({ ...action, reason: text.trim() }) };
  }
  const text = typed(prompt.text, key);
  const filter = prompt.kind === 'filter' ? text : view.filter;
  return { view: { ...view, filter, prompt: { ...prompt, text } }, wish: null };
}

/** The output of one task of an array; what is no index is as if nothing had been typed. */
function openTask(view: View, job: string, index: string): Pressed {
  if (!/^\d{1,9}$/.test(index)) return { view, wish: null };
  return opened(view, { kind: 'logs', subject: `${job}[${index}]`, top: null });
}

const requestOf = (action: TopAction): TopRequest => ({ kind: 'do', action });
const TEXT_MAX = 200;

function typed(text: string, key: Key): string {
  if (key === 'backspace') return [...text].slice(0, -1).join('');
  if (key === 'ctrl-u') return '';
  return [...key].length === 1 && text.length < TEXT_MAX ? text + key : text;
}

function pressInPage(view: View, page: Page, key: Key, shown: Shown): Pressed {
  if (key === 'escape' || key === 'q' || key === 'left' || key === 'backspace') {
    return { view: { ...view, page: null }, wish: null };
  }
  const { lineCount, height } = shown;
  const last = Math.max(0, lineCount - height);
  const top = moved(key, { at: Math.min(page.top ?? last, last), last, height });
  if (top !== null) {
    // At its end a log goes on with what comes; other pages stay where they are.
    const isAtEnd = top === last && page.kind === 'logs';
    return { view: { ...view, page: { ...page, top: isAtEnd ? null : top } }, wish: null };
  }
  return ofSubject(view, key, page.kind === 'help' ? null : page.subject, shown);
}

function pressInList(view: View, key: Key, shown: Shown): Pressed {
  const { names, height } = shown;
  const at = moved(key, { at: chosenRow(view, names), last: names.length - 1, height });
  if (at !== null) {
    const chosen = { ...view.chosen, [view.pane]: names[at] ?? null };
    return { view: { ...view, chosen }, wish: null };
  }
  switch (key) {
    case 'q':
      return { view, wish: { kind: 'quit' } };
    case 'tab':
      return { view: { ...view, pane: paneBeside(view, shown, 1) }, wish: null };
    case 'back-tab':
      return { view: { ...view, pane: paneBeside(view, shown, -1) }, wish: null };
    case 'escape':
      return { view: { ...view, filter: '' }, wish: null };
    case '/':
      return {
        view: { ...view, prompt: { kind: 'filter', text: view.filter, action: null } },
        wish: null,
      };
    case 's':
      return { view: { ...view, isByPriority: !view.isByPriority }, wish: { kind: 'refresh' } };
    default:
      return ofSubject(view, key, names[chosenRow(view, names)] ?? null, shown);
  }
}

/** Round and round; from one that is there no more to an end of them. */
function paneBeside({ pane }: View, { panes }: Shown, step: 1 | -1): Pane {
  const at = panes.indexOf(pane) + step;
  return panes.at(at % panes.length) ?? 'jobs';
}

/** Where a key that moves leads to; null for every other key. */
function moved(
  key: Key,
  { at, last, height }: { at: number; last: number; height: number },
): number | null {
  const far = Math.max(1, height - 1);
  const steps: Readonly<Record<Key, number>> = {
    up: -1,
    k: -1,
    down: 1,
    j: 1,
    home: -at,
    g: -at,
    end: last - at,
    G: last - at,
    'page-up': -far,
    b: -far,
    'page-down': far,
    ' ': far,
  };
  const step = Object.hasOwn(steps, key) ? (steps[key] as number) : null;
  return step === null ? null : Math.max(0, Math.min(last, at + step));
}

const PAGES_OF_JOBS: Readonly<Record<Key, Page['kind']>> = {
  enter: 'job',
  right: 'job',
  w: 'why',
  l: 'logs',
};
const TOP_ACTIONS: Readonly<Record<Pane, Readonly<Record<Key, ActionKind>>>> = {
  jobs: { c: 'cancel', h: 'hold', r: 'release', S: 'suspend', R: 'resume', Q: 'requeue' },
  nodes: { d: 'drain', u: 'undrain' },
  gpus: {},
};
/** Nobody ends work by one wrong key. */
const ASKED_FIRST: ReadonlySet<ActionKind> = new Set(['cancel', 'requeue']);

function ofSubject(view: View, key: Key, subject: string | null, { height }: Shown): Pressed {
  if (key === '?') return opened(view, { kind: 'help', subject: '', top: 0 });
  if (subject === null) return { view, wish: null };
  const isJobs = view.pane === 'jobs';
  const pages = isJobs ? PAGES_OF_JOBS : ({ enter: 'node', right: 'node' } as const);
  const page = (pages as Readonly<Record<Key, Page['kind']>>)[key];
  if (page !== undefined && height > 0) {
    // Of a gpu its node is shown.
    const whole = view.pane === 'gpus' ? subject.replace(/\/.*/, '') : subject;
    return opened(view, { kind: page, subject: whole, top: page === 'logs' ? null : 0 });
  }
  if (isJobs && key === 't') {
    const job = subject.replace(/\[.*/, '');
    return {
      view: { ...view, prompt: { kind: 'task', text: '', action: null, subject: job } },
      wish: null,
    };
  }
  const kind = TOP_ACTIONS[view.pane][key];
  if (kind === undefined) return { view, wish: null };
  const action = { kind, subject };
  if (kind === 'drain') {
    return { view: { ...view, prompt: { kind: 'reason', text: '', action } }, wish: null };
  }
  if (ASKED_FIRST.has(kind)) {
    return { view: { ...view, prompt: { kind: 'sure', text: '', action } }, wish: null };
  }
  return { view, wish: requestOf(action) };
}

function opened(view: View, page: Page): Pressed {
  return { view: { ...view, page }, wish: { kind: 'refresh' } };
}
