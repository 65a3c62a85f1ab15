// `--watch` of listings: the same answer again and again, on the whole screen, or below one another
// in a pipe where it has changed.

import { headNow } from '../api/head-time.ts';
import { parseDuration } from '../base/duration.ts';
import { Failure, usage } from '../model/failure.ts';
import type { Context, Terminal } from './context.ts';
import { cutLine } from './output/cut-line.ts';
import { wrapLine } from './output/prose.ts';
import { displayWidth, printable } from './output/table.ts';
import { formatInstant } from './output/words.ts';
import type { Screen } from './screen.ts';
import { read } from './submit/read.ts';

export interface WatchRequest {
  /** What was typed; `true`: at the usual interval. */
  readonly every: unknown;
  /** The command, for people. */
  readonly title: string;
}

const USUAL = '2s';
const INTERVAL_MIN_MS = 100;

/** Kinds of refusals of a token that was revoked, or of a user who is no operator any more. */
const RIGHTS_LOST: ReadonlySet<string> = new Set(['unauthenticated', 'permission_denied']);

/** The interval in ms; throws for one that is none. */
export function readInterval(flag: string, text: string): number {
  const ms = read(flag, text, parseDuration) ?? 0;
  if (ms >= INTERVAL_MIN_MS) return ms;
  throw usage(`${flag}: ${text} is too short; write 0.1s or more`);
}

/** What is shown of one look. */
interface Look {
  readonly text: string;
  /** Remarks of the verb, which a terminal shows above the text. */
  readonly notes: string;
  readonly exitCode: number;
  /** Why there is no newer text; null: there is. */
  readonly trouble: string | null;
}

/**
 * Runs a verb until somebody ends it: with q or Ctrl-C at a terminal, with a signal elsewhere.
 * `run` gets a context whose output is gathered, remarks as well: those would be written over the
 * screen, or into a log again and again. The first failure is thrown, and so is a refusal for want
 * of rights that comes twice; other failures are shown.
 */
export async function watch(
  { every, title }: WatchRequest,
  { terminal, contextOf }: { terminal: Terminal; contextOf: (terminal: Terminal) => Context },
  run: (context: Context) => Promise<number>,
): Promise<number> {
  const intervalMs = readInterval('--watch', every === true ? USUAL : String(every));
  let text = '';
  let notes = '';
  const gathering: Terminal = {
    ...terminal,
    out: (part) => {
      text += textIn(part);
    },
    error: (part) => {
      notes += textIn(part);
    },
  };
  const context = contextOf(gathering);
  const look = async (before: Look | null): Promise<Look> => {
    text = '';
    notes = '';
    try {
      return { exitCode: await run(context), text, notes, trouble: null };
    } catch (error) {
      if (before === null) terminal.error(notes);
      if (!(error instanceof Failure) || before === null) throw error;
      // A head that restarts may refuse once; refused twice, there will be nothing newer.
      if (RIGHTS_LOST.has(error.kind) && before.trouble === error.message) throw error;
      return { ...before, trouble: error.message };
    }
  };
  try {
    const first = await look(null);
    const { screen } = terminal;
    if (screen === undefined) return await below(terminal, { intervalMs, first, look });
    return await onScreen(screen, title, { intervalMs, first, look });
  } finally {
    context.close();
  }
}

function textIn(part: string | Uint8Array): string {
  return typeof part === 'string' ? part : Buffer.from(part).toString();
}

interface Round {
  readonly intervalMs: number;
  readonly look: (before: Look) => Promise<Look>;
}

/** Never resolves: whoever reads a pipe ends it. */
async function below(
  terminal: Terminal,
  { intervalMs, first, look }: Round & { first: Look },
): Promise<number> {
  terminal.out(first.text);
  terminal.error(first.notes);
  for (let before = first; ; ) {
    await new Promise((resolve) => setTimeout(resolve, intervalMs));
    const now = await look(before);
    if (now.trouble !== null && now.trouble !== before.trouble) terminal.error(`${now.trouble}\n`);
    if (now.text !== before.text) terminal.out(`\n${now.text}`);
    if (now.notes !== before.notes) terminal.error(now.notes);
    before = now;
  }
}

/** Until somebody types q or Ctrl-C. */
async function onScreen(
  screen: Screen,
  title: string,
  { intervalMs, first, look }: Round & { first: Look },
): Promise<number> {
  let now = first;
  const over = Promise.withResolvers<true>();
  const draw = () => open.show(picture(now, title, screen.size()));
  const open = screen.open({
    keys: (text) => void (/[q\u0003\u0004]/.test(text) && over.resolve(true)),
    resized: () => draw(),
    ended: () => over.resolve(true),
  });
  try {
    draw();
    for (;;) {
      const pause = Promise.withResolvers<false>();
      const timer = setTimeout(() => pause.resolve(false), intervalMs);
      const isOver = await Promise.race([over.promise, pause.promise]);
      clearTimeout(timer);
      if (isOver) return now.exitCode;
      now = await look(now);
      draw();
    }
  } finally {
    open.close();
  }
}

/** The lines of a screen: a heading with trouble or remarks, then as much text as fits. */
function picture(
  { text, notes, trouble }: Look,
  title: string,
  { columns, rows }: ReturnType<Screen['size']>,
): string[] {
  const lines = text.replace(/\n$/, '').split('\n');
  const now = headNow();
  const words = printable(trouble ?? notes.split('\n')[0] ?? '');
  const above = heading(`${title}  ${formatInstant(now, now)}`, words, columns);
  const head = above.slice(0, Math.max(1, rows - 3));
  const room = Math.max(1, rows - head.length - 1);
  const isCut = lines.length > room;
  const shown = isCut ? lines.slice(0, room - 1) : lines;
  const cut = isCut ? [`… ${lines.length - shown.length} more lines`] : [];
  return [...head, '', ...shown, ...cut].map((line) => cutLine(line, columns));
}

/** One line where all of it fits; else the words have lines of their own. */
function heading(title: string, words: string, columns: number): string[] {
  const line = `${title}  ${words || 'q quits'}`;
  if (words === '' || displayWidth(line) <= columns) return [line];
  return [title, ...wrapLine(words, columns)];
}
