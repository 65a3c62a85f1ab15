// After everything has been healed: accepted work ends (L1), submissions are answered (L2), nothing
// is left behind (L3), and what fits and is first in line starts at once (L4).

import type { Engine } from '../../src/kernel/head/engine.ts';
import { explainTask } from '../../src/kernel/machine/answers/questions.ts';
import { snapshotOf } from '../../src/kernel/machine/schedule.ts';
import type { State } from '../../src/kernel/machine/state.ts';
import { plan } from '../../src/kernel/scheduler/cycle/plan.ts';
import type { SimLogs } from '../head-host.ts';
import type { Machine } from '../machine.ts';
import type { Truth } from '../truth.ts';
import { Violation } from '../violation.ts';

/** L1 in words: the jobs that have not ended. */
export function openJobs(truth: Truth): string[] {
  return [...truth.jobs.values()]
    .filter(({ outcome }) => outcome === null)
    .map(({ id }) => `${id}`);
}

/** What the head says of the first task that has not ended. */
export function whyOpen(engine: Engine | null): string {
  for (const job of engine?.state.jobs.values() ?? []) {
    const index = job.entry.pending.first;
    if (job.outcome !== null || engine === null) continue;
    if (index !== undefined) return `${job.id}: ${JSON.stringify(explainTask(engine, job, index))}`;
    for (const task of job.active.values()) return `${task.id} is ${task.state}`;
  }
  return 'nothing is open to the head';
}

/** L3 in words: what a node still has of epochs that are over. */
export function leftBehind(
  truth: Truth,
  machines: Iterable<Machine>,
  state: State | null,
): string[] {
  const left: string[] = [];
  for (const { node, mark } of truth.live) left.push(`process ${mark} on ${node}`);
  for (const machine of machines) {
    const epochs = machine.agent?.state.epochs.keys() ?? [];
    for (const epochId of epochs) left.push(`${epochId} at the agent of ${machine.name}`);
    for (const folder of ['work', 'scripts', 'spool/1000', 'spool/1001']) {
      const path = `/${machine.name}/${folder}`;
      for (const name of machine.disk.list(path)) {
        if (!isIdleSpool(machine.disk.files.get(`${path}/${name}`), name)) {
          left.push(`${path}/${name}`);
        }
      }
    }
    for (const name of machine.kernel.groups.keys()) left.push(`${name} of ${machine.name}`);
  }
  for (const node of state?.nodes.values() ?? []) {
    for (const epochId of node.holding.keys()) left.push(`${epochId} holds ${node.name}`);
  }
  return left;
}

/** An empty file that waits for the next task, as the agent's `Spools` has it. */
function isIdleSpool(content: Buffer | undefined, name: string): boolean {
  return content?.length === 0 && /^s\d+\.0\.(out|err)$/.test(name);
}

/** L3: output that was written is with the head, byte for byte. */
export function checkOutput({ written }: Truth, logs: SimLogs): void {
  for (const [key, { text }] of written) {
    const kept = logs.files.get(key)?.toString() ?? '';
    if (kept === text) continue;
    throw new Violation('L3', `output ${key}: ${kept.length} of ${text.length} bytes arrived`);
  }
}

/** What time alone lets start the head sees at its next tick, a second later. */
const LOOKS_MAX = 2;

/**
 * Finds a task that could start now and does not, at three looks a scheduling period apart between
 * which nothing was committed: while a commit is under way, the cycle that it delays is not late.
 */
export class StartWatch {
  #waiting = '';
  #seq = -1;
  #looks = 0;

  /** L4. Call once per period, which is longer than any commit. */
  look(engine: Engine): void {
    const { state, settings, seq } = engine;
    const now = engine.now();
    const { starts } = plan(snapshotOf(state, settings, 1, now), now);
    const first = starts[0];
    const epoch = first && state.jobs.get(first.jobId)?.active.get(first.index)?.epoch;
    const waiting =
      first === undefined ? '' : `${first.jobId}[${first.index}] after #${epoch ?? 0}`;
    const isSame = waiting !== '' && waiting === this.#waiting && seq === this.#seq;
    this.#looks = isSame ? this.#looks + 1 : 1;
    if (this.#looks > LOOKS_MAX) {
      throw new Violation('L4', `task ${waiting} fits and is first, but does not start`);
    }
    this.#waiting = waiting;
    this.#seq = seq;
  }
}
