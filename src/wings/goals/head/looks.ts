// Looks at nodes: a job of the system on each, whose output says what its checks have found.

import { memberOf } from '../../../kernel/machine/nodes/members.ts';
import { formatRefusal } from '../../../kernel/model/errors.ts';
import type { JobId, NodeName } from '../../../kernel/model/ids.ts';
import type { CheckResult } from '../core/compare.ts';
import { checkScript, readReport } from '../core/script.ts';
import { canCheck } from './facts.ts';
import { judged, type Memory, type WatchedNode } from './memory.ts';
import { classOf, repairedAt } from './nodes.ts';
import type { GoalOptions, GoalPorts } from './world.ts';

/** A look that takes longer has found nothing. */
const LOOK_MS = 120_000;
/** A site begins one sooner, unless it keeps the node from jobs. */
const STUCK_MS = 10_000;
/** Nodes that are looked at at once. */
const LOOKS_MAX = 16;
/** Output of a look that is read. */
const REPORT_BYTES_MAX = 128 * 1024;
/** After the end of a look its output may still be on its way. */
const OUTPUT_WAIT_MS = 5000;

export class Looks {
  readonly #ports: GoalPorts;
  readonly #options: () => GoalOptions;

  constructor(ports: GoalPorts, options: () => GoalOptions) {
    this.#ports = ports;
    this.#options = options;
  }

  /** Begins those that are due, as far as there may be, and reads those that are over. */
  tick(all: readonly WatchedNode[]): void {
    for (const known of all) this.#forget(known);
    let looks = all.filter(({ memory }) => memory.look !== null).length;
    for (const known of all) {
      const { node, memory } = known;
      if (memory.look !== null) this.#read(node.name, memory);
      else if (looks < LOOKS_MAX && this.#isDue(known)) {
        this.#begin(known);
        if (memory.look !== null) looks += 1;
      }
    }
  }

  /** Nothing more comes of it while its node is away, and others wait for its place. */
  #forget({ node, memory }: WatchedNode): void {
    const { look } = memory;
    if (look === null) return;
    const isStuck = node.connected && this.#isStuck(node, look.jobId);
    if (node.connected && !isStuck) return;
    const patienceMs = isStuck ? STUCK_MS : LOOK_MS;
    if (this.#ports.clock.now() - look.at <= patienceMs) return;
    memory.look = null;
    memory.isDue = true;
    if (isStuck && look.jobId !== null) this.#cancel(node.name, look.jobId);
  }

  /**
   * True when the site keeps the node from jobs: the look would wait there until the node is
   * mended, which waits for the look.
   */
  #isStuck(node: WatchedNode['node'], jobId: JobId | null): boolean {
    const { state } = this.#ports.engine;
    if (jobId === null || node.fault === null || memberOf(state, node) === null) return false;
    const job = state.jobs.get(jobId);
    if (job === undefined || job.outcome !== null) return false;
    const task = job.active.get(0);
    // One that has begun goes on there, and its time limit ends it.
    return task === undefined || task.state === 'pending' || task.state === 'starting';
  }

  #cancel(node: NodeName, jobId: JobId): void {
    const { engine, log } = this.#ports;
    const because = 'its node takes no jobs of its site';
    const command = { kind: 'cancel_task', place: { jobId, index: null }, because } as const;
    engine.perform({ kind: 'command', command, actor: { kind: 'system' } }, (reply) => {
      if (reply.ok) return;
      log.warn({ node, jobId, why: formatRefusal(reply.error) }, 'a look could not be cancelled');
    });
  }

  #isDue({ node, memory }: WatchedNode): boolean {
    if (!node.connected) return false;
    const { engine, clock } = this.#ports;
    const since = clock.now() - memory.lookedAt;
    // Below zero: the clock was set back since.
    const isOld = since < 0 || since >= this.#options().everyMs;
    return memory.isDue || isOld || memory.lookedAt < repairedAt(engine.state, node);
  }

  #begin({ node, memory, of }: WatchedNode): void {
    const { engine, clock } = this.#ports;
    memory.isDue = false;
    const at = clock.now();
    memory.look = { jobId: null, at, isRead: true };
    if (!of.goals.some(({ test }) => test.kind === 'check'))
      return this.#over(node.name, memory, new Map());
    if (!canCheck(engine.state, node)) {
      // What is known without a check counts; the checks follow when they can run there.
      const isFresh = memory.lookedAt >= repairedAt(engine.state, node);
      this.#over(node.name, memory, isFresh ? memory.results : new Map());
      memory.isDue = true;
      return;
    }
    const program = { kind: 'script', text: checkScript(of), args: [] } as const;
    const command = { kind: 'check_node', node: node.name, program, walltimeMs: LOOK_MS } as const;
    engine.perform({ kind: 'command', command, actor: { kind: 'system' } }, (reply) => {
      if (reply.ok && reply.value.kind === 'submitted') {
        memory.look = { jobId: reply.value.jobId, at, isRead: false };
      } else if (!reply.ok) {
        Object.assign(memory, { look: null, isDue: true, next: formatRefusal(reply.error) });
      }
    });
  }

  #read(name: NodeName, memory: Memory): void {
    const { look } = memory;
    if (look === null || look.jobId === null || look.isRead) return;
    const { engine, clock, log } = this.#ports;
    const { jobId } = look;
    const job = engine.state.jobs.get(jobId);
    // It has left memory, or the head has read its store again: once more.
    if (job === undefined) {
      memory.look = null;
      memory.isDue = true;
      return;
    }
    if (job.outcome === null) return;
    look.isRead = true;
    const isLate = clock.now() - (job.endedAt ?? 0) > OUTPUT_WAIT_MS;
    this.#report(jobId, isLate).then(
      (report) => {
        if (report === null) look.isRead = false;
        else this.#over(name, memory, report);
      },
      (error: unknown) => {
        log.error({ node: name, error }, 'the look at a node cannot be read');
        this.#over(name, memory, new Map());
      },
    );
  }

  /** Returns null when its output has still to come. */
  async #report(jobId: JobId, isLate: boolean): Promise<Map<string, CheckResult> | null> {
    const { logs } = this.#ports;
    const place = { jobId, index: null };
    const log = { place, epoch: 1, nodeRank: 0, rank: 0, stream: 'stdout' } as const;
    const { ended, size } = await logs.status(log);
    if (!ended && !isLate) return null;
    const bytes = await logs.read(log, 0, Math.min(size, REPORT_BYTES_MAX));
    return readReport(new TextDecoder().decode(bytes));
  }

  #over(name: NodeName, memory: Memory, results: ReadonlyMap<string, CheckResult>): void {
    const { engine, clock } = this.#ports;
    const now = clock.now();
    // What it saw is of its beginning: a repair that ended meanwhile is to be looked at anew.
    memory.lookedAt = memory.look?.at ?? now;
    memory.look = null;
    memory.results = results;
    const node = engine.state.nodes.get(name);
    const of = node === undefined ? null : classOf(this.#options().classes, node);
    if (node === undefined || of === null) return;
    const { differences } = judged(engine, { node, memory, of }, now);
    if (differences?.length === 0) Object.assign(memory, { metAt: now, isAsked: false });
  }
}
