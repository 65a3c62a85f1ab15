// A head without a shell: one State, a virtual clock, and short words for what happens to it. After
// every input it checks the books, delivers reports a second time, and follows what nodes are told.

import './all-wings.ts';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HEAD_MACHINE } from '../../sim/head-machine.ts';
import { check } from '../../src/kernel/machine/check.ts';
import { type Decision, decide, type Input } from '../../src/kernel/machine/controller.ts';
import type { Command, Event } from '../../src/kernel/machine/declared.ts';
import type { StepRecord } from '../../src/kernel/machine/events.ts';
import type { RetiredJobs } from '../../src/kernel/machine/jobs/commands.ts';
import type { Job, Task } from '../../src/kernel/machine/jobs/facts.ts';
import type { Node } from '../../src/kernel/machine/nodes/facts.ts';
import { createState } from '../../src/kernel/machine/nouns.ts';
import { outstanding } from '../../src/kernel/machine/outstanding.ts';
import type { Reply } from '../../src/kernel/machine/reply.ts';
import { isCycleDue } from '../../src/kernel/machine/schedule.ts';
import type { Actor, Role } from '../../src/kernel/model/actor.ts';
import type { Code, Refusal } from '../../src/kernel/model/errors.ts';
import type { GpuCard } from '../../src/kernel/model/gpu.ts';
import type { EpochId, JobId, NodeName, TaskPlace, UserName } from '../../src/kernel/model/ids.ts';
import { parseTaskId } from '../../src/kernel/model/ids.ts';
import type { OutcomeKind } from '../../src/kernel/model/job.ts';
import type {
  EndCause,
  HeldEpoch,
  Order,
  ProcessEnd,
  Report,
} from '../../src/kernel/model/orders.ts';
import type { EndThere } from '../../src/kernel/model/processes.ts';
import { plainScheduling } from '../../src/kernel/model/scheduling.ts';
import type { Settings } from '../../src/kernel/model/settings.ts';
import type { Stored } from '../../src/kernel/model/staging.ts';
import type { Submission } from '../../src/kernel/model/submission.ts';
import { gpusOf, helloOf, type NodeOptions, resources } from './nodes.ts';
import { checkReplay, replayed } from './replay.ts';
import { SentOrders } from './sent-orders.ts';

/** An instant to start from; any would do. */
export const START_AT = 1_700_000_000_000;

/** What tests run with unless they say otherwise. */
export const SETTINGS: Settings = {
  nodeTimeoutMs: 15_000,
  killGraceMs: 10_000,
  crashLimit: 3,
  defaults: {
    nodeCount: 1,
    processesPerNode: 1,
    perNode: resources({ cpus: 1 }),
    walltimeMs: null,
  },
  scheduling: plainScheduling('first_fit'),
  retainedJobsMax: 10_000,
  archiveDefaultBytes: 64 * 1_048_576,
  buildMsMax: 3_600_000,
};

export function user(name: string, role: Role = 'user', uid: number | null = 1000): Actor {
  return { kind: 'user', name: name as UserName, uid, role };
}

export const ANN = user('ann');
export const BOB = user('bob');
export const OPERATOR = user('olga', 'operator');
export const ADMIN = user('ada', 'admin');

/** How a part ended; without words it is an exit with code 0. */
export interface EndOptions {
  readonly code?: number;
  readonly signal?: number;
  readonly cause?: EndCause;
  readonly nodeFault?: boolean;
  readonly detail?: string;
  readonly there?: EndThere;
  readonly stored?: Stored;
}

export interface SubmitOptions {
  readonly key?: string;
  readonly by?: Actor;
  readonly retired?: RetiredJobs;
}

/** Reads `42` or `42[7]`. */
export function place(text: string): TaskPlace {
  const read = parseTaskId(text);
  assert.ok(read.ok, text);
  return read.value;
}

export class TestHead {
  state = createState(HEAD_MACHINE);
  readonly records: StepRecord[] = [];
  settings: Settings;
  at = START_AT;
  #told = new SentOrders();
  /** Stops and goes that nodes have reported. */
  #turns = 0;

  constructor(settings: Partial<Settings> = {}) {
    this.settings = { ...SETTINGS, ...settings };
  }

  /** One step. Reports and the like are delivered twice: the second time nothing happens (S7). */
  perform(input: Input): Decision {
    const decision = this.once(input);
    if (input.kind !== 'command' && input.kind !== 'hello' && input.kind !== 'started') {
      const again = this.once(input);
      const more = input.kind === 'schedule' && isCycleDue(this.state);
      if (!more) assert.deepEqual(again.events, [], `${input.kind} delivered again`);
    }
    return decision;
  }

