// All samples of a cluster at its head: what comes in, what is written once a minute, and what is
// asked for.

import type { State } from '../../../kernel/machine/state.ts';
import type { EpochId, NodeName } from '../../../kernel/model/ids.ts';
import type { Clock } from '../../../kernel/ports/clock.ts';
import type { Log } from '../../../kernel/ports/log.ts';
import { unpack } from '../core/column.ts';
import { Merged } from '../core/merged.ts';
import { readLooks } from '../core/said.ts';
import { TaskCurve } from '../core/task-curve.ts';
import { type Grid, gridFor, LEVELS, Track } from '../core/track.ts';
import { type JobUse, usedBy, withLive } from '../core/used.ts';
import type { Holder, SeriesChunk } from '../model/chunk.ts';
import type { GpuUse, Look, NodeFlow, Point, TaskUse } from '../model/look.ts';
import type { OwnerUse, Shelf } from '../ports/shelf.ts';
import { nameOf } from './task-name.ts';

const FLUSH_MS = 60_000;
const CLEAN_MS = 3_600_000;
/** Nobody looks at a task any more that was not seen for so long. */
const QUIET_MS = 300_000;
const TASKS_KEPT_MS = 90 * 86_400_000;
export const TASKS_KEPT_MAX = 1_000_000;
/** Series that are cleaned together: a tick takes some milliseconds of it. */
const SERIES_PER_TICK = 50;
const STEPS_PER_ANSWER_MAX = 1500;
/** Steps of each card where all are shown together. */
const MAP_STEPS_MAX = 80;

/** By figure: `cpu`, `memory`, `disk-read`, `gpu0`, `gpu0-memory`, `gpu0-watts`. */
type Tracks = Map<string, Track>;

/** Figures that change slowly, or of which the mean says all. */
const STEADY = /-(?:watts|celsius|slowed|errors)$/;

interface Curve {
  readonly mean: readonly Point[];
  readonly peak: readonly Point[];
}

export interface NodeCurves {
  readonly from: number;
  readonly stepMs: number;
  /** In thousandths of a cpu. */
  readonly cpu: Curve;
  /** Bytes. */
  readonly memory: Curve;
  /** Bytes a second. */
  readonly flow: FlowCurves;
  readonly gpus: readonly GpuCurves[];
}

export interface FlowCurves {
  readonly read: Curve;
  readonly written: Curve;
  readonly received: Curve;
  readonly sent: Curve;
}

export interface GpuCurves {
  /** The card's number on the node. */
  readonly number: number;
  readonly busyPercent: Curve;
  readonly memoryBytes: Curve;
  /** Means, as the following. */
  readonly watts: readonly Point[];
  readonly celsius: readonly Point[];
  /** Percent of looks at which something kept it slow. */
  readonly slowedPercent: readonly Point[];
  /** Errors of its memory that it had corrected, where there were any. */
  readonly correctedErrors: readonly Point[];
}

export class Samples {
  readonly #shelf: Shelf;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #nodes = new Map<NodeName, Tracks>();
  readonly #last = new Map<NodeName, { readonly at: number; readonly look: Look }>();
  /** By epoch and node. */
  readonly #tasks = new Map<string, TaskCurve>();
  readonly #grown = new Set<string>();
  readonly #unread = new Set<NodeName>();
  #done: SeriesChunk[] = [];
  #flushedAt: number;
  #cleanedAt = Number.NEGATIVE_INFINITY;
  /** Series of which old chunks were dropped last; null: all are done. */
  #cleaned: string | null = null;
  #count = 0;

  constructor(shelf: Shelf, clock: Clock, log: Log) {
    this.#shelf = shelf;
    this.#clock = clock;
    this.#log = log;
    this.#flushedAt = clock.monotonic();
  }

  /**
   * What an agent says of its own node: of tasks it is believed that the node has them. Returns its
   * looks.
   */
  hear(state: State, name: NodeName, said: unknown): readonly Look[] {
    const looks = readLooks(said, this.#clock.now());
    if (looks === null) this.#complain(name);
    if (looks === null || !state.nodes.has(name)) return [];
    for (const look of looks) {
      this.#addNode(name, look);
      for (const use of look.tasks) this.#addTask(state, name, look.at, use);
    }
    const look = looks.at(-1);
    if (look !== undefined) this.#last.set(name, { at: look.at, look });
    return looks;
  }

  /** Once of each node: it says the same every ten seconds. */
  #complain(node: NodeName): void {
    if (this.#unread.has(node)) return;
    this.#unread.add(node);
    this.#log.warn({ node }, 'samples that cannot be read');
  }

  #addNode(name: NodeName, look: Look): void {
    const tracks: Tracks = this.#nodes.get(name) ?? new Map();
    this.#nodes.set(name, tracks);
    for (const [figure, amount] of figuresOf(look)) {
      const track = tracks.get(figure) ?? new Track({ hasPeaks: !STEADY.test(figure) });
      tracks.set(figure, track);
      const series = `${name}/${figure}`;
      const earlier = (line: number, start: number) => this.#shelf.chunk(series, line, start);
      for (const chunk of track.add(look.at, amount, earlier))
        this.#done.push({ series, ...chunk });
      this.#count += 1;
    }
  }

