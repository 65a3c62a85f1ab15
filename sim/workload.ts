// What users and operators want of the cluster during a run: jobs of every shape, and everything
// that can be asked about them and about nodes.

import type { RetiredJob, RetiredJobs } from '../src/kernel/machine/jobs/commands.ts';
import type { BlobHash } from '../src/kernel/model/blob.ts';
import type { JobId, NodeName, TaskPlace } from '../src/kernel/model/ids.ts';
import type { Dependency, OnNodeLoss } from '../src/kernel/model/job.ts';
import type { Resources } from '../src/kernel/model/resources.ts';
import type { Submission } from '../src/kernel/model/submission.ts';
import { CARD_MAKES, type CardMake } from './cards.ts';
import type { Dice, Streams } from './chance.ts';
import { type Client, operator } from './client.ts';
import type { Time } from './clock.ts';
import type { Machine, MachineMake } from './machine.ts';
import { type Plan, programOf, QUIET } from './plan.ts';
import { Recurring } from './recurring.ts';
import { LICENCE } from './site.ts';
import type { JobTruth, Truth } from './truth.ts';
import type { Weather } from './weather.ts';

const GIB = 1024 ** 3;

/** `streams`: under each machine's name each of its fields has its own. */
export function drawMachines(streams: Streams, weather: Weather): MachineMake[] {
  return Array.from({ length: weather.nodeCount }, (_, at) => {
    const name = `n${at + 1}` as NodeName;
    const own = streams.under(name);
    const resources = drawResources(own);
    const isTold = resources.gpuCount > 0 && own.of('cards').happens(0.7);
    const cards = drawCards(own, resources.gpuCount, weather);
    return {
      name,
      resources,
      ...(isTold ? { cards } : {}),
      hasGroups: own.of('groups').happens(0.6),
      // The first node has everything, so that every kind of job can run somewhere.
      sharedPaths: at === 0 || own.of('shared').happens(0.7) ? ['/shared'] : [],
      rate: 1 + (2 * own.of('rate').fraction() - 1) * weather.driftMax,
    };
  });
}

/**
 * Cards of one machine; on most machines those of each pair are alike and joined, on half of these
 * all are alike.
 */
function drawCards(own: Streams, count: number, { links }: Weather): CardMake[] {
  const makes = Array.from({ length: count }, () => own.of('card').pick(CARD_MAKES));
  if (links === null || !own.of('card links').happens(0.7)) return makes;
  const areAlike = own.of('cards alike').happens(0.5);
  return makes.map((make, at) => {
    const first = at - (at % 2);
    return { ...(makes[areAlike ? 0 : first] ?? make), linkedWith: `GPU-${first}` };
  });
}

function drawResources(streams: Streams): Resources {
  return {
    cpuCount: streams.of('cpu').whole(2, 8),
    memoryBytes: streams.of('memory').whole(4, 16) * GIB,
    gpuCount: streams.of('gpu').pick([0, 0, 2, 4]),
    counted: streams.of('counted').happens(0.3) ? { licence: 2 } : {},
  };
}

/** Each kind of command is so many times rarer than the weather's `commandMs`. */
const TASK_EVERY = 9;
const NODE_EVERY = 10;
/** How often somebody goes and looks at a node. */
const LOOK_EVERY = 7;

export interface WorkloadWorld {
  readonly time: Time;
  readonly streams: Streams;
  readonly client: Client;
  readonly machines: readonly Machine[];
  readonly truth: Truth;
  readonly weather: Weather;
  /** The site counts `LICENCE` for the whole cluster. */
  readonly hasLicences: boolean;
  /** The head's wall clock. */
  readonly headNow: () => number;
  readonly note: (text: string) => void;
  /** What the submitter asks of the site: partition, quality of service, time limit and so on. */
  readonly wishes: () => Partial<Submission>;
}

type TaskCommand = 'cancel_task' | 'suspend_task' | 'resume_task' | 'requeue_task' | 'signal_task';

export class Workload {
  /** Submissions that were answered with a job, by their names. */
  readonly accepted = new Map<string, JobId>();
  /** Submissions without any answer yet. */
  readonly unanswered = new Set<string>();
  readonly #world: WorkloadWorld;
  readonly #recurring: Recurring;
  #count = 0;

  constructor(world: WorkloadWorld) {
    this.#world = world;
    this.#recurring = new Recurring(world.time, world.streams);
  }

  /** Nodes are enrolled first, by an operator who insists. */
  start(): void {
    const { machines, weather } = this.#world;
    for (const { name } of machines) this.#enroll(name);
    this.#recurring.every('submit', weather.submissionMs, () => this.#submit());
    this.#startCommands(weather.commandMs);
  }

