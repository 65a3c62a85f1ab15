// What `weft top` has on the screen: as many lines as the terminal has rows, none wider than it.

import { formatSize } from '../../base/size.ts';
import { cutLine } from '../output/cut-line.ts';
import type { Paint } from '../output/paint.ts';
import { wrapLine } from '../output/prose.ts';
import { displayWidth, printable } from '../output/table.ts';
import { formatInstant, formatSpan } from '../output/words.ts';
import { type Facts, panesOf, rowsOf } from './facts.ts';
import { chosenRow, type TopAction, type View } from './view.ts';

export interface Size {
  readonly columns: number;
  readonly rows: number;
}

export interface Drawn {
  readonly facts: Facts;
  readonly view: View;
  /** Lines of the open page; printable. */
  readonly page: readonly string[];
  readonly size: Size;
  readonly paint: Paint;
  /** Why the facts are old; null: they are not. */
  readonly trouble: string | null;
}

/** Head, title of the list; below the list a line for words and one for keys. */
const LINES_AROUND = 6;

/** One picture for whoever has no terminal, or wants none: both lists, whole. */
export function drawOnce(
  facts: Facts,
  { filter, paint, width }: { filter: string; paint: Paint; width: number | null },
): string[] {
  const tables = panesOf(facts).flatMap((pane) => {
    const { names, draw } = rowsOf(facts, pane, filter);
    const look = { paint, width };
    const none = emptyWords({ pane, filter });
    return ['', ...(names.length === 0 ? [none] : draw(look))];
  });
  return [...summary(facts, width ?? 80), ...tables];
}

/** How many rows of the list, or lines of a page, there is room for. */
export function bodyHeight({ rows }: Size): number {
  return Math.max(1, rows - LINES_AROUND);
}

export function drawFrame(drawn: Drawn): string[] {
  const { size } = drawn;
  const height = bodyHeight(size);
  const { title, body } = drawn.view.page === null ? list(drawn, height) : page(drawn, height);
  const filled = [...body, ...Array<string>(Math.max(0, height - body.length)).fill('')];
  const lines = [...head(drawn), title, ...filled, words(drawn), keys(drawn)];
  return lines.slice(0, Math.max(1, size.rows)).map((line) => cutLine(line, size.columns));
}

function head({ facts, view, paint, trouble, size }: Drawn): string[] {
  const [first = '', second = '', counts = ''] = summary(facts, size.columns);
  const tabs = panesOf(facts)
    .map((pane) => (pane === view.pane ? `[${pane}]` : ` ${pane} `))
    .join(' ');
  const filter = view.filter === '' ? '' : `  filter: ${printable(view.filter)}`;
  const order = view.pane === 'jobs' && view.isByPriority ? '  by priority' : '';
  const last = `${tabs}${order}${filter}`;
  if (trouble === null) return [first, second, counts, last];
  // The counts are old by then: the reason takes their line.
  const [one = '', two, ...more] = wrapLine(printable(trouble), size.columns);
  const red = (line: string): string => paint(line, 'red');
  if (two === undefined) return [first, second, red(one), last];
  const end = more.length === 0 ? two : `${cutLine(two, size.columns - 2)} …`;
  return [first, red(one), red(end), last];
}

/** Three lines: which cluster, how full it is, what there is. */
function summary({ info }: Facts, width: number): [string, string, string] {
  const { total, free } = info;
  const since = formatSpan(info.head.now - info.head.startedAt);
  const clock = formatInstant(info.head.now, info.head.now);
  const all = `Cluster ${info.clusterName}, head up ${since}, Weft ${info.version}`;
  // On a narrow terminal the name gives way, not the time.
  const first = cutLine(all, Math.max(0, width - clock.length - 2));
  const gap = ' '.repeat(Math.max(2, width - displayWidth(first) - clock.length));
  const cpus = meter(total.cpuCount - free.cpuCount, total.cpuCount, String);
  const memory = meter(total.memoryBytes - free.memoryBytes, total.memoryBytes, formatSize);
  const counts = `Nodes: ${counted(info.nodes)}  Jobs: ${counted(info.jobs)}`;
  return [`${first}${gap}${clock}`, `cpus ${cpus}  memory ${memory}`, counts];
}

const METER_WIDTH = 12;

/** `████░░░░ 5/8`. */
export function meter(used: number, total: number, format: (amount: number) => string): string {
  const share = total === 0 ? 0 : Math.min(1, used / total);
  // Something in use is seen, however little it is.
  const full = used > 0 ? Math.max(1, Math.round(share * METER_WIDTH)) : 0;
  const bar = '█'.repeat(full) + '░'.repeat(METER_WIDTH - full);
  return `${bar} ${format(used)}/${format(total)}`;
}

