// A batch system of somebody else: nodes, jobs of its users and of ours, and a scheduler of its own
// that may be off. It has a will of its own, and is the ground truth of what runs at its site.

import { CLAIM, ENDED, STARTED } from '../../src/wings/sites/fabric/site/script.ts';
import type { Dice } from '../chance.ts';
import type { Exit } from '../process.ts';
import {
  type Gift,
  type Launch,
  launchOf,
  newJob,
  type Program,
  type Starter,
  type SystemJob,
  type SystemNode,
  type SystemWorld,
  ticketOf,
} from './system-job.ts';

const PASS_MS = 1000;
/** A gateway looks at a node that it has changed soon after. */
const SOON_MS = 3000;
const NO_SUCH = 'no such job';

export class ForeignSystem {
  readonly world: SystemWorld;
  readonly nodes: readonly SystemNode[];
  /** All that there ever were. */
  readonly jobs = new Map<string, SystemJob>();
  readonly programs = new Set<Program>();
  isScheduling: boolean;
  /** What is to run is put into a queue of its own, whose scheduler is always on. */
  readonly hasQueue: boolean;
  /** Nothing starts but on nodes that have its ticket. */
  readonly hasTickets: boolean;
  readonly #dice: Dice;
  /** What a running job does next is over when it ends. */
  readonly #running = new Map<SystemJob, Program | null>();
  #submitted = 0;

  constructor(
    world: SystemWorld,
    nodes: readonly SystemNode[],
    how: {
      readonly isScheduling: boolean;
      readonly hasQueue: boolean;
      readonly hasTickets: boolean;
    },
  ) {
    this.world = world;
    this.nodes = nodes;
    this.isScheduling = how.isScheduling;
    this.hasQueue = how.hasQueue;
    this.hasTickets = how.hasTickets;
    this.#dice = world.streams.of('system');
    this.#pass();
  }

  submit({ script, directory, elements, only = null, ...of }: Gift): SystemJob {
    const { disk } = this.world;
    const program = disk.program(directory ?? '');
    const launch = script === undefined ? null : launchOf(program, directory ?? '');
    this.#submitted += 1;
    const id = String(this.#submitted + 100);
    const waits = elements === undefined ? null : new Set(Array(elements).keys());
    const born = { array: null, submittedAt: this.world.now() };
    const job = newJob({ ...of, only, id, launch, waits, ...born });
    this.jobs.set(id, job);
    const size = elements === undefined ? '' : `, an array of ${elements}`;
    this.#say(job, `is submitted by ${job.owner} as ${job.name}${size}`);
    this.world.onSubmitted(job);
    return job;
  }

  /** Null: it has none such, or no more. An element that waits is one of its own from now on. */
  find(id: string): SystemJob | null {
    const job = this.jobs.get(id);
    if (job !== undefined) return job.isPurged ? null : job;
    const { array, index } = this.#elementOf(id);
    return array === undefined || array.isPurged || array.state === 'ended'
      ? null
      : this.split(array, index);
  }

  /** Without any change. */
  knows(id: string): boolean {
    const job = this.jobs.get(id) ?? this.#elementOf(id).array;
    return job !== undefined && !job.isPurged;
  }

  /** The job, or the array that has it among those that wait; undefined: there never was one. */
  at(id: string): SystemJob | undefined {
    return this.jobs.get(id) ?? this.#elementOf(id).array;
  }

  /** Makes one of those that wait a job of its own. */
  split(array: SystemJob, index: number): SystemJob {
    const { name, owner, nodeCount, cpuCount, only, walltimeMs, runMs, code, submittedAt } = array;
    const own = { name, owner, nodeCount, cpuCount, only, walltimeMs, runMs, code, submittedAt };
    const job = newJob({ ...own, id: `${array.id}.${index}`, launch: null, waits: null, array });
    job.state = array.state;
    array.waits?.delete(index);
    this.jobs.set(job.id, job);
    this.#say(job, 'is one of its own');
    if (array.waits?.size === 0) this.#end(array, null, 'SPLIT');
    return job;
  }

  #elementOf(id: string): { readonly array: SystemJob | undefined; readonly index: number } {
    const [first = '', index = ''] = id.split('.');
    const array = this.jobs.get(first);
    const isIn = array?.waits?.has(Number(index)) === true;
    return { array: isIn ? array : undefined, index: Number(index) };
  }

  hold(job: SystemJob, isHeld: boolean): void {
    if (job.state !== 'held' && job.state !== 'waiting') return;
    job.state = isHeld ? 'held' : 'waiting';
    this.#say(job, isHeld ? 'is held' : 'is released');
  }

  /** Every job that finds its ticket on nodes with room begins there. */
  pass(sentAt: number): void {
    for (const job of [...this.jobs.values()]) {
      if (job.state !== 'waiting' || isKept(job)) continue;
      const elements = [...(job.waits ?? [])].filter((index) => !job.kept.has(index));
      const ids = job.waits === null ? [job.id] : elements.map((index) => `${job.id}.${index}`);
      for (const id of ids) this.#startByTicket(id, job, sentAt);
    }
  }

