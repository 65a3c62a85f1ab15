// All samples of a cluster at its head: what comes in, what is written once a minute, and what is asked for.

import type { Task } from '../../../kernel/machine/jobs/facts.ts';
import type { State } from '../../../kernel/machine/state.ts';
import type { EpochId, NodeName } from '../../../kernel/model/ids.ts';
import type { Clock } from '../../../kernel/ports/clock.ts';
import type { Log } from '../../../kernel/ports/log.ts';
import { unpack } from '../core/column.ts';
import { amountOf } from '../core/level-code.ts';
import { readLooks } from '../core/said.ts';
import { TaskCurve, type TaskName } from '../core/task-curve.ts';
import { LEVELS, levelFor, Track } from '../core/track.ts';
import { type JobUse, usedBy } from '../core/used.ts';
import type { SeriesChunk, TaskRow } from '../model/chunk.ts';
import type { Look, Point, TaskUse } from '../model/look.ts';
import type { OwnerUse, Shelf } from '../ports/shelf.ts';

const FLUSH_MS = 60_000;
const CLEAN_MS = 3_600_000;
/** Nobody looks at a task any more that was not seen for so long. */
const QUIET_MS = 300_000;
const TASKS_KEPT_MS = 90 * 86_400_000;
export const TASKS_KEPT_MAX = 1_000_000;
/** How many tasks of one job an answer looks at. */
const TASKS_PER_ANSWER_MAX = 1000;
const STEPS_PER_ANSWER_MAX = 1500;

/** By figure: `cpu`, `memory`, `gpu0`, `gpu0-memory`. */
type Tracks = Map<string, Track>;

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
  readonly gpus: readonly GpuCurves[];
}

export interface GpuCurves {
  /** The card's number on the node. */
  readonly number: number;
  readonly busyPercent: Curve;
  readonly memoryBytes: Curve;
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
  #count = 0;

  constructor(shelf: Shelf, clock: Clock, log: Log) {
    this.#shelf = shelf;
    this.#clock = clock;
    this.#log = log;
    this.#flushedAt = clock.monotonic();
  }

  /** What an agent says of its own node: of tasks it is believed that the node has them. */
  hear(state: State, name: NodeName, said: unknown): void {
    const looks = readLooks(said, this.#clock.now());
    if (looks === null) return this.#complain(name);
    if (!state.nodes.has(name)) return;
    for (const look of looks) {
      this.#addNode(name, look);
      for (const use of look.tasks) this.#addTask(state, name, look.at, use);
    }
    const look = looks.at(-1);
    if (look !== undefined) this.#last.set(name, { at: look.at, look });
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
      const track = tracks.get(figure) ?? new Track();
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
      const holding = state.nodes.get(node)?.holding.get(use.epochId as EpochId);
      if (holding === undefined || holding.task === null) return;
      curve = new TaskCurve(nameOf(holding.task, use.epochId, node), at);
      this.#tasks.set(key, curve);
    }
    if (curve.add(at, use)) this.#grown.add(key);
    this.#count += 2;
  }

  tick(state: State): void {
    if (this.#clock.monotonic() - this.#flushedAt < FLUSH_MS) return;
    this.flush(state);
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
    const tasks = [...this.#grown].flatMap((key) => this.#tasks.get(key)?.row() ?? []);
    this.#grown.clear();
    this.#forget(state);
    try {
      this.#shelf.put(chunks, tasks);
      this.#clean();
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
    for (const { stepMs, keepMs, mean, peak, steps } of LEVELS) {
      const before = Math.floor((now - keepMs) / stepMs) - steps;
      for (const line of new Set([mean, peak])) this.#shelf.dropChunks(line, before);
    }
    this.#shelf.dropTasks(now - TASKS_KEPT_MS, TASKS_KEPT_MAX);
  }

  /** Returns null when nobody has looked at any of its tasks. */
  jobUse(jobId: number): JobUse | null {
    const rows = new Map<string, TaskRow>();
    for (const row of this.#shelf.tasksOf(jobId, TASKS_PER_ANSWER_MAX)) {
      rows.set(`${row.epochId} ${row.node}`, row);
    }
    for (const key of this.#grown) {
      const row = key.startsWith(`${jobId}`) ? this.#tasks.get(key)?.row() : undefined;
      if (row?.jobId === jobId) rows.set(key, row);
    }
    return usedBy([...rows.values()]);
  }

  byOwner(since: number): readonly OwnerUse[] {
    return this.#shelf.byOwner(since);
  }

  nodeCurves(name: NodeName, from: number): NodeCurves {
    const now = this.#clock.now();
    const level = levelFor(from, now, STEPS_PER_ANSWER_MAX);
    const { stepMs } = level;
    const first = Math.floor(from / stepMs);
    const count = Math.min(STEPS_PER_ANSWER_MAX, Math.floor(now / stepMs) - first + 1);
    const of = (figure: string): Curve => {
      const read = (line: number) => this.#column(name, figure, { line, first, count });
      return { mean: read(level.mean), peak: read(level.peak) };
    };
    const gpus = this.#gpusOf(name).map((number) => {
      return { number, busyPercent: of(`gpu${number}`), memoryBytes: of(`gpu${number}-memory`) };
    });
    return { from: first * stepMs, stepMs, cpu: of('cpu'), memory: of('memory'), gpus };
  }

  /** Numbers of those that have told since the head was started. */
  #gpusOf(name: NodeName): number[] {
    const figures = [...(this.#nodes.get(name)?.keys() ?? [])];
    const numbers = figures.flatMap((figure) => /^gpu(\d+)$/.exec(figure)?.[1] ?? []);
    return numbers.map(Number).sort((a, b) => a - b);
  }

  #column(
    name: NodeName,
    figure: string,
    {
      line,
      first,
      count,
    }: { readonly line: number; readonly first: number; readonly count: number },
  ): Point[] {
    const points: Point[] = Array.from({ length: count }, () => null);
    const fill = (start: number, codes: readonly number[]): void => {
      codes.forEach((code, at) => {
        const place = start + at - first;
        const amount = amountOf(code);
        if (place >= 0 && place < count && amount !== null) points[place] = Math.round(amount);
      });
    };
    const steps = LEVELS.find(({ mean, peak }) => mean === line || peak === line)?.steps ?? 0;
    const rows = this.#shelf.chunks(`${name}/${figure}`, line, first - steps, first + count);
    for (const { start, bytes } of rows) fill(start, unpack(bytes));
    const lines = this.#nodes.get(name)?.get(figure)?.lines ?? [];
    const tail = lines.find((one) => one.number === line)?.tail;
    if (tail != null) fill(tail.start, tail.codes);
    return points;
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

function nameOf({ job }: Task, epochId: string, node: NodeName): TaskName {
  const { cpuCount, memoryBytes, gpuCount } = job.spec.request.perNode;
  return {
    jobId: job.id,
    epochId,
    node,
    owner: job.owner,
    cpuMilliAsked: cpuCount * 1000,
    memoryBytesAsked: memoryBytes,
    gpuMilliAsked: gpuCount * 1000,
  };
}

function* figuresOf({ node, gpus }: Look): Generator<readonly [figure: string, amount: number]> {
  if (node !== null) {
    yield ['cpu', node.cpuMilli];
    yield ['memory', node.memoryBytes];
  }
  for (const { number, busyPercent, memoryBytes } of gpus) {
    yield [`gpu${number}`, busyPercent];
    yield [`gpu${number}-memory`, memoryBytes];
  }
}
