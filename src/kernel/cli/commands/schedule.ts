// `weft schedule`: what ran, runs and is planned on which nodes, as bars over time, a table, or a
// picture.

import type { ReplyOf } from '../../api/routes.ts';
import type { ScheduleBar } from '../../api/schedule.ts';
import { IntervalSet } from '../../base/interval-set.ts';
import { didYouMean } from '../../base/nearest-word.ts';
import { plural } from '../../base/plural.ts';
import type { Api } from '../../connect/api.ts';
import { usage } from '../../model/failure.ts';
import { parseNodeName } from '../../model/ids.ts';
import type { Context } from '../context.ts';
import { instantBefore } from '../jobs/instant-before.ts';
import { readLimit } from '../jobs/row-options.ts';
import { defineListing, type ListingOptions } from '../output/listing.ts';
import { colourOf } from '../output/paint.ts';
import type { Column } from '../output/table.ts';
import { instantColumn } from '../output/times.ts';
import { formatSpan } from '../output/words.ts';
import { writeWhole } from '../output/write-whole.ts';
import { type Picture, rowsOf, sightOf } from '../schedule/picture.ts';
import { scheduleSvg } from '../schedule/svg.ts';
import { textBars } from '../schedule/text-bars.ts';
import { parseInstant } from '../submit/instant.ts';
import { read } from '../submit/read.ts';
import { defineVerb } from '../verb.ts';

interface Options extends ListingOptions {
  readonly since?: string;
  readonly until?: string;
  readonly node?: string;
  readonly partition?: string;
  readonly limit?: string;
  readonly plot?: boolean;
  readonly svg?: string;
}

/** What is over is asked for up to here: the last of it. */
const PAST_MAX = 5000;
const NODES_SHOWN = '200';
/** Columns of bars where there is no terminal. */
const PLOT_WIDTH = 80;

export const verb = defineVerb<Options>({
  define(command) {
    command.option('--since <time>', 'from: 2h (ago), 18:30, 2026-01-31 (default: up to 1h ago)');
    command.option('--until <time>', 'up to: +2h, 18:30, 2026-01-31 (default: what is known)');
    command.option('--node <names>', 'only these nodes, with commas between them');
    command.option('-p, --partition <name>', 'only nodes of this partition');
    command.option(
      '--limit <count>',
      'at most this many nodes as bars or in a picture',
      NODES_SHOWN,
    );
    command.option('--plot', 'bars over time, also where there is no terminal');
    command.option('--svg <file>', 'write an SVG picture there; - for standard output');
    defineListing(command);
  },
  async run({ context, options }) {
    const range = readRange(options);
    const names = readNames(options.node);
    const limit = readLimit(options.limit ?? NODES_SHOWN);
    const isTable = !options.plot && options.svg === undefined;
    if (options.output !== undefined && !isTable) {
      throw usage('--output: leave it out with --plot and --svg, which are no lists');
    }
    const api = await context.api();
    const [plan, nodes] = await Promise.all([
      fetchPlan(api, range.since, names),
      nodesShown(api, names, options.partition),
    ]);
    const known = new Set(nodes);
    const until = range.until ?? Number.POSITIVE_INFINITY;
    const bars = plan.bars.filter((bar) => {
      return bar.from < until && bar.nodes.some((name) => known.has(name));
    });
    if (isTable && (options.output !== undefined || !context.terminal.outIsTerminal)) {
      await list(context, { bars, at: plan.at }, options.output);
    } else if (nodes.length === 0) {
      context.print('No nodes.');
    } else {
      const sight = sightOf(bars, plan.at, { sinceDefault: plan.at - HOUR_MS, ...range });
      const rows = rowsOf(bars, nodes, sight);
      draw(context, { at: plan.at, sight, rows: rows.slice(0, limit) }, options.svg);
      if (rows.length > limit) {
        const more = plural(rows.length - limit, 'more node');
        context.note(`${more}; --node and --partition choose, --limit shows more`);
      }
    }
    for (const note of [...notes(plan), ...guessNotes(bars, plan.at)]) context.note(note);
    return 0;
  },
});

const HOUR_MS = 3_600_000;

function readRange({ since, until }: Options): { since?: number; until?: number } {
  const end = read('--until', until, (text) => parseInstant(text, Date.now()));
  if (end === undefined && since === undefined) return {};
  const begin = instantBefore('--since', since) ?? Math.min(Date.now(), end ?? 0) - HOUR_MS;
  if (end === undefined) return { since: begin };
  if (begin >= end) throw usage('--since: that is not before --until');
  return { since: begin, until: end };
}

function readNames(text: string | undefined): readonly string[] | null {
  if (text === undefined) return null;
  return text.split(',').map((name) => read('--node', name.trim(), parseNodeName) as string);
}

/** Without `from` the head tells what has ended for an hour. */
function fetchPlan(api: Api, from: number | undefined, names: readonly string[] | null) {
  const [node] = names?.length === 1 ? names : [];
  const query = { limit: PAST_MAX, from, node };
  return api.call('schedule', { query });
}

