// What users and operators want of the cluster during a run: jobs of every shape, and everything
// that can be asked about them and about nodes.

import type { JobId, NodeName, TaskPlace } from '../src/core/model/ids.ts';
import type { Dependency, OnNodeLoss, OutcomeKind } from '../src/core/model/job.ts';
import type { Resources } from '../src/core/model/resources.ts';
import type { Submission } from '../src/core/model/submission.ts';
import type { Dice } from './chance.ts';
import { type Client, operator } from './client.ts';
import type { Time } from './clock.ts';
import type { Machine, MachineMake } from './machine.ts';
import { type Plan, programOf, QUIET } from './plan.ts';
import type { Truth } from './truth.ts';
import type { Weather } from './weather.ts';

const GIB = 1024 ** 3;

export function drawMachines(dice: Dice, weather: Weather): MachineMake[] {
  return Array.from({ length: weather.nodeCount }, (_, at) => ({
    name: `n${at + 1}` as NodeName,
    resources: drawResources(dice),
    hasGroups: dice.happens(0.6),
    // The first node has everything, so that every kind of job can run somewhere.
    sharedPaths: at === 0 || dice.happens(0.7) ? ['/shared'] : [],
    rate: 1 + (2 * dice.fraction() - 1) * weather.driftMax,
  }));
}

function drawResources(dice: Dice): Resources {
  return {
    cpuCount: dice.whole(2, 8),
    memoryBytes: dice.whole(4, 16) * GIB,
    gpuCount: dice.pick([0, 0, 2, 4]),
    counted: dice.happens(0.3) ? { licence: 2 } : {},
  };
}

export interface WorkloadWorld {
  readonly time: Time;
  readonly dice: Dice;
  readonly client: Client;
  readonly machines: readonly Machine[];
  readonly truth: Truth;
  readonly weather: Weather;
  /** The head's wall clock. */
  readonly headNow: () => number;
  readonly note: (text: string) => void;
  /** What the submitter asks of the site: partition, quality of service, time limit and so on. */
  readonly wishes: () => Partial<Submission>;
}

export class Workload {
  /** Submissions that were answered with a job, by their names. */
  readonly accepted = new Map<string, JobId>();
  /** Submissions without any answer yet. */
  readonly unanswered = new Set<string>();
  readonly #world: WorkloadWorld;
  #count = 0;
  #over = false;

  constructor(world: WorkloadWorld) {
    this.#world = world;
  }

  /** Nodes are enrolled first, by an operator who insists. */
  start(): void {
    const { machines, weather } = this.#world;
    for (const { name } of machines) this.#enroll(name);
    this.#every(weather.submissionMs, () => this.#submit());
    this.#every(weather.commandMs, () => this.#command());
  }

  /** No new work and no new wishes. */
  stop(): void {
    this.#over = true;
  }

  /** Sets right what users and operators have left hanging, so that everything can end. */
  tidyUp(): void {
    const { truth, client } = this.#world;
    const asOperator = operator('alice');
    for (const node of truth.drained) client.once({ kind: 'undrain_node', node }, asOperator);
    for (const { id, spec, outcome } of truth.jobs.values()) {
      if (outcome !== null) continue;
      client.once({ kind: 'release_job', jobId: id }, asOperator);
      const place = { jobId: id, index: null };
      client.once({ kind: 'resume_task', place }, asOperator);
      // Without a limit nothing else would ever end it.
      const isEndless = spec.walltimeMs === null && spec.name.endsWith('endless');
      if (isEndless) client.once({ kind: 'cancel_task', place }, asOperator);
    }
  }

