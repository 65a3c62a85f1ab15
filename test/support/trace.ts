// Little scripts that tell a head's life, one command a line, and what came of each: events, plans
// and what nodes are told. The words are listed in `ACTS`.

import assert from 'node:assert/strict';
import { parseDuration } from '../../src/kernel/base/duration.ts';
import type { Command, Event } from '../../src/kernel/machine/declared.ts';
import { isCycleDue } from '../../src/kernel/machine/schedule.ts';
import type { JobId, NodeName } from '../../src/kernel/model/ids.ts';
import type { Dependency, OnNodeLoss } from '../../src/kernel/model/job.ts';
import type { EndCause, HeldEpoch } from '../../src/kernel/model/orders.ts';
import type { Submission } from '../../src/kernel/model/submission.ts';
import { ADMIN, ANN, place, submission, TestHead } from './controller.ts';

type Options = Readonly<Record<string, string>>;

export class Trace {
  readonly #head = new TestHead();
  /** When each node was last heard. */
  readonly #heardAt = new Map<string, number>();
  readonly #left = new Map<string, HeldEpoch[]>();
  #lines: string[] = [];
  #told = new Set<string>();

  /** Carries out one line and says what came of it. */
  run(line: string): string[] {
    this.#lines = [];
    const words = line.split(/\s+/);
    const [verb = '', ...rest] = words;
    const named = rest.filter((word) => !word.includes('='));
    const options = Object.fromEntries(
      rest.filter((word) => word.includes('=')).map((word) => word.split(/=(.*)/s).slice(0, 2)),
    ) as Options;
    const act = ACTS[verb];
    assert.ok(act !== undefined, `no such command: ${line}`);
    act(this, named, options);
    for (let round = 0; isCycleDue(this.#head.state) && round < 9; round += 1) {
      for (const start of this.#head.schedule()) this.#lines.push(`start ${start}`);
    }
    this.#tell();
    return this.#lines;
  }

  /** Replays what happened and compares. */
  finish(): void {
    this.#head.finish();
  }

  get head(): TestHead {
    return this.#head;
  }

  note(events: readonly Event[]): void {
    for (const event of events) this.#lines.push(eventWords(event));
  }

  hear(node: string): void {
    this.#heardAt.set(node, this.#head.at);
  }

  /** The head is about to forget what runs there; the node is not. */
  leave(node: string): void {
    this.#left.set(node, this.#head.heldBy(node));
  }

  left(node: string): readonly HeldEpoch[] {
    return this.#left.get(node) ?? [];
  }

  /** Time passes; nodes that are cut off are silent, the others are heard all along. */
  pass(ms: number): void {
    this.note(this.#head.tick(ms));
    for (const { name, connected } of this.#head.state.nodes.values()) {
      if (connected) this.hear(name);
      const silentMs = this.#head.at - (this.#heardAt.get(name) ?? this.#head.at);
      if (!connected) this.note(this.#head.silence(name, silentMs));
    }
  }

  ask(command: Command, actor = ANN): void {
    const { events, result } = this.#head.perform({ kind: 'command', command, actor });
    if (!result.ok) this.#lines.push(`refused ${result.error.code}`);
    else if (result.value.kind === 'submitted') this.#lines.push(`job ${result.value.jobId}`);
    this.note(events.filter((event) => event.kind !== 'environment_added'));
  }

  say(line: string): void {
    this.#lines.push(line);
  }

  /** Orders that nodes on the line have not shown the effect of, and were not told before. */
  #tell(): void {
    const now = new Set<string>();
    for (const { name, connected, session } of this.#head.state.nodes.values()) {
      if (!connected) continue;
      for (const order of this.#head.orders(name)) {
        const key = `${name} ${session} ${order}`;
        now.add(key);
        if (!this.#told.has(key)) this.#lines.push(`tell ${name} ${order}`);
      }
    }
    this.#told = now;
  }
}

type Act = (trace: Trace, named: readonly string[], options: Options) => void;

const task =
  (kind: 'cancel_task' | 'suspend_task' | 'resume_task' | 'requeue_task'): Act =>
  (trace, [text = '']) =>
    trace.ask({ kind, place: place(text) });

const job =
  (kind: 'hold_job' | 'release_job'): Act =>
  (trace, [text = '']) =>
    trace.ask({ kind, jobId: Number(text) as JobId });

/** `start 1#1 n1`: a report from the named nodes, or from all that hold the epoch. */
const report =
  (kind: 'started' | 'suspended' | 'resumed'): Act =>
  (trace, [epoch = '', ...on]) =>
    trace.note(trace.head[kind](epoch, ...on));

const ACTS: Readonly<Record<string, Act>> = {
  connect,
  submit: (trace, _, options) => trace.ask(submission(wishOf(options), keyOf(options))),
  tick: (trace, [duration = '']) => trace.pass(milliseconds(duration)),
  drop: (trace, [node = '']) => trace.note(trace.head.disconnect(node)),
  fault: (trace, [node = '', ...words]) => trace.note(trace.head.fault(node, words.join(' '))),
  mended: (trace, [node = '']) => trace.note(trace.head.fault(node, null)),
  crash: (trace) => trace.note(trace.head.crash()),
  started: report('started'),
  suspended: report('suspended'),
  resumed: report('resumed'),
  ended: (trace, [epoch = '', ...on], { code, signal, cause, fault }) => {
    const how = {
      ...(code === undefined ? {} : { code: Number(code) }),
      ...(signal === undefined ? {} : { signal: Number(signal) }),
      ...(cause === undefined ? {} : { cause: cause as EndCause }),
      nodeFault: fault !== undefined,
    };
    trace.note(trace.head.ended(epoch, how, ...on));
  },
  cancel: task('cancel_task'),
  suspend: task('suspend_task'),
  resume: task('resume_task'),
  requeue: task('requeue_task'),
  hold: job('hold_job'),
  release: job('release_job'),
  drain: (trace, [node], { reason = 'repair' }) =>
    trace.ask({ kind: 'drain_node', node: node as NodeName, reason }, ADMIN),
  undrain: (trace, [node]) => trace.ask({ kind: 'undrain_node', node: node as NodeName }, ADMIN),
  lost: (trace, [node = '']) => {
    trace.leave(node);
    trace.ask({ kind: 'declare_node_lost', node: node as NodeName }, ADMIN);
  },
  show: (trace) => show(trace),
};

/**
 * `connect n1 cpus=2 boot=2 held=1#1,2#1`: by default it holds what had started there, and nothing
 * after a reboot. With `held` it may also name what it held when it was declared lost.
 */
function connect(trace: Trace, [name = '']: readonly string[], options: Options): void {
  const { head } = trace;
  const known = head.state.nodes.has(name as NodeName);
  const had = [...trace.left(name), ...(known ? head.heldBy(name) : [])];
  const forgot = options.boot === undefined ? undefined : 'none';
  const said = (options.held ?? forgot)?.split(',');
  const held: HeldEpoch[] =
    said === undefined
      ? had.filter(({ epochId }) => hasStarted(trace, name, epochId))
      : had.filter(({ epochId }) => said.includes(epochId));
  const gone = (said ?? []).filter(
    (one) => one !== 'none' && !had.some(({ epochId }) => epochId === one),
  );
  assert.deepEqual(gone, [], `${name} has held them`);
  const cpus = Number(options.cpus ?? (known ? head.node(name).total.cpuCount : 4));
  const bootId = options.boot ?? (known ? head.node(name).bootId : '1');
  trace.note(head.connect(name, { cpus, bootId, held }));
  trace.hear(name);
}

function hasStarted(trace: Trace, name: string, epochId: string): boolean {
  const holding = trace.head.node(name).holding.get(epochId as HeldEpoch['epochId']);
  const part = holding?.task?.parts.get(name as NodeName);
  return part === undefined || part.state !== 'ordered';
}

function wishOf(options: Options): Partial<Submission> {
  const { cpus, nodes, array, after, loss, held, nice, retries, begin, exclusive } = options;
  const [indices = '', runningMax] = (array ?? '').split('%');
  const limit = runningMax === undefined ? {} : { runningMax: Number(runningMax) };
  return {
    ...(cpus === undefined ? {} : { cpuCount: Number(cpus) }),
    ...(nodes === undefined ? {} : { nodeCount: Number(nodes) }),
    ...(array === undefined ? {} : { array: { indices, ...limit } }),
    ...(after === undefined ? {} : { dependencies: after.split(',').map(dependency) }),
    ...(loss === undefined ? {} : { onNodeLoss: lossOf(loss) }),
    ...(begin === undefined ? {} : { beginAt: 1_700_000_000_000 + milliseconds(begin) }),
    held: held !== undefined,
    nice: Number(nice ?? 0),
    retriesMax: Number(retries ?? 0),
    exclusive: exclusive !== undefined,
  };
}

function keyOf({ key }: Options): { key?: string } {
  return key === undefined ? {} : { key };
}

/** `3:ok` */
function dependency(text: string): Dependency {
  const [jobId, condition = 'ok'] = text.split(':');
  return { jobId: Number(jobId) as JobId, condition: condition as Dependency['condition'] };
}

/** `wait`, `requeue` or `lease:30s` */
function lossOf(text: string): OnNodeLoss {
  const [kind, duration] = text.split(':');
  if (kind === 'lease') return { kind, leaseMs: milliseconds(duration ?? '') };
  return { kind: kind as 'wait' | 'requeue' };
}

function milliseconds(text: string): number {
  const read = parseDuration(text);
  assert.ok(read.ok, text);
  return read.value;
}

/** One line per job and node. */
function show(trace: Trace): void {
  for (const { id, outcome, active, entry, held } of trace.head.state.jobs.values()) {
    const tasks = [...active.values()].map(({ id: task, epoch, state, heldBecause }) => {
      return `${task}#${epoch} ${heldBecause === null ? state : 'held'}`;
    });
    const pending = entry.pending.size > 0 ? [`pending ${entry.pending}`] : [];
    const words = outcome === null ? [...pending, ...tasks] : [`done ${outcome.kind}`];
    trace.say(`job ${id}: ${[...(held ? ['held'] : []), ...words].join(', ')}`);
  }
  for (const {
    name,
    free,
    connected,
    drain,
    unreachableSince,
  } of trace.head.state.nodes.values()) {
    const line = unreachableSince === null ? (connected ? 'connected' : 'cut off') : 'unreachable';
    const state = drain === null ? line : `${line}, drained`;
    const claims = trace.head.heldBy(name).map((held) => held.epochId);
    trace.say(
      `node ${name}: ${state}, ${free.cpuCount} cpus free, holds ${claims.join(' ') || 'nothing'}`,
    );
  }
}

/** The event's kind and what tells it from others. */
function eventWords(event: Event): string {
  const fields = event as unknown as Record<string, unknown>;
  const shown = ['epochId', 'jobId', 'on', 'node', 'session', 'stale', 'cause', 'why', 'indices']
    .filter((name) => fields[name] !== undefined && String(fields[name]) !== '')
    .map((name) => `${fields[name]}`);
  if ('place' in event) {
    const { jobId, index } = event.place;
    shown.unshift(index === null ? `${jobId}` : `${jobId}[${index}]`);
  }
  if (event.kind === 'node_connected') shown.unshift(event.hello.node);
  if ('abandoned' in event && event.abandoned.length > 0) {
    shown.push(`abandoned on ${event.abandoned.join('+')}`);
  }
  if ('outcome' in event && event.outcome !== undefined) {
    shown.push(`(${event.outcome.kind}: ${event.outcome.detail ?? 'ok'})`);
  }
  return [event.kind, ...shown].join(' ');
}
