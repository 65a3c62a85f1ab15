// The cycle that repairs: looks at nodes, compares them with their goals, and has those that differ
// repaired in maintenance. What it must not forget is in the maintenance itself.

import type { Node } from '../../core/controller/nodes/facts.ts';
import { type CheckResult, compareGoals } from '../../core/goals/compare.ts';
import { type Difference, describeDifference, type GoalClass } from '../../core/goals/goal.ts';
import { type GoalNode, type GoalStep, planGoals, REPAIRS_MAX } from '../../core/goals/plan.ts';
import { checkScript, readReport, repairScript } from '../../core/goals/script.ts';
import { formatRefusal } from '../../core/model/errors.ts';
import type { JobId, NodeName } from '../../core/model/ids.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import type { Engine } from '../engine.ts';
import type { LogFiles } from '../logs/log-files.ts';
import { canCheck, factsOf } from './facts.ts';
import { classOf, GIVEN_UP, goalNode, pastRepairs } from './nodes.ts';
import type { GoalSourceState } from './source.ts';

/** A look that takes longer has found nothing. */
const LOOK_MS = 120_000;
/** Nodes that are looked at at once. */
const LOOKS_MAX = 16;
/** Output of a look that is read. */
const REPORT_BYTES_MAX = 128 * 1024;
/** After the end of a look its output may still be on its way. */
const OUTPUT_WAIT_MS = 5000;
/** Between two requests for maintenance that were refused. */
const REFUSED_MS = 60_000;
/** Reasons of maintenance and drains are read in tables. */
const REASON_LENGTH_MAX = 900;

export interface GoalOptions {
  readonly classes: readonly GoalClass[];
  /** Between two looks at a node. */
  readonly everyMs: number;
  /** False: repairs are only asked for by people. */
  readonly repairs: boolean;
  /** The address that they are from; absent: they are from none. */
  readonly url?: string;
}

export interface GoalPorts {
  readonly engine: Engine;
  readonly logs: Pick<LogFiles, 'read' | 'status'>;
  readonly clock: Pick<Clock, 'now'>;
  readonly log: Log;
  /** How the address fares that they are from; null, or absent: they are from a file. */
  readonly source?: () => GoalSourceState | null;
}

/** What is known of a node until the head ends. */
interface Memory {
  lookedAt: number;
  results: ReadonlyMap<string, CheckResult>;
  /** The look that is under way; without its job it is about to begin. */
  look: { readonly jobId: JobId | null; readonly at: number; isRead: boolean } | null;
  isDue: boolean;
  metAt: number;
  /** It was given up, and is drained since. */
  gaveUp: boolean;
  /** Somebody asked for its repair. */
  isAsked: boolean;
  refused: { readonly until: number; readonly why: string } | null;
  /** What happens to it next, in words. */
  next: string | null;
}

export interface GoalStanding {
  readonly node: string;
  readonly class: string;
  /** Null: it has not been looked at since the head started. */
  readonly differences: readonly Difference[] | null;
  readonly lookedAt: number | null;
  readonly next: string | null;
  /** How many repairs in a row there were. */
  readonly attempts: number;
}

export class GoalKeeper {
  readonly #ports: GoalPorts;
  #options: GoalOptions;
  readonly #memories = new Map<NodeName, Memory>();

  constructor(ports: GoalPorts, options: GoalOptions) {
    this.#ports = ports;
    this.#options = options;
  }

  /** Goals that were read again: every node is looked at anew. */
  change(options: GoalOptions): void {
    this.#options = options;
    this.#memories.clear();
  }

  get source(): GoalSourceState | null {
    return this.#ports.source?.() ?? null;
  }

  get options(): GoalOptions {
    return this.#options;
  }