  #startByTicket(id: string, job: SystemJob, sentAt: number): void {
    const fit = this.nodes.filter(({ name, ticket }) => {
      return ticket === ticketOf(job) && isWanted(job, name) && this.#fits(name, job.cpuCount);
    });
    if (fit.length < job.nodeCount) return;
    const nodes = fit.slice(0, job.nodeCount).map(({ name }) => name);
    if (this.start(id, nodes, 'gateway') !== null) return;
    const started = this.find(id);
    if (started !== null) this.world.onOrdered(started, sentAt);
  }

  /**
   * Keeps all elements of an array that wait, or lets them go; of one it is told by its index.
   * Null: done; else its refusal.
   */
  keep(id: string, isKept: boolean, element: string): string | null {
    const job = this.jobs.get(id);
    if (job === undefined || job.isPurged) return NO_SUCH;
    const others = this.#elementsOf(job).map(({ id: own }) => Number(own.split('.')[1]));
    const meant = element === '' ? [...(job.waits ?? []), ...others] : [Number(element)];
    for (const index of meant) {
      if (isKept) job.kept.add(index);
      else job.kept.delete(index);
    }
    return null;
  }

  /** By a gateway. Null: done; else its refusal. */
  order(id: string, nodes: readonly string[], sentAt: number): string | null {
    const job = this.find(id);
    if (job === null) return NO_SUCH;
    if (!this.hasQueue) {
      const refusal = this.start(id, nodes, 'gateway');
      if (refusal === null) this.world.onOrdered(job, sentAt);
      return refusal;
    }
    if (job.state !== 'waiting') return `job ${id} is ${job.state}`;
    job.placed = nodes;
    this.#say(job, `is to run on ${nodes.join()}`);
    this.world.onOrdered(job, sentAt);
    return null;
  }

  /** Null: done; else its refusal. */
  takeBack(id: string): string | null {
    const job = this.find(id);
    if (job === null) return NO_SUCH;
    job.placed = null;
    return null;
  }

  /** Null: done; else its refusal. */
  start(id: string, nodes: readonly string[], by: Starter): string | null {
    const job = this.find(id);
    if (job === null) return NO_SUCH;
    if (job.state !== 'waiting') return `job ${id} is ${job.state}`;
    const unfit = nodes.find((name) => !this.#fits(name, job.cpuCount));
    if (unfit !== undefined) return `node ${unfit} has no room`;
    if (nodes.length === 0) return 'no nodes';
    const [element] = job.waits ?? [];
    this.#begin(element === undefined ? job : this.split(job, element), nodes, by);
    return null;
  }

  #begin(job: SystemJob, nodes: readonly string[], by: Starter): void {
    Object.assign(job, { state: 'running', word: 'RUN', nodes, startedAt: this.world.now() });
    this.#running.set(job, null);
    this.#say(job, `is started on ${nodes.join()} by the ${by}`);
    this.world.onStarted(job, by);
    this.#execute(job);
  }

  /** Null: done; else its refusal. */
  cancel(id: string): string | null {
    const job = this.find(id);
    if (job === null) return NO_SUCH;
    this.#say(job, 'is told to end');
    for (const element of this.#elementsOf(job)) this.cancel(element.id);
    if (job.state === 'running') this.#terminate(job, 'KILLED');
    else if (job.state !== 'ended') this.#end(job, null, 'DELETED');
    return null;
  }

  /** What runs there ends, and nobody writes how. */
  breakNode(node: SystemNode): void {
    node.isUp = false;
    this.world.note(`${this.world.site}: ${node.name} breaks`);
    for (const job of [...this.#running.keys()]) {
      if (job.nodes.includes(node.name)) this.#kill(job, 'NODE_DOWN');
    }
  }

  /** By an operator of the site: it stays so until one takes it back. */
  drain(node: SystemNode, why: string | null): void {
    // To open what a gateway has opened for a moment changes nothing that it could see.
    const isSame = why === null && node.stopped === null && node.wish !== null;
    const { now } = this.world.time;
    const isBeside = node.changedAt > Math.min(node.seenAt, now - SOON_MS);
    Object.assign(node, { stopped: why, wish: why, isOverlooked: isSame || isBeside });
    node.wishedAt = now;
    this.world.note(
      `${this.world.site}: an operator ${why === null ? 'opens' : 'drains'} ${node.name}`,
    );
  }

  /** The one that changes its nodes has heard how they stood then. */
  seen(at: number): void {
    for (const node of this.nodes) node.seenAt = at;
  }

  cpusUsed(name: string): number {
    const there = [...this.#running.keys()].filter(({ nodes }) => nodes.includes(name));
    return there.reduce((sum, { cpuCount }) => sum + cpuCount, 0);
  }

  #pass(): void {
    for (const job of [...this.jobs.values()]) {
      if (job.state !== 'waiting') continue;
      if (job.placed !== null) this.start(job.id, job.placed, 'gateway');
      else if (this.isScheduling && !this.hasTickets) this.#tryStart(job);
    }
    this.world.time.after(PASS_MS, () => this.#pass());
  }

  #tryStart(job: SystemJob): void {
    const fit = this.nodes.filter(({ name }) => {
      return isWanted(job, name) && this.#fits(name, job.cpuCount);
    });
    const nodes = fit.slice(0, job.nodeCount).map(({ name }) => name);
    if (nodes.length === job.nodeCount) this.start(job.id, nodes, 'scheduler');
  }

  #fits(name: string, cpuCount: number): boolean {
    const node = this.nodes.find((one) => one.name === name);
    if (node === undefined || !node.isUp || node.stopped !== null) return false;
    return node.cpuCount - this.cpusUsed(name) >= cpuCount;
  }

  #execute(job: SystemJob): void {
    const { walltimeMs, launch, runMs, code } = job;
    const { time } = this.world;
    if (walltimeMs !== null) time.after(walltimeMs, () => this.#terminate(job, 'LIMIT'));
    if (launch === null) time.after(runMs, () => this.#end(job, { code }, 'DONE'));
    else time.after(this.#dice.whole(5, 500), () => this.#runScript(job, launch));
  }

  /** Step by step what `siteScript` has: the claim, the receipt, the program, the receipt. */
  #runScript(job: SystemJob, launch: Launch): void {
    const { disk, site, time, onProgram } = this.world;
    if (job.state !== 'running') return;
    if (!disk.claim(launch.directory)) {
      this.#say(job, `finds its ${CLAIM} taken`);
      return this.#end(job, { code: 0 }, 'DONE');
    }
    this.#receipt(launch, STARTED, job.nodes[0] ?? '');
    const program: Program = { site, epochId: launch.epochId, job, exit: null };
    this.#running.set(job, program);
    this.programs.add(program);
    onProgram('start', program);
    const { runMs, code, signal } = launch.plan;
    if (runMs === null) return;
    time.after(runMs, () => this.#programEnds(program, signal === null ? { code } : { signal }));
  }

  #programEnds(program: Program, exit: Exit): void {
    const { job } = program;
    if (job.state !== 'running' || program.exit !== null) return;
    this.#over(program, exit);
    const code = exit.code ?? 128 + (exit.signal ?? 0);
    if (job.launch !== null) {
      this.#receipt(job.launch, ENDED, `${code} 0m0.01s 0m0.02s`);
    }
    this.world.time.after(this.#dice.whole(1, 200), () => this.#end(job, { code }, 'DONE'));
  }

  #over(program: Program, exit: Exit): void {
    program.exit = exit;
    this.programs.delete(program);
    this.world.onProgram('end', program);
  }

  #receipt({ directory }: Launch, name: string, words: string): void {
    const seconds = Math.floor(this.world.now() / 1000);
    this.world.disk.write(directory, name, `${seconds} ${words}\n`);
  }

  /** TERM, which the script survives to write how its program ended, and then KILL. */
  #terminate(job: SystemJob, word: string): void {
    if (job.state !== 'running') return;
    const program = this.#running.get(job) ?? null;
    job.word = word;
    if (program !== null && !program.job.launch?.plan.ignoresTerm) {
      this.world.time.after(this.#dice.whole(1, 500), () => {
        this.#programEnds(program, { signal: 15 });
      });
    }
    this.world.time.after(3000, () => this.#kill(job, word));
  }

  #kill(job: SystemJob, word: string): void {
    if (job.state !== 'running') return;
    const program = this.#running.get(job) ?? null;
    if (program !== null && program.exit === null) this.#over(program, { signal: 9 });
    this.#end(job, { signal: 9 }, word);
  }

  #end(job: SystemJob, exit: Exit | null, word: string): void {
    if (job.state === 'ended') return;
    const { time, now, purgeMs } = this.world;
    Object.assign(job, { state: 'ended', word, exit, endedAt: now() });
    this.#running.delete(job);
    this.#say(job, `ends ${word} ${JSON.stringify(exit)}`);
    time.after(purgeMs, () => this.#purge(job));
  }

  /** An array is known for as long as any of its elements. */
  #purge(job: SystemJob): void {
    if (job.isPurged || this.#elementsOf(job).some(({ isPurged }) => !isPurged)) return;
    job.isPurged = true;
    this.#say(job, 'is forgotten');
    if (job.array?.state === 'ended') this.#purge(job.array);
  }

  #elementsOf(job: SystemJob): SystemJob[] {
    if (job.waits === null) return [];
    return [...this.jobs.values()].filter(({ array }) => array === job);
  }

  #say({ id }: SystemJob, words: string): void {
    this.world.note(`${this.world.site}: job ${id} ${words}`);
  }
}

/** The scheduler keeps to it; who starts something by hand need not. */
function isWanted({ only }: SystemJob, node: string): boolean {
  return only === null || only.includes(node);
}

function isKept({ id, array }: SystemJob): boolean {
  return array?.kept.has(Number(id.split('.')[1])) === true;
}