  /** No new work and no new wishes. */
  stop(): void {
    this.#recurring.stop();
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

  #submit(): void {
    const { streams, client, note } = this.#world;
    const files = this.#drawFiles();
    const plan = { ...this.#drawPlan(), ...files.plan };
    this.#count += 1;
    const name = `s${this.#count}${plan.runMs === null ? '-endless' : ''}`;
    const drawn = { ...this.#drawSubmission(plan), ...this.#world.wishes(), ...files.wish, name };
    const submission = somewhatMpi(drawn);
    const owner = operator(this.#drawOwner(streams.of('owner')));
    this.unanswered.add(name);
    const retired = this.#retired(submission.dependencies ?? []);
    const stepKey = name;
    const command = { kind: 'submit_job', submission, key: name, retired, stepKey } as const;
    client.ask(command, owner, (result) => {
      this.unanswered.delete(name);
      note(`${name}: ${result.ok ? JSON.stringify(result.value) : result.error.code}`);
      if (result.ok && result.value.kind === 'submitted') {
        this.accepted.set(name, result.value.jobId);
      }
    });
  }

  /** From streams that nothing else draws from: without files all is as it was. */
  #drawFiles(): { readonly plan: Partial<Plan>; readonly wish: Partial<Submission> } {
    const { weather, streams } = this.#world;
    const of = (field: string): Dice => streams.of(`files ${field}`);
    if (weather.files === null || !of('any').happens(weather.files)) return { plan: {}, wish: {} };
    const inputs = Buffer.from(of('inputs').bytes(32)).toString('hex') as BlobHash;
    const staging = of('has inputs').happens(0.7) ? { inputs } : {};
    const directory = { kind: 'private' } as const;
    return { plan: { outputs: of('outputs').whole(0, 3) }, wish: { directory, staging } };
  }

  #drawOwner(dice: Dice): string {
    return dice.happens(0.03) ? 'nobody' : dice.pick(['alice', 'bob']);
  }

  #drawPlan(): Plan {
    const of = (field: string): Dice => this.#world.streams.of(`plan ${field}`);
    const isEndless = of('endless').happens(0.08);
    const runMs = of('run').waitMs(of('length').pick([50, 2000, 15_000]));
    return {
      ...QUIET,
      runMs: isEndless ? null : runMs,
      code: of('code').happens(0.15) ? of('code').whole(1, 3) : 0,
      signal: of('signal').happens(0.03) ? 11 : null,
      ignoresTerm: of('term').happens(0.2),
      leftovers: of('leftovers').happens(0.1) ? of('leftovers').whole(1, 2) : 0,
      leftoverMs: of('leftover').happens(0.5) ? null : 5000,
      eatsBytes: of('eats').happens(0.05) ? 3 * GIB : 0,
      eatsAfterMs: of('eats after').whole(0, 3000),
      isMissing: of('missing').happens(0.03),
    };
  }

  #drawSubmission(plan: Plan): Submission {
    const of = (field: string): Dice => this.#world.streams.of(`submit ${field}`);
    return {
      program: programOf(plan),
      cpuCount: of('cpu').pick([0, 1, 1, 2, 4]),
      memoryBytes: of('memory').pick([0, 1, 2]) * GIB,
      ...this.#drawGpus(of),
      counted: this.#drawCounted(of),
      nodeCount: of('nodes').happens(0.2) ? of('nodes').whole(1, 3) : 1,
      exclusive: of('exclusive').happens(0.08),
      directory: of('shared').happens(0.4)
        ? { kind: 'shared', path: '/shared' }
        : { kind: 'private' },
      walltimeMs: of('walltime').happens(0.3) ? of('walltime').span(1000, 20_000) : null,
      ...this.#drawSchedule(of),
      ...(of('loss').happens(0.7) ? { onNodeLoss: this.#drawLoss(of('loss')) } : {}),
      requeue: !of('requeue').happens(0.15),
      retriesMax: of('retries').pick([0, 0, 0, 1, 3]),
    };
  }

  /** Any whole ones, or with a word on which. */
  #drawGpus(of: (field: string) => Dice): Partial<Submission> {
    const { links } = this.#world.weather;
    if (!of('gpu').happens(links === null ? 0.15 : 0.4)) return { gpuCount: 0 };
    const kinds: readonly Partial<Submission>[] = [
      {},
      { gpuTypes: ['a100'] },
      { gpuTypes: ['t4', 'a100'] },
      { gpuMemoryBytes: 20 * GIB },
      { gpuShareBytes: 7 * GIB },
      { gpuShareBytes: 7 * GIB },
    ];
    const hasCards = this.#world.machines.some(({ cards }) => cards !== null);
    if (!hasCards) return { gpuCount: 1 };
    if (links !== null && of('gpu links').happens(links)) {
      return { gpuCount: 2, gpuLinks: 'nvlink' };
    }
    const gpuCount = links !== null && of('gpu count').happens(0.3) ? 2 : 1;
    return { gpuCount, ...of('gpu kind').pick(kinds) };
  }