/** Throws for names that nobody has. */
async function nodesShown(
  api: Api,
  names: readonly string[] | null,
  partition: string | undefined,
): Promise<readonly string[]> {
  const all = await nodesOf(api, partition);
  if (names === null) return all;
  const known = new Set(all);
  const unknown = names.find((name) => !known.has(name));
  if (unknown === undefined) return [...new Set(names)];
  const where = partition === undefined ? '' : ` in partition ${partition}`;
  throw usage(`--node: there is no node '${unknown}'${where}.${didYouMean(unknown, all)}`);
}

async function nodesOf(api: Api, partition: string | undefined): Promise<readonly string[]> {
  if (partition === undefined) {
    const { nodes } = await api.call('listNodes');
    return nodes.map(({ name }) => name);
  }
  const { nodes } = await api.call('getPartition', { params: { name: partition } });
  return nodes;
}

async function list(
  context: Context,
  { bars, at }: { bars: readonly ScheduleBar[]; at: number },
  output: string | undefined,
): Promise<void> {
  const sorted = bars.toSorted((one, other) => one.from - other.from || one.jobId - other.jobId);
  const rows = output === undefined ? folded(sorted) : sorted;
  const name = ({ id }: ScheduleBar) => id;
  const empty = 'Nothing ran, runs or is planned in that time.';
  await context.list({ rows, columns: scheduleColumns(at), name, empty }, output);
}

function draw(context: Context, picture: Picture, svg: string | undefined): void {
  if (svg === undefined) {
    const look = { width: context.width || PLOT_WIDTH, paint: context.paint };
    for (const line of textBars(picture, look)) context.print(line);
    return;
  }
  const text = scheduleSvg(picture);
  if (svg === '-') return context.out(text);
  writeWhole(context.cwd, { flag: '--svg', file: svg }, text);
  context.note(`wrote ${svg}`);
}

/** Sites decide themselves when they start what the plan gives to them. */
function guessNotes(bars: readonly ScheduleBar[], at: number): string[] {
  const guesses = new Map(bars.flatMap(({ guess }) => (guess ? [[guess.site, guess]] : [])));
  return [...guesses.values()].map(({ site, listedAt }) => {
    const age = listedAt === null ? '' : ` ${formatSpan(at - listedAt)} ago`;
    return `when ${site} starts what is planned there is guessed from its listing${age}`;
  });
}

function notes({ isWhole, isPastWhole, isRunningWhole }: ReplyOf<'schedule'>): string[] {
  return [
    ...(isPastWhole ? [] : [`of what has ended, only the last ${PAST_MAX} are shown`]),
    ...(isRunningWhole ? [] : ['more tasks run than are shown; --node chooses']),
    ...(isWhole ? [] : ['more tasks wait than a plan looks at']),
  ];
}

/** The schedule as a table: a line for each task. */
function scheduleColumns(now: number): Column<ScheduleBar>[] {
  return [
    { title: 'TASK', value: ({ id }) => id },
    { title: 'NAME', value: ({ name }) => name || '-', least: 8 },
    { title: 'USER', value: ({ owner }) => owner || '-', least: 8 },
    { title: 'STATE', value: stateWord, colour: (words) => colourOf(words) ?? 'yellow' },
    instantColumn('FROM', ({ from }) => from, { now }),
    instantColumn('UNTIL', ({ until }) => until, { now, none: 'no limit' }),
    { title: 'NODES', value: ({ nodes }) => nodes.join(',') || '-', least: 6 },
  ];
}

function stateWord({ kind, word, guess }: ScheduleBar): string {
  if (kind !== 'planned') return word;
  return guess === undefined ? 'planned' : 'guessed';
}

/**
 * The bars in order; tasks of an array in one state stand where the first of them does. Each start
 * of a plain job is a line.
 */
function folded(bars: readonly ScheduleBar[]): ScheduleBar[] {
  const groups = new Map<string, ScheduleBar[]>();
  for (const bar of bars) {
    const { id, jobId, kind, word, guess } = bar;
    const isPlain = !id.includes('[');
    const key = isPlain ? `${groups.size}` : `${jobId} ${kind} ${word} ${guess?.site ?? ''}`;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [bar]);
    else group.push(bar);
  }
  return [...groups.values()].map(asOne);
}

function asOne(bars: readonly ScheduleBar[]): ScheduleBar {
  const [first] = bars as [ScheduleBar];
  if (bars.length === 1) return first;
  const ends = bars.map(({ until }) => until);
  const last = ends.some((end) => end === null) ? null : Math.max(...(ends as number[]));
  const indices = new IntervalSet();
  for (const { id } of bars) indices.add(Number(/\[(\d+)/.exec(id)?.[1]));
  const from = Math.min(...bars.map((bar) => bar.from));
  const nodes = [...new Set(bars.flatMap((bar) => bar.nodes))];
  return { ...first, id: `${first.jobId}[${indexWords(indices)}]`, from, until: last, nodes };
}

/** `0-9,12`. */
function indexWords(indices: IntervalSet): string {
  const parts = indices
    .intervals()
    .map(([from, to]) => (from === to ? `${from}` : `${from}-${to}`));
  return parts.join(',');
}