  /** One step, delivered once: the second cycle of a row is not the first again. */
  once(input: Input): Decision {
    const decision = decide(this.state, input, this.settings, this.at);
    if (!decision.result.ok) assert.deepEqual(decision.events, [], 'a refusal changes nothing');
    if (decision.events.length > 0) {
      this.records.push(structuredClone({ v: 1, at: this.at, events: decision.events }));
    }
    check(this.state);
    this.#told.follow(this.state, this.settings, decision.events);
    return decision;
  }

  /** Every book agrees with what the journal and a snapshot would bring back (S4). */
  finish(): void {
    checkReplay(this.state, this.records);
  }

  /** The head dies and starts again: memory is what the journal brings back. */
  crash(): readonly Event[] {
    this.finish();
    this.state = replayed(this.records);
    this.#told = new SentOrders();
    return this.perform({ kind: 'started' }).events;
  }

  command(command: Command, by: Actor = ADMIN): Reply {
    const { result } = this.perform({ kind: 'command', command, actor: by });
    assert.ok(result.ok, result.ok ? '' : `refused: ${result.error.code} ${words(result.error)}`);
    return result.value;
  }

  /** One command without the checks after it: for tests that need very many. */
  quietly(command: Command, by: Actor = ADMIN): void {
    const input: Input = { kind: 'command', command, actor: by };
    const { events } = decide(this.state, input, this.settings, this.at);
    this.records.push(structuredClone({ v: 1, at: this.at, events }));
  }

  /** The code of the refusal that must come. */
  refused(command: Command, by: Actor = ADMIN): Code {
    const { result } = this.perform({ kind: 'command', command, actor: by });
    assert.ok(!result.ok, `${command.kind} was not refused`);
    return result.error.code;
  }

  submit(wish: Partial<Submission> = {}, options: SubmitOptions = {}): JobId {
    const reply = this.command(submission(wish, options), options.by ?? ANN);
    assert.equal(reply.kind, 'submitted');
    return (reply as Extract<Reply, { kind: 'submitted' }>).jobId;
  }

  enroll(name: string, options: NodeOptions = {}): void {
    const { declared = null, given = [] } = options;
    this.command({
      kind: 'enroll_node',
      node: name as NodeName,
      secretHash: `hash of ${name}`,
      resources: declared === null ? null : resources(declared),
      labels: given,
      replace: this.state.nodes.has(name as NodeName),
    });
  }

  /** A node says hello; it is enrolled first when the head does not know it. */
  connect(name: string, options: NodeOptions = {}): readonly Event[] {
    if (!this.state.nodes.has(name as NodeName)) this.enroll(name, options);
    const decision = this.perform({ kind: 'hello', hello: helloOf(name, options) });
    assert.ok(decision.result.ok);
    return decision.events;
  }

  disconnect(name: string): readonly Event[] {
    const { session } = this.node(name);
    return this.perform({ kind: 'disconnected', node: name as NodeName, session }).events;
  }

  fault(name: string, fault: string | null): readonly Event[] {
    const { session } = this.node(name);
    return this.perform({ kind: 'fault', node: name as NodeName, session, fault }).events;
  }

  tellCards(name: string, cards: readonly GpuCard[]): readonly Event[] {
    const { session } = this.node(name);
    const gpus = gpusOf(cards);
    return this.perform({ kind: 'gpus', node: name as NodeName, session, gpus }).events;
  }

  silence(name: string, silentMs: number): readonly Event[] {
    return this.perform({ kind: 'silence', node: name as NodeName, silentMs }).events;
  }

  tick(passMs = 0): readonly Event[] {
    this.at += passMs;
    return this.perform({ kind: 'tick' }).events;
  }

  /** One cycle: what started, as `epoch@nodes`. */
  schedule(): string[] {
    const { events } = this.perform({ kind: 'schedule' });
    return events.map((event) => {
      assert.equal(event.kind, 'task_allocated');
      const { place: at, epoch, shares } = event as Extract<Event, { kind: 'task_allocated' }>;
      const task = at.index === null ? `${at.jobId}` : `${at.jobId}[${at.index}]`;
      return `${task}#${epoch}@${shares.map((share) => share.node).join('+')}`;
    });
  }

  report(name: string, report: Report, session = this.node(name).session): readonly Event[] {
    return this.perform({ kind: 'report', node: name as NodeName, session, report }).events;
  }