function counted(of: Readonly<Record<string, number>>): string {
  const some = Object.entries(of).filter(([state, count]) => count > 0 && state !== 'done');
  return (
    some.map(([state, count]) => `${count} ${state.replaceAll('_', ' ')}`).join(', ') || 'none'
  );
}

interface Body {
  readonly title: string;
  readonly body: readonly string[];
}

function list({ facts, view, size, paint }: Drawn, height: number): Body {
  const { names, draw } = rowsOf(facts, view.pane, view.filter);
  if (names.length === 0) return { title: '', body: [`  ${emptyWords(view)}`] };
  const at = chosenRow(view, names);
  const first = windowAt(at, names.length, height);
  const look = { paint, width: Math.max(20, size.columns - 2) };
  // As wide as all rows need: columns stay where they are while somebody moves.
  const [title = '', ...lines] = draw(look);
  const body = lines
    .slice(first, first + height)
    .map((line, nth) => `${first + nth === at ? '> ' : '  '}${line}`);
  return { title: `  ${title}`, body };
}

function emptyWords({ pane, filter }: Pick<View, 'pane' | 'filter'>): string {
  if (filter !== '') return `No ${pane} match '${printable(filter)}'; Esc takes the filter away.`;
  return pane === 'jobs' ? 'No jobs. `weft run COMMAND` starts one.' : `No ${pane}.`;
}

/** The first row shown, so that the chosen one is in the middle where the list allows it. */
export function windowAt(chosen: number, count: number, height: number): number {
  return Math.max(0, Math.min(chosen - Math.floor(height / 2), count - height));
}

function page({ view, page: lines, size }: Drawn, height: number): Body {
  const { kind = 'help', subject = '', top = 0 } = view.page ?? {};
  const last = Math.max(0, lines.length - height);
  const first = Math.min(top ?? last, last);
  const name = kind === 'help' ? 'Keys' : `${kind} ${printable(subject)}`;
  const place =
    lines.length > height ? `, lines ${first + 1}-${first + height} of ${lines.length}` : '';
  const rule = ` ${name}${place} `;
  const title = `──${rule}${'─'.repeat(Math.max(0, size.columns - displayWidth(rule) - 2))}`;
  return { title, body: lines.slice(first, first + height) };
}

function words({ view, facts, paint }: Drawn): string {
  const { prompt, said } = view;
  if (prompt === null) {
    if (said !== '') return paint(printable(said), 'yellow');
    const isCut = view.pane === 'jobs' && facts.isCut && view.page === null;
    return isCut
      ? `Only ${facts.jobs.length} jobs are shown; --user and --state choose among all.`
      : '';
  }
  if (prompt.kind === 'filter') return `Filter: ${printable(prompt.text)}_`;
  if (prompt.kind === 'task') {
    return `Output of task of job ${prompt.subject}, its index: ${printable(prompt.text)}_`;
  }
  const { kind, subject } = prompt.action as TopAction;
  if (prompt.kind === 'sure')
    return paint(`${kind} job ${subject}? y: yes, any other key: no`, 'yellow');
  return `Reason to drain ${subject}: ${printable(prompt.text)}_`;
}

const KEYS_OF_LISTS = {
  jobs: 'Enter show  w why  l logs  c cancel  h hold  r release  / filter  Tab nodes  ? keys  q quit',
  nodes: 'Enter show  d drain  u undrain  / filter  Tab next  ? keys  q quit',
  gpus: 'Enter show its node  / filter  Tab jobs  ? keys  q quit',
};

function keys({ view }: Drawn): string {
  if (view.prompt?.kind === 'sure') return '';
  if (view.prompt !== null) return 'Enter done  Esc back';
  if (view.page === null) return KEYS_OF_LISTS[view.pane];
  return 'Esc back  ↑↓ PgUp PgDn Home End move  ? keys';
}

/** What `?` shows. */
export const HELP: readonly string[] = [
  'Lists',
  '  ↑ ↓ j k, PgUp PgDn, Home End   choose a row',
  '  Tab         jobs, nodes, and gpus where there are some',
  '  /           show only rows with these words; Esc takes the filter away',
  '  s           jobs: the newest first, or those that wait in the order of their start',
  'The chosen job',
  '  Enter  show it     w  why it waits     l  its output',
  '  c  cancel          h  hold             r  release',
  '  S  suspend         R  resume           Q  requeue',
  '  t  the output of one task of an array, by its index',
  'The chosen node',
  '  Enter  show it     d  drain            u  undrain',
  'Everywhere',
  '  Esc  back          Ctrl-L  draw anew   Ctrl-Z  stop for a while     q  quit',
];