  /** Looks at these at once, all where none is named; how many. */
  ask(names: readonly string[], repair: boolean): number {
    const nodes = this.#nodes().filter(
      ({ node }) => names.length === 0 || names.includes(node.name),
    );
    for (const { memory } of nodes) {
      memory.isDue = true;
      if (!repair) continue;
      // A person wants it: what was tried before does not count.
      const metAt = this.#ports.clock.now();
      Object.assign(memory, { isAsked: true, refused: null, gaveUp: false, metAt });
    }
    return nodes.length;
  }

  standings(): GoalStanding[] {
    return this.#nodes().map(({ node, memory, of }) => {
      const { differences, last } = this.#goalNode(node, memory, of);
      const { lookedAt, next } = memory;
      return {
        ...{ node: node.name, class: of.name, differences, next },
        lookedAt: lookedAt === 0 ? null : lookedAt,
        attempts: last?.attempt ?? 0,
      };
    });
  }

  /** From time to time. Repairs first: a look on a node would be in the way of their slot. */
  tick(): void {
    if (this.#ports.engine.failure !== null) return;
    const all = this.#nodes();
    for (const { node, memory } of all) this.#forgetGivenUp(node, memory);
    const nodes = all.map(({ node, memory, of }) => this.#goalNode(node, memory, of));
    for (const { memory } of all) memory.next = null;
    for (const { name, drainedBy, last } of nodes) {
      const isOver = drainedBy === 'repair' && (last?.attempt ?? 0) >= REPAIRS_MAX;
      if (isOver) this.#memoryOf(name as NodeName).gaveUp = true;
    }
    for (const step of planGoals(nodes)) this.#take(step);
    for (const { node, memory } of all) this.#forgetLook(node, memory);
    let looks = all.filter(({ memory }) => memory.look !== null).length;
    for (const { node, memory, of } of all) {
      if (memory.look !== null) this.#readLook(node.name, memory);
      else if (looks < LOOKS_MAX && this.#isDue(node, memory)) {
        this.#look(node, memory, of);
        if (memory.look !== null) looks += 1;
      }
    }
  }

  #nodes(): { readonly node: Node; readonly memory: Memory; readonly of: GoalClass }[] {
    const { state } = this.#ports.engine;
    return [...state.nodes.values()].flatMap((node) => {
      const of = classOf(this.#options.classes, node);
      return of === null ? [] : [{ node, of, memory: this.#memoryOf(node.name) }];
    });
  }

  #memoryOf(name: NodeName): Memory {
    const known = this.#memories.get(name);
    if (known !== undefined) return known;
    const fresh: Memory = {
      ...{ lookedAt: 0, results: new Map(), look: null, isDue: true, metAt: 0 },
      ...{ gaveUp: false, isAsked: false, refused: null, next: null },
    };
    this.#memories.set(name, fresh);
    return fresh;
  }

  #goalNode(node: Node, memory: Memory, of: GoalClass): GoalNode {
    const { engine } = this.#ports;
    const { lookedAt, results, metAt } = memory;
    const isFresh = lookedAt > 0 && lookedAt >= this.#repairedAt(node);
    const found = isFresh ? compareGoals(of.goals, factsOf(engine.state, node), results) : null;
    // What no check has said is not fine either: a node goes back to service on evidence only.
    const isWhole = of.goals.every(({ name, test }) => test.kind === 'fact' || results.has(name));
    const differences = found?.length === 0 && !isWhole ? null : found;
    return goalNode(engine, node, { class: of, differences, metAt });
  }

  /** When the last repair was over: what was seen before that says nothing. */
  #repairedAt(node: Node): number {
    return pastRepairs(this.#ports.engine.state, node).at(-1)?.endedAt ?? 0;
  }

  #isDue(node: Node, memory: Memory): boolean {
    if (!node.connected) return false;
    const since = this.#ports.clock.now() - memory.lookedAt;
    return (
      memory.isDue || since >= this.#options.everyMs || memory.lookedAt < this.#repairedAt(node)
    );
  }

  #look(node: Node, memory: Memory, of: GoalClass): void {
    memory.isDue = false;
    const at = this.#ports.clock.now();
    memory.look = { jobId: null, at, isRead: true };
    if (!of.goals.some(({ test }) => test.kind === 'check'))
      return this.#looked(node.name, memory, new Map());
    if (!canCheck(this.#ports.engine.state, node)) {
      // What is known without a check counts; the checks follow when they can run there.
      const isFresh = memory.lookedAt >= this.#repairedAt(node);
      this.#looked(node.name, memory, isFresh ? memory.results : new Map());
      memory.isDue = true;
      return;
    }
    const program = { kind: 'script', text: checkScript(of), args: [] } as const;
    const command = { kind: 'check_node', node: node.name, program, walltimeMs: LOOK_MS } as const;
    this.#ports.engine.perform({ kind: 'command', command, actor: { kind: 'system' } }, (reply) => {
      if (reply.ok && reply.value.kind === 'submitted') {
        memory.look = { jobId: reply.value.jobId, at, isRead: false };
      } else if (!reply.ok) {
        Object.assign(memory, { look: null, isDue: true, next: formatRefusal(reply.error) });
      }
    });
  }

  /** Nothing more comes of it while its node is away, and others wait for its place. */
  #forgetLook({ connected }: Node, memory: Memory): void {
    const { look } = memory;
    if (connected || look === null || this.#ports.clock.now() - look.at <= LOOK_MS) return;
    memory.look = null;
    memory.isDue = true;
  }

  #readLook(name: NodeName, memory: Memory): void {
    const { look } = memory;
    if (look === null || look.jobId === null || look.isRead) return;
    const { jobId } = look;
    const job = this.#ports.engine.state.jobs.get(jobId);
    // It has left memory, or the head has read its store again: once more.
    if (job === undefined) {
      memory.look = null;
      memory.isDue = true;
      return;
    }
    if (job.outcome === null) return;
    look.isRead = true;
    const isLate = this.#ports.clock.now() - (job.endedAt ?? 0) > OUTPUT_WAIT_MS;
    this.#report(jobId, isLate).then(
      (report) => {
        if (report === null) look.isRead = false;
        else this.#looked(name, memory, report);
      },
      (error: unknown) => {
        this.#ports.log.error({ node: name, error }, 'the look at a node cannot be read');
        this.#looked(name, memory, new Map());
      },
    );
  }

  /** Null: its output has still to come. */
  async #report(jobId: JobId, isLate: boolean): Promise<Map<string, CheckResult> | null> {
    const place = { jobId, index: null };
    const log = { place, epoch: 1, nodeRank: 0, rank: 0, stream: 'stdout' } as const;
    const { ended, size } = await this.#ports.logs.status(log);
    if (!ended && !isLate) return null;
    const bytes = await this.#ports.logs.read(log, 0, Math.min(size, REPORT_BYTES_MAX));
    return readReport(new TextDecoder().decode(bytes));
  }

  #looked(name: NodeName, memory: Memory, results: ReadonlyMap<string, CheckResult>): void {
    const now = this.#ports.clock.now();
    // What it saw is of its beginning: a repair that ended meanwhile is to be looked at anew.
    memory.lookedAt = memory.look?.at ?? now;
    memory.look = null;
    memory.results = results;
    const node = this.#ports.engine.state.nodes.get(name);
    const of = node === undefined ? null : classOf(this.#options.classes, node);
    if (node === undefined || of === null) return;
    const { differences } = this.#goalNode(node, memory, of);
    if (differences?.length === 0) Object.assign(memory, { metAt: now, isAsked: false });
  }

  /** Undrained by a person: it gets its repairs anew. */
  #forgetGivenUp(node: Node, memory: Memory): void {
    if (!memory.gaveUp || node.drain !== null) return;
    memory.gaveUp = false;
    memory.metAt = this.#ports.clock.now();
    memory.isDue = true;
  }

  #take(step: GoalStep): void {
    const memory = this.#memoryOf(step.node.name as NodeName);
    if (step.kind === 'wait') memory.next = step.because;
    else if (step.kind === 'repair') this.#repair(step.node, step.attempt, memory);
    else if (step.kind === 'restore') this.#restore(step.node, memory);
    else this.#giveUp(step.node, memory);
  }

  #repair(node: GoalNode, attempt: number, memory: Memory): void {
    const now = this.#ports.clock.now();
    const { refused, isAsked, look } = memory;
    if (look !== null) return;
    const because =
      refused !== null && refused.until > now ? refused.why : this.#cancelled(node, now);
    if (because !== null && !isAsked) memory.next = because;
    else if (!this.#options.repairs && !isAsked) {
      memory.next = 'repairs are off (goals.repair); `weft goal apply` asks for one';
    } else this.#request(node, attempt, memory);
  }

  /** A person did not want it: it is not asked for again until the next look that is due. */
  #cancelled({ name }: GoalNode, now: number): string | null {
    const node = this.#ports.engine.state.nodes.get(name as NodeName);
    const last =
      node === undefined ? undefined : pastRepairs(this.#ports.engine.state, node).at(-1);
    if (last?.phase !== 'cancelled' || (last.endedAt ?? 0) + this.#options.everyMs < now)
      return null;
    return `its repair ${last.id} was ${last.detail ?? 'cancelled'}; \`weft goal apply ${name}\` asks anew`;
  }

  #request({ name, class: of, differences }: GoalNode, attempt: number, memory: Memory): void {
    const now = this.#ports.clock.now();
    const different = differences ?? [];
    const unmet = different.map(({ goal }) => goal);
    const program = { kind: 'script', text: repairScript(of, unmet), args: [] } as const;
    const command = {
      kind: 'plan_maintenance',
      nodes: [name as NodeName],
      time: { kind: 'flexible', notBefore: now, until: now + of.withinMs + of.durationMs },
      ...{ durationMs: of.durationMs, running: of.running, warning: null },
      program: { program, account: null, restarts: of.restarts },
      goal: { class: of.name, attempt },
      reason: wordsOf(different),
    } as const;
    memory.isAsked = false;
    this.#ports.engine.perform({ kind: 'command', command, actor: { kind: 'system' } }, (reply) => {
      if (reply.ok) {
        const id = reply.value.kind === 'maintenance_planned' ? reply.value.id : '';
        this.#ports.log.info({ node: name, id, attempt, reason: command.reason }, 'repair planned');
      } else memory.refused = { until: now + REFUSED_MS, why: formatRefusal(reply.error) };
    });
  }

  #restore({ name }: GoalNode, memory: Memory): void {
    memory.gaveUp = false;
    const command = { kind: 'undrain_node', node: name as NodeName } as const;
    this.#command(command, 'the node meets its goals and is back in service');
  }

  #giveUp({ name, class: of, differences }: GoalNode, memory: Memory): void {
    memory.gaveUp = true;
    const reason = `${GIVEN_UP}${of.name}: ${wordsOf(differences ?? [])}; not mended by repairs`;
    this.#command({ kind: 'drain_node', node: name as NodeName, reason }, 'the node is given up');
  }

  #command(
    command:
      | { readonly kind: 'undrain_node'; readonly node: NodeName }
      | { readonly kind: 'drain_node'; readonly node: NodeName; readonly reason: string },
    words: string,
  ): void {
    const { engine, log } = this.#ports;
    engine.perform({ kind: 'command', command, actor: { kind: 'system' } }, (reply) => {
      const { node } = command;
      if (reply.ok) log.info({ node }, words);
      else log.warn({ node, why: formatRefusal(reply.error) }, `not so: ${words}`);
    });
  }
}

function wordsOf(differences: readonly Difference[]): string {
  return differences.map(describeDifference).join('; ').slice(0, REASON_LENGTH_MAX);
}