  /** The part on one node, or on every node that holds it, has started. */
  started(epoch: string, ...on: string[]): Event[] {
    const epochId = epoch as EpochId;
    return this.#onEach(epoch, on, (node) =>
      this.report(node, { kind: 'task_started', epochId, at: this.at, limits: 'cgroup' }),
    );
  }

  suspended(epoch: string, ...on: string[]): Event[] {
    return this.#turned('task_suspended', epoch, on);
  }

  resumed(epoch: string, ...on: string[]): Event[] {
    return this.#turned('task_resumed', epoch, on);
  }

  #turned(kind: 'task_suspended' | 'task_resumed', epoch: string, on: string[]): Event[] {
    this.#turns += 1;
    const report = { kind, epochId: epoch as EpochId, at: this.at, turn: this.#turns } as const;
    return this.#onEach(epoch, on, (node) => this.report(node, report));
  }

  storing(epoch: string, ...on: string[]): Event[] {
    const report = { kind: 'task_storing', epochId: epoch as EpochId, at: this.at } as const;
    return this.#onEach(epoch, on, (node) => this.report(node, report));
  }

  built(epoch: string, tookMs: number, ...on: string[]): Event[] {
    const of = { epochId: epoch as EpochId, at: this.at, tookMs };
    return this.#onEach(epoch, on, (node) => this.report(node, { kind: 'task_built', ...of }));
  }

  ended(epoch: string, options: EndOptions = {}, ...on: string[]): Event[] {
    return this.#onEach(epoch, on, (node) => this.report(node, endReport(epoch, this.at, options)));
  }

  #onEach(epoch: string, on: string[], act: (node: string) => readonly Event[]): Event[] {
    const nodes = on.length > 0 ? on : this.holders(epoch);
    assert.ok(nodes.length > 0, `${epoch} is held by some node`);
    return nodes.flatMap((node) => [...act(node)]);
  }

  /** Nodes with a claim of this epoch. */
  holders(epoch: string): string[] {
    return [...this.state.nodes.values()]
      .filter((node) => node.holding.has(epoch as EpochId))
      .map((node) => node.name);
  }

  /** What the agent of this node would say it holds, if it had done all it was told. */
  heldBy(name: string): HeldEpoch[] {
    return [...this.node(name).holding.values()].map(({ epochId, share, task: of }) => {
      const [task = '', epoch = ''] = epochId.split('#');
      const life = of === null || of.life === null ? {} : { life: of.life };
      return { epochId, place: place(task), epoch: Number(epoch), ...life, share };
    });
  }

  /** Submits, schedules and starts one task; its first epoch is `id#1`. */
  running(wish: Partial<Submission> = {}): JobId {
    const id = this.submit(wish);
    assert.equal(this.schedule().length, 1, 'it fits');
    this.started(`${id}#1`);
    return id;
  }

  /** Orders the node would get on a resend, as `kind epoch`. */
  orders(name: string): string[] {
    return outstanding(this.state, this.node(name), this.settings).map(orderWords);
  }

  job(id: JobId | number): Job {
    const job = this.state.jobs.get(id as JobId);
    assert.ok(job !== undefined, `job ${id} is in memory`);
    return job;
  }

  /** A task that has had an epoch and is not done. */
  task(text: string): Task {
    const { jobId, index } = place(text);
    const task = this.job(jobId).active.get(index ?? 0);
    assert.ok(task !== undefined, `task ${text} is active`);
    return task;
  }

  node(name: string): Node {
    const node = this.state.nodes.get(name as NodeName);
    assert.ok(node !== undefined, `node ${name} is known`);
    return node;
  }

  outcome(id: JobId | number): OutcomeKind | null {
    return this.job(id).outcome?.kind ?? null;
  }
}

export function submission(wish: Partial<Submission> = {}, options: SubmitOptions = {}): Command {
  return {
    kind: 'submit_job',
    submission: { program: { kind: 'argv', argv: ['/bin/work'] }, ...wish },
    key: options.key ?? null,
    retired: options.retired ?? {},
    ...(wish.mpi === undefined ? {} : { stepKey: 'a key' }),
  };
}

export function endReport(epoch: string, at: number, options: EndOptions = {}): Report {
  const { code, signal, cause = 'exited', nodeFault = false, detail, there, stored } = options;
  const exit = signal === undefined ? { code: code ?? 0 } : { signal };
  const ran = !['launch_failed', 'stage_failed', 'never_started', 'lost'].includes(cause);
  const processes: ProcessEnd[] = ran ? [{ rank: 0, exit }] : [];
  const usage = { userUs: 30, systemUs: 20, memoryPeakBytes: 4096 };
  const said = {
    ...(detail === undefined ? {} : { detail }),
    ...(there === undefined ? {} : { there }),
    ...(stored === undefined ? {} : { stored }),
  };
  const epochId = epoch as EpochId;
  return { kind: 'task_ended', epochId, at, cause, nodeFault, processes, usage, ...said };
}

export function orderWords(order: Order): string {
  return 'epochId' in order ? `${order.kind} ${order.epochId}` : order.kind;
}

export function kinds(events: readonly Event[]): string[] {
  return events.map((event) => event.kind);
}

function words(refusal: Refusal): string {
  return JSON.stringify(refusal.details);
}

/** A test of the controller; the journal is replayed at its end, whatever it was about. */
export function scenario(
  title: string,
  run: (head: TestHead) => void,
  settings: Partial<Settings> = {},
): void {
  test(title, () => {
    const head = new TestHead(settings);
    run(head);
    head.finish();
  });
}