  #addTask(state: State, node: NodeName, at: number, use: TaskUse): void {
    const key = `${use.epochId} ${node}`;
    let curve = this.#tasks.get(key);
    if (curve === undefined) {
      const place = state.nodes.get(node);
      const holding = place?.holding.get(use.epochId as EpochId);
      const name = place === undefined || holding === undefined ? null : nameOf(holding, place);
      if (name === null) return;
      const row = this.#shelf.task(name.jobId, name.epochId, node);
      curve = row === null ? new TaskCurve(name, at) : TaskCurve.after(row, name);
      this.#tasks.set(key, curve);
    }
    if (curve.add(at, use)) this.#grown.add(key);
    this.#count += 2;
  }

  tick(state: State): void {
    if (this.#clock.monotonic() - this.#flushedAt >= FLUSH_MS) return this.flush(state);
    if (this.#cleaned !== null) this.#try(() => this.#cleanSome());
  }

  /** Writes what has come since. What cannot be written is lost: nobody waits for it. */
  flush(state: State | null): void {
    this.#flushedAt = this.#clock.monotonic();
    const chunks = this.#done;
    this.#done = [];
    for (const [name, tracks] of this.#nodes) {
      for (const [figure, track] of tracks) {
        const series = `${name}/${figure}`;
        for (const chunk of track.grown()) chunks.push({ series, ...chunk });
      }
    }
    const curves = [...this.#grown].flatMap((key) => this.#tasks.get(key) ?? []);
    const rows = curves.map((curve) => curve.row());
    this.#grown.clear();
    this.#forget(state);
    this.#try(() => {
      this.#shelf.put(chunks, rows);
      for (const [at, row] of rows.entries()) curves[at]?.wrote(row);
      this.#clean();
    });
  }

  #try(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#log.warn({ error: String(error) }, 'samples could not be written');
    }
  }

  #forget(state: State | null): void {
    const now = this.#clock.now();
    for (const [key, { until }] of this.#tasks) {
      if (now - until > QUIET_MS) this.#tasks.delete(key);
    }
    for (const name of this.#nodes.keys()) {
      if (state?.nodes.has(name) !== false) continue;
      this.#nodes.delete(name);
      this.#last.delete(name);
      this.#unread.delete(name);
    }
  }

  #clean(): void {
    const now = this.#clock.now();
    if (this.#clock.monotonic() - this.#cleanedAt < CLEAN_MS) return;
    this.#cleanedAt = this.#clock.monotonic();
    this.#shelf.dropTasks(now - TASKS_KEPT_MS, TASKS_KEPT_MAX);
    this.#cleaned ??= '';
    this.#cleanSome();
  }

  #cleanSome(): void {
    const now = this.#clock.now();
    const olds = LEVELS.flatMap(({ stepMs, keepMs, mean, peak, steps }) => {
      const before = Math.floor((now - keepMs) / stepMs) - steps;
      return [...new Set([mean, peak])].map((line) => ({ line, before }));
    });
    const after = this.#cleaned ?? '';
    // What fails is tried again in an hour, not at each tick.
    this.#cleaned = null;
    this.#cleaned = this.#shelf.dropChunks(after, olds, SERIES_PER_TICK);
  }

  /** Returns null when nobody has looked at any of its tasks. */
  jobUse(jobId: number): JobUse | null {
    const live = [...this.#grown].flatMap((key) => this.#tasks.get(key) ?? []);
    const own = live.filter((curve) => curve.jobId === jobId);
    const sums = withLive(this.#shelf.sumsOf(jobId), own);
    if (sums.parts !== 1) return usedBy(sums, null);
    return usedBy(sums, own[0]?.row() ?? this.#shelf.tasksOf(jobId, 1)[0] ?? null);
  }

  byOwner(since: number, owner: string | null): readonly OwnerUse[] {
    return this.#shelf.byOwner(since, owner);
  }

  /** How much a card is used, as was told last; null: not for some minutes. */
  lastOf(name: NodeName, number: number): GpuUse | null {
    const last = this.#last.get(name);
    if (last === undefined || this.#clock.now() - last.at > QUIET_MS) return null;
    return last.look.gpus.find((one) => one.number === number) ?? null;
  }

  /** Tasks that had gpus of the node since then, the latest first. */
  holders(name: NodeName, since: number, max: number): readonly Holder[] {
    return this.#shelf.holders(name, since, max);
  }

  nodeCurves(name: NodeName, from: number): NodeCurves {
    const grid = gridFor(from, this.#clock.now(), STEPS_PER_ANSWER_MAX);
    const { first, merged, level } = grid;
    const of = (figure: string): Curve => this.#curve(name, figure, grid);
    const meansOf = (figure: string): readonly Point[] =>
      this.#column(name, figure, { line: level.mean, grid }).means();
    const gpus = this.#gpusOf(name).map((number) => ({
      number,
      busyPercent: of(`gpu${number}`),
      memoryBytes: of(`gpu${number}-memory`),
      watts: meansOf(`gpu${number}-watts`),
      celsius: meansOf(`gpu${number}-celsius`),
      slowedPercent: meansOf(`gpu${number}-slowed`),
      correctedErrors: meansOf(`gpu${number}-errors`),
    }));
    const stepMs = level.stepMs * merged;
    const [cpu, memory] = [of('cpu'), of('memory')];
    const flow = {
      read: of('disk-read'),
      written: of('disk-written'),
      received: of('net-received'),
      sent: of('net-sent'),
    };
    return { from: first * level.stepMs, stepMs, cpu, memory, flow, gpus };
  }

  /**
   * One figure of many gpus, on one grid. Its last step is not over: there the last look stands.
   */
  gpuMeans(from: number) {
    const grid = gridFor(from, this.#clock.now(), MAP_STEPS_MAX);
    const { first, level, merged } = grid;
    const meansOf = (name: NodeName, figure: string): readonly Point[] => {
      const means = this.#column(name, figure, { line: level.mean, grid }).means();
      return means.with(-1, this.#lastOf(name, figure) ?? means.at(-1) ?? null);
    };
    return { from: first * level.stepMs, stepMs: level.stepMs * merged, meansOf };
  }

  #lastOf(name: NodeName, figure: string): Point {
    const last = this.#last.get(name);
    if (last === undefined || this.#clock.now() - last.at > QUIET_MS) return null;
    for (const [one, amount] of figuresOf(last.look)) if (one === figure) return amount;
    return null;
  }

  /** Numbers of those that have told since the head was started. */
  #gpusOf(name: NodeName): number[] {
    const figures = [...(this.#nodes.get(name)?.keys() ?? [])];
    const numbers = figures.flatMap((figure) => /^gpu(\d+)$/.exec(figure)?.[1] ?? []);
    return numbers.map(Number).sort((a, b) => a - b);
  }

  #curve(name: NodeName, figure: string, grid: Grid): Curve {
    const { mean, peak } = grid.level;
    const means = this.#column(name, figure, { line: mean, grid });
    const peaks = mean === peak ? means : this.#column(name, figure, { line: peak, grid });
    return { mean: means.means(), peak: peaks.peaks() };
  }

  #column(
    name: NodeName,
    figure: string,
    { line, grid }: { readonly line: number; readonly grid: Grid },
  ): Merged {
    const { first, count, level, merged } = grid;
    const column = new Merged(grid);
    const end = first + count * merged;
    const rows = this.#shelf.chunks(`${name}/${figure}`, line, first - level.steps, end);
    const lines = this.#nodes.get(name)?.get(figure)?.lines ?? [];
    const tail = lines.find((one) => one.number === line)?.tail ?? null;
    // What is written of the open chunk is in its tail, and more.
    for (const { start, bytes } of rows)
      if (start !== tail?.start) column.add(start, unpack(bytes));
    if (tail !== null) column.add(tail.start, tail.codes);
    return column;
  }

  /** What was seen last of each node that still tells. */
  *latest(): Generator<readonly [NodeName, Look]> {
    const now = this.#clock.now();
    for (const [name, { at, look }] of this.#last) {
      if (now - at < QUIET_MS) yield [name, look];
    }
  }

  /** Since the head was started. */
  get samples(): number {
    return this.#count;
  }

  get bytes(): number {
    return this.#shelf.bytes();
  }

  close(): void {
    this.flush(null);
    this.#shelf.close();
  }
}

function* figuresOf({ node, gpus }: Look): Generator<readonly [figure: string, amount: number]> {
  if (node !== null) {
    yield ['cpu', node.cpuMilli];
    yield ['memory', node.memoryBytes];
    if (node.flow !== undefined) yield* flowFigures(node.flow);
  }
  for (const gpu of gpus) {
    const { number, busyPercent, memoryBytes, watts, celsius, slowedBy, correctedErrors = 0 } = gpu;
    yield [`gpu${number}`, busyPercent];
    yield [`gpu${number}-memory`, memoryBytes];
    if (watts !== undefined) yield [`gpu${number}-watts`, watts];
    if (celsius !== undefined) yield [`gpu${number}-celsius`, celsius];
    if (slowedBy !== undefined) yield [`gpu${number}-slowed`, slowedBy === null ? 0 : 100];
    // Most cards never have one: nothing is kept of these.
    if (correctedErrors > 0) yield [`gpu${number}-errors`, correctedErrors];
  }
}

function* flowFigures(flow: NodeFlow): Generator<readonly [figure: string, amount: number]> {
  yield ['disk-read', flow.readRate];
  yield ['disk-written', flow.writtenRate];
  yield ['net-received', flow.receivedRate];
  yield ['net-sent', flow.sentRate];
}