  /** A licence of the cluster, where its config has any, more often than one of a node. */
  #drawCounted(of: (field: string) => Dice): Record<string, number> {
    const ofNode = of('counted').happens(0.1) ? { licence: 1 } : {};
    if (!this.#world.hasLicences || !of('cluster licences').happens(0.2)) return ofNode;
    return { ...ofNode, [LICENCE]: 1 };
  }

  /** When and how often it runs. */
  #drawSchedule(of: (field: string) => Dice): Partial<Submission> {
    const array = of('array').happens(0.2)
      ? {
          indices: `0-${of('array').whole(1, 9)}`,
          ...(of('throttle').happens(0.5) ? { runningMax: 2 } : {}),
        }
      : undefined;
    const begin = of('begin');
    return {
      processesPerNode: of('processes').pick([1, 1, 1, 2, 3]),
      ...(array === undefined ? {} : { array }),
      dependencies: this.#drawDependencies(of('dependencies')),
      ...(begin.happens(0.1) ? { beginAt: this.#world.headNow() + begin.span(0, 20_000) } : {}),
      nice: of('nice').whole(-5, 5),
      held: of('held').happens(0.05),
    };
  }

  #drawLoss(dice: Dice): OnNodeLoss {
    const { weather } = this.#world;
    const kind = dice.pick(['requeue', 'wait', 'lease'] as const);
    if (kind !== 'lease') return { kind };
    // Shorter ones than the node time-out are refused.
    return { kind, leaseMs: Math.max(weather.nodeTimeoutMs, dice.span(2000, 15_000)) };
  }

  /** The jobs of these dependencies that only the history knows, looked up like the API does it. */
  #retired(dependencies: readonly Dependency[]): RetiredJobs {
    const retired: Record<number, RetiredJob> = {};
    for (const { jobId } of dependencies) {
      const job = this.#world.truth.jobs.get(jobId);
      const kind = job?.outcome?.kind;
      if (kind !== undefined) retired[jobId] = { kind, indices: job?.spec.array?.indices ?? null };
    }
    return retired;
  }

  #drawDependencies(dice: Dice): Dependency[] {
    const known = [...this.accepted.values()].slice(-10);
    if (known.length === 0 || !dice.happens(0.15)) return [];
    const condition = dice.pick(['ok', 'any', 'any', 'fail'] as const);
    return [{ jobId: dice.pick(known), condition }];
  }

  /** Wishes of somebody about what is going on: each kind at a rate of its own. */
  #startCommands(commandMs: number): void {
    const { time, client } = this.#world;
    const bob = operator('bob');
    const ofTask = TASK_EVERY * commandMs;
    for (const kind of ['hold_job', 'release_job'] as const) {
      this.#recurring.every(kind, ofTask, (dice) => this.#commandJob(dice, kind));
    }
    const kinds = ['cancel_task', 'suspend_task', 'resume_task', 'requeue_task'] as const;
    for (const kind of [...kinds, 'signal_task'] as const) {
      this.#recurring.every(kind, ofTask, (dice) => this.#commandTask(dice, kind));
    }
    const ofNode = NODE_EVERY * commandMs;
    this.#recurring.every('drain', ofNode, (dice) => {
      const node = dice.pick(this.#world.machines).name;
      client.once({ kind: 'drain_node', node, reason: 'maintenance' }, bob);
      const end = (): void => client.once({ kind: 'undrain_node', node }, bob);
      time.after(dice.span(1000, 20_000), end);
    });
    this.#recurring.every('undrain', ofNode, (dice) => {
      client.once({ kind: 'undrain_node', node: dice.pick(this.#world.machines).name }, bob);
    });
    this.#recurring.every('look', LOOK_EVERY * commandMs, (dice) => {
      const machine = dice.pick(this.#world.machines);
      // An operator who went and looked: the machine stays off until the answer is there.
      if (!machine.isOn) this.#declareLost(machine);
    });
  }

  #commandJob(dice: Dice, kind: 'hold_job' | 'release_job'): void {
    const job = dice.pick([undefined, ...this.#open()]);
    if (job !== undefined) this.#world.client.once({ kind, jobId: job.id }, operator('alice'));
  }

  #commandTask(dice: Dice, kind: TaskCommand): void {
    const job = dice.pick([undefined, ...this.#open()]);
    if (job === undefined) return;
    const index = job.spec.array !== null && dice.happens(0.6) ? dice.whole(0, 9) : null;
    const place: TaskPlace = { jobId: job.id, index };
    const command = kind === 'signal_task' ? { kind, place, signal: 10 } : { kind, place };
    this.#world.client.once(command, operator('alice'));
  }

  #open(): JobTruth[] {
    return [...this.#world.truth.jobs.values()].filter(({ outcome }) => outcome === null);
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

/** A wide job with several processes per node is an MPI job. */
function somewhatMpi(drawn: Submission): Submission {
  const { nodeCount = 1, processesPerNode = 1 } = drawn;
  if (nodeCount === 1 || processesPerNode === 1) return drawn;
  return { ...drawn, processesPerNode: 1, mpi: { ranksPerNode: processesPerNode } };
}
