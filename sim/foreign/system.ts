// A batch system of somebody else: nodes, jobs of its users and of ours, and a scheduler of its own that
// may be off. It has a will of its own, and is the ground truth of what runs at its site.

import { CLAIM, ENDED, STARTED } from '../../src/fabric/site/script.ts';
import type { Dice, Streams } from '../chance.ts';
import type { Time } from '../clock.ts';
import { type Plan, planOf } from '../plan.ts';
import type { Exit } from '../process.ts';
import type { SiteDisk } from './disk.ts';

export interface SystemNode {
  readonly name: string;
  readonly cpuCount: number;
  isUp: boolean;
  /** Why an operator lets nothing start there; null: it takes jobs. */
  stopped: string | null;
  /** What operators of the site want of it, whoever else has stopped it meanwhile. */
  wish: string | null;
}

/** What a script of ours runs. */
export interface Launch {
  readonly directory: string;
  readonly plan: Plan;
  readonly epochId: string;
}

/** Our program, once a script has begun it. */
export interface Program {
  readonly site: string;
  readonly epochId: string;
  readonly job: SystemJob;
  exit: Exit | null;
}

export interface SystemJob {
  readonly id: string;
  readonly name: string;
  readonly owner: string;
  /** Null: one of its own users gave it. */
  readonly launch: Launch | null;
  readonly nodeCount: number;
  /** Per node. */
  readonly cpuCount: number;
  readonly walltimeMs: number | null;
  readonly runMs: number;
  readonly code: number;
  readonly submittedAt: number;
  state: 'held' | 'waiting' | 'running' | 'ended';
  word: string;
  nodes: readonly string[];
  startedAt: number | null;
  endedAt: number | null;
  exit: Exit | null;
  /** The system has forgotten it. */
  isPurged: boolean;
  /** True time until which listings leave it out. */
  hiddenUntil: number;
}

export type Gift = Pick<
  SystemJob,
  'name' | 'owner' | 'nodeCount' | 'cpuCount' | 'walltimeMs' | 'runMs' | 'code'
> & { readonly script?: string; readonly directory?: string };

export type Starter = 'scheduler' | 'gateway' | 'operator';

export interface SystemWorld {
  readonly site: string;
  readonly time: Time;
  readonly streams: Streams;
  readonly disk: SiteDisk;
  /** Ms since 1970. */
  readonly now: () => number;
  /** An ended job is forgotten so long after its end. */
  readonly purgeMs: number;
  readonly note: (text: string) => void;
  readonly onProgram: (what: 'start' | 'end', program: Program) => void;
  readonly onSubmitted: (job: SystemJob) => void;
  readonly onStarted: (job: SystemJob, by: Starter) => void;
}

const PASS_MS = 1000;
const NO_SUCH = 'no such job';

export class ForeignSystem {
  readonly world: SystemWorld;
  readonly nodes: readonly SystemNode[];
  /** All that there ever were. */
  readonly jobs = new Map<string, SystemJob>();
  readonly programs = new Set<Program>();
  isScheduling: boolean;
  readonly #dice: Dice;
  /** What a running job does next is over when it ends. */
  readonly #running = new Map<SystemJob, Program | null>();

  constructor(world: SystemWorld, nodes: readonly SystemNode[], isScheduling: boolean) {
    this.world = world;
    this.nodes = nodes;
    this.isScheduling = isScheduling;
    this.#dice = world.streams.of('system');
    this.#pass();
  }

  submit({ script, directory, ...of }: Gift): SystemJob {
    const launch = script === undefined ? null : launchOf(script, directory ?? '');
    const job: SystemJob = {
      ...of,
      ...{ id: String(this.jobs.size + 101), launch, submittedAt: this.world.now() },
      ...{ state: 'waiting', word: 'PEND', nodes: [], startedAt: null, endedAt: null, exit: null },
      ...{ isPurged: false, hiddenUntil: 0 },
    };
    this.jobs.set(job.id, job);
    this.#say(job, `is submitted by ${job.owner} as ${job.name}`);
    this.world.onSubmitted(job);
    return job;
  }

  /** Null: it has none such, or no more. */
  find(id: string): SystemJob | null {
    const job = this.jobs.get(id);
    return job === undefined || job.isPurged ? null : job;
  }

  hold(job: SystemJob, isHeld: boolean): void {
    if (job.state !== 'held' && job.state !== 'waiting') return;
    job.state = isHeld ? 'held' : 'waiting';
    this.#say(job, isHeld ? 'is held' : 'is released');
  }

  /** Null: done; else its refusal. */
  start(id: string, nodes: readonly string[], by: Starter): string | null {
    const job = this.find(id);
    if (job === null) return NO_SUCH;
    if (job.state !== 'waiting') return `job ${id} is ${job.state}`;
    const unfit = nodes.find((name) => !this.#fits(name, job.cpuCount));
    if (unfit !== undefined) return `node ${unfit} has no room`;
    if (nodes.length === 0) return 'no nodes';
    Object.assign(job, { state: 'running', word: 'RUN', nodes, startedAt: this.world.now() });
    this.#running.set(job, null);
    this.#say(job, `is started on ${nodes.join()} by the ${by}`);
    this.world.onStarted(job, by);
    this.#execute(job);
    return null;
  }

  /** Null: done; else its refusal. */
  cancel(id: string): string | null {
    const job = this.find(id);
    if (job === null) return NO_SUCH;
    this.#say(job, 'is told to end');
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
    Object.assign(node, { stopped: why, wish: why });
    this.world.note(
      `${this.world.site}: an operator ${why === null ? 'opens' : 'drains'} ${node.name}`,
    );
  }

  cpusUsed(name: string): number {
    const there = [...this.#running.keys()].filter(({ nodes }) => nodes.includes(name));
    return there.reduce((sum, { cpuCount }) => sum + cpuCount, 0);
  }

  #pass(): void {
    if (this.isScheduling) {
      for (const job of this.jobs.values()) if (job.state === 'waiting') this.#tryStart(job);
    }
    this.world.time.after(PASS_MS, () => this.#pass());
  }

  #tryStart(job: SystemJob): void {
    const fit = this.nodes.filter(({ name }) => this.#fits(name, job.cpuCount));
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
    time.after(purgeMs, () => {
      job.isPurged = true;
      this.#say(job, 'is forgotten');
    });
  }

  #say({ id }: SystemJob, words: string): void {
    this.world.note(`${this.world.site}: job ${id} ${words}`);
  }
}

/** What the script would run, read from its text. */
function launchOf(script: string, directory: string): Launch {
  const [, argument = ''] = /simulated '([^']*)'/.exec(script) ?? [];
  const variable = (name: string): string => new RegExp(`${name}=([^' ]+)`).exec(script)?.[1] ?? '';
  const epochId = `${variable('WEFT_TASK_ID')}#${variable('WEFT_EPOCH')}`;
  return { directory, plan: planOf(['simulated', argument]), epochId };
}