  #enroll(node: NodeName): void {
    const how = { secretHash: '', resources: null, labels: [], replace: true };
    const command = { kind: 'enroll_node', node, ...how } as const;
    this.#world.client.ask(command, operator('alice'), () => undefined);
  }

  #every(meanMs: number, then: () => void): void {
    const { time, dice } = this.#world;
    time.after(dice.waitMs(meanMs), () => {
      if (this.#over) return;
      then();
      this.#every(meanMs, then);
    });
  }

  #submit(): void {
    const { dice, client, note } = this.#world;
    const plan = this.#drawPlan();
    this.#count += 1;
    const name = `s${this.#count}${plan.runMs === null ? '-endless' : ''}`;
    const submission = { ...this.#drawSubmission(plan), ...this.#world.wishes(), name };
    const owner = operator(dice.happens(0.03) ? 'nobody' : dice.pick(['alice', 'bob']));
    this.unanswered.add(name);
    const retired = this.#retired(submission.dependencies ?? []);
    const command = { kind: 'submit_job', submission, key: name, retired } as const;
    client.ask(command, owner, (result) => {
      this.unanswered.delete(name);
      note(`${name}: ${result.ok ? JSON.stringify(result.value) : result.error.code}`);
      if (result.ok && result.value.kind === 'submitted') {
        this.accepted.set(name, result.value.jobId);
      }
    });
  }

  #drawPlan(): Plan {
    const { dice } = this.#world;
    const isEndless = dice.happens(0.08);
    return {
      ...QUIET,
      runMs: isEndless ? null : dice.waitMs(dice.pick([50, 2000, 15_000])),
      code: dice.happens(0.15) ? dice.whole(1, 3) : 0,
      signal: dice.happens(0.03) ? 11 : null,
      ignoresTerm: dice.happens(0.2),
      leftovers: dice.happens(0.1) ? dice.whole(1, 2) : 0,
      leftoverMs: dice.happens(0.5) ? null : 5000,
      eatsBytes: dice.happens(0.05) ? 3 * GIB : 0,
      eatsAfterMs: dice.whole(0, 3000),
      isMissing: dice.happens(0.03),
    };
  }

  #drawSubmission(plan: Plan): Submission {
    const { dice } = this.#world;
    const isWide = dice.happens(0.2);
    const array = dice.happens(0.2)
      ? { indices: `0-${dice.whole(1, 9)}`, ...(dice.happens(0.5) ? { runningMax: 2 } : {}) }
      : undefined;
    return {
      program: programOf(plan),
      cpuCount: dice.pick([0, 1, 1, 2, 4]),
      memoryBytes: dice.pick([0, 1, 2]) * GIB,
      gpuCount: dice.happens(0.15) ? 1 : 0,
      counted: dice.happens(0.1) ? { licence: 1 } : {},
      nodeCount: isWide ? dice.whole(1, 3) : 1,
      processesPerNode: dice.pick([1, 1, 1, 2, 3]),
      exclusive: dice.happens(0.08),
      directory: dice.happens(0.4) ? { kind: 'shared', path: '/shared' } : { kind: 'private' },
      walltimeMs: dice.happens(0.3) ? dice.whole(1000, 20_000) : null,
      ...(array === undefined ? {} : { array }),
      dependencies: this.#drawDependencies(),
      ...(dice.happens(0.1) ? { beginAt: this.#world.headNow() + dice.whole(0, 20_000) } : {}),
      nice: dice.whole(-5, 5),
      held: dice.happens(0.05),
      ...(dice.happens(0.7) ? { onNodeLoss: this.#drawLoss() } : {}),
      requeue: !dice.happens(0.15),
      retriesMax: dice.pick([0, 0, 0, 1, 3]),
    };
  }

  #drawLoss(): OnNodeLoss {
    const { dice, weather } = this.#world;
    const kind = dice.pick(['requeue', 'wait', 'lease'] as const);
    if (kind !== 'lease') return { kind };
    // Shorter ones than the node time-out are refused.
    return { kind, leaseMs: Math.max(weather.nodeTimeoutMs, dice.whole(2000, 15_000)) };
  }

  /** As the API looks it up in the history. */
  #retired(dependencies: readonly Dependency[]): Record<number, OutcomeKind> {
    const outcomes: Record<number, OutcomeKind> = {};
    for (const { jobId } of dependencies) {
      const kind = this.#world.truth.jobs.get(jobId)?.outcome?.kind;
      if (kind !== undefined) outcomes[jobId] = kind;
    }
    return outcomes;
  }

  #drawDependencies(): Dependency[] {
    const { dice } = this.#world;
    const known = [...this.accepted.values()].slice(-10);
    if (known.length === 0 || !dice.happens(0.15)) return [];
    const condition = dice.pick(['ok', 'any', 'any', 'fail'] as const);
    return [{ jobId: dice.pick(known), condition }];
  }

  /** One wish of somebody about something that is going on. */
  #command(): void {
    const { dice, client, truth } = this.#world;
    const actor = operator('alice');
    const open = [...truth.jobs.values()].filter(({ outcome }) => outcome === null);
    if (open.length === 0 || dice.happens(0.2)) return this.#commandNode();
    const job = dice.pick(open);
    const index = job.spec.array !== null && dice.happens(0.6) ? dice.whole(0, 9) : null;
    const place: TaskPlace = { jobId: job.id, index };
    const kind = dice.pick([
      'cancel_task',
      'hold_job',
      'release_job',
      'suspend_task',
      'resume_task',
      'requeue_task',
      'signal_task',
    ] as const);
    if (kind === 'hold_job' || kind === 'release_job') client.once({ kind, jobId: job.id }, actor);
    else if (kind === 'signal_task') client.once({ kind, place, signal: 10 }, actor);
    else client.once({ kind, place }, actor);
  }

  #commandNode(): void {
    const { dice, client, machines, time } = this.#world;
    const actor = operator('bob');
    const machine = dice.pick(machines);
    const node = machine.name;
    if (!machine.isOn) {
      // An operator who went and looked: the machine stays off until the answer is there.
      if (dice.happens(0.7)) this.#declareLost(machine);
      return;
    }
    if (dice.happens(0.5)) {
      client.once({ kind: 'drain_node', node, reason: 'maintenance' }, actor);
      time.after(dice.whole(1000, 20_000), () =>
        client.once({ kind: 'undrain_node', node }, actor),
      );
    } else {
      client.once({ kind: 'undrain_node', node }, actor);
    }
  }

  #declareLost(machine: Machine): void {
    machine.isLocked = true;
    const { client, time, note } = this.#world;
    note(`${machine.name} is declared lost`);
    client.once({ kind: 'declare_node_lost', node: machine.name }, operator('bob'));
    time.after(2000, () => {
      machine.isLocked = false;
    });
  }
}
