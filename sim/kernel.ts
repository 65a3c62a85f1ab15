// The system of one simulated machine between two boots: its processes and limit groups. What is
// alive here is the ground truth that every safety rule is judged on.

import { BUILT_MARK } from '../src/kernel/model/batch.ts';
import type { Timer } from '../src/kernel/ports/clock.ts';
import type { LaunchRequest } from '../src/kernel/ports/processes.ts';
import { type BuildStep, Builds } from './builds.ts';
import type { Dice } from './chance.ts';
import type { Time } from './clock.ts';
import type { SimDisk } from './disk.ts';
import { type Plan, planOf, QUIET } from './plan.ts';
import type { Exit, SimProcess } from './process.ts';

const SIGKILL = 9;
const SIGTERM = 15;
const SIGCONT = 18;
const SIGSTOP = 19;
/** How long a script of the cluster itself takes. */
const SCRIPT_MS = 500;

export interface KernelWorld {
  readonly node: string;
  readonly time: Time;
  readonly dice: Dice;
  readonly disk: SimDisk;
  readonly onStart: (process: SimProcess) => void;
  readonly onEnd: (process: SimProcess) => void;
  readonly onWrite: (process: SimProcess, text: string) => void;
  /** Called when a process has written a file into its directory. */
  readonly onOutput: (process: SimProcess, name: string) => void;
  /** Called when a process builds the solver of its batch. */
  readonly onBuild: (what: BuildStep, process: SimProcess) => void;
  /** What a script comes to; null: it is none that anybody knows. */
  readonly runScript: (text: string) => ScriptEnd | null;
}

export interface ScriptEnd {
  readonly output: string;
  readonly code: number;
}

interface Group {
  readonly memoryBytes: number | null;
  outOfMemory: boolean;
}

export class Kernel {
  readonly processes = new Set<SimProcess>();
  readonly groups = new Map<string, Group>();
  readonly #world: KernelWorld;
  readonly #timers = new Map<SimProcess, Timer>();
  readonly #watchers = new Map<SimProcess, (what: 'ended' | 'stopped' | 'continued') => void>();
  readonly #builds: Builds;
  #nextGroup = 1;
  #on = true;

  constructor(world: KernelWorld) {
    this.#world = world;
    const { disk, onBuild } = world;
    this.#builds = new Builds({
      disk,
      onBuild,
      work: (process, ms, then) => this.#work(process, ms, then),
      wait: (process, wake) => this.#resumeBy.set(process, wake),
      // Never at once: whoever starts it is told of its end after that.
      end: (process, exit) => this.#endSoon(process, exit),
    });
  }

  /** `watch` is told what a parent is told of its child. */
  start(
    request: LaunchRequest,
    watch: (what: 'ended' | 'stopped' | 'continued') => void,
  ): SimProcess {
    const script = this.#scriptOf(request);
    const process = this.#fork(request, this.planOf(request), false);
    if (script !== null) this.#scripts.set(process, script);
    this.#watchers.set(process, watch);
    this.#directories.set(process, request.cwd);
    this.#write(process, request.stdout, 'begins');
    for (let child = 0; child < process.plan.leftovers; child += 1) {
      this.#fork(request, { ...process.plan, runMs: process.plan.leftoverMs, code: 0 }, true);
    }
    if (process.plan.eatsBytes > 0) this.#eat(process);
    return process;
  }

  planOf(request: LaunchRequest): Plan {
    const isScript = this.#scriptOf(request) !== null;
    return isScript ? { ...QUIET, runMs: SCRIPT_MS } : planOf(request.argv);
  }

  signal(process: SimProcess, signal: number): void {
    if (process.state === 'ended') return;
    if (signal === SIGSTOP) this.#stop(process);
    else if (signal === SIGCONT) this.#continue(process);
    else if (signal === SIGKILL) this.#endSoon(process, { signal });
    else if (signal === SIGTERM && !process.plan.ignoresTerm) {
      // A stopped process hears of TERM when it goes on.
      if (process.state === 'running') this.#endSoon(process, { signal });
      else this.#termPending.add(process);
    }
  }

  makeGroup(memoryBytes: number | null): string {
    const name = `group-${this.#nextGroup++}`;
    this.groups.set(name, { memoryBytes, outOfMemory: false });
    return name;
  }

  inGroup(name: string): SimProcess[] {
    return [...this.processes].filter((process) => process.group === name);
  }

  /** Everything is gone at once; nobody is told. */
  powerOff(): void {
    this.#on = false;
    this.#watchers.clear();
    for (const process of [...this.processes]) this.#end(process, { signal: SIGKILL });
  }

  readonly #termPending = new Set<SimProcess>();
  readonly #scripts = new WeakMap<SimProcess, string>();

  #scriptOf({ argv }: LaunchRequest): string | null {
    const text = this.#world.disk.files.get(argv[0] ?? '')?.toString();
    return text?.startsWith('#!') === true ? text : null;
  }

  #fork(request: LaunchRequest, plan: Plan, isLeftover: boolean): SimProcess {
    const { node, time } = this.#world;
    const variables = new Map(request.environment.map((line) => splitVariable(line)));
    const process: SimProcess = {
      node,
      launchId: request.launchId,
      variables,
      plan,
      isLeftover,
      mark: variables.get('WEFT_LAUNCH') ?? '',
      group: request.cgroupProcs[0] ?? null,
      startedAt: time.now,
      state: 'running',
      ranMs: 0,
      runningSince: time.now,
      exit: null,
    };
    this.processes.add(process);
    this.#world.onStart(process);
    if (isLeftover) this.#run(process, request.stdout);
    else this.#builds.enter(process, () => this.#begin(process, request));
    return process;
  }

  /** The task itself, over what was built for it. */
  #begin(process: SimProcess, { cwd, stdout }: LaunchRequest): void {
    if (process.plan.build !== undefined) {
      process.builtAtMs = this.#ranMs(process);
      this.#world.disk.files.set(`${cwd}/${BUILT_MARK}`, Buffer.alloc(0));
    }
    this.#run(process, stdout);
  }

  #run(process: SimProcess, stdout: string): void {
    const { plan } = process;
    const runMs = runMsOf(process);
    this.#resumeBy.delete(process);
    if (runMs === null) return;
    this.#work(process, runMs, () => {
      const script = this.#scripts.get(process);
      const did = script === undefined ? null : this.#world.runScript(script);
      if (did !== null) {
        this.#writeText(process, stdout, did.output);
        return this.#end(process, { code: did.code });
      }
      if (!process.isLeftover) this.#write(process, stdout, 'ends');
      this.#leaveOutputs(process);
      this.#end(process, plan.signal === null ? { code: plan.code } : { signal: plan.signal });
    });
  }

  /** Goes on when the process has run for so long from here, without its stops. */
  #work(process: SimProcess, ms: number, then: () => void): void {
    const until = this.#ranMs(process) + ms;
    const goOn = (): void => {
      const left = Math.max(0, until - this.#ranMs(process));
      this.#timers.set(process, this.#world.time.after(left, then));
    };
    this.#resumeBy.set(process, goOn);
    goOn();
  }

  #ranMs({ ranMs, runningSince }: SimProcess): number {
    return ranMs + this.#world.time.now - (runningSince ?? this.#world.time.now);
  }

  readonly #resumeBy = new Map<SimProcess, () => void>();
  readonly #directories = new WeakMap<SimProcess, string>();

  #leaveOutputs(process: SimProcess): void {
    const { disk, onOutput } = this.#world;
    const directory = this.#directories.get(process);
    if (directory === undefined || disk.isFull) return;
    for (let at = 0; at < (process.plan.outputs ?? 0); at += 1) {
      const name = `output.${process.launchId}.${at}`;
      disk.append(`${directory}/${name}`, process.mark);
      onOutput(process, name);
    }
  }

  #stop(process: SimProcess): void {
    if (process.state !== 'running') return;
    process.state = 'stopped';
    process.ranMs += this.#world.time.now - (process.runningSince ?? this.#world.time.now);
    process.runningSince = null;
    this.#timers.get(process)?.cancel();
    this.#watchers.get(process)?.('stopped');
  }

  #continue(process: SimProcess): void {
    if (process.state !== 'stopped') return;
    process.state = 'running';
    process.runningSince = this.#world.time.now;
    this.#watchers.get(process)?.('continued');
    if (this.#termPending.delete(process)) this.#endSoon(process, { signal: SIGTERM });
    else this.#resumeBy.get(process)?.();
  }

  #endSoon(process: SimProcess, exit: Exit): void {
    this.#world.time.after(this.#world.dice.whole(0, 5), () => this.#end(process, exit));
  }

  #end(process: SimProcess, exit: Exit): void {
    if (process.state === 'ended') return;
    if (process.runningSince !== null) {
      process.ranMs += this.#world.time.now - process.runningSince;
    }
    process.state = 'ended';
    process.exit = exit;
    this.#timers.get(process)?.cancel();
    this.#timers.delete(process);
    this.#resumeBy.delete(process);
    this.#termPending.delete(process);
    this.processes.delete(process);
    this.#world.onEnd(process);
    this.#watchers.get(process)?.('ended');
    this.#watchers.delete(process);
    if (this.#on) this.#builds.leave(process);
  }

  /** Uses more and more memory; a group with a limit ends it for that. */
  #eat(process: SimProcess): void {
    const group = process.group === null ? undefined : this.groups.get(process.group);
    const max = group?.memoryBytes ?? null;
    if (group === undefined || max === null || process.plan.eatsBytes <= max) return;
    this.#world.time.after(process.plan.eatsAfterMs, () => {
      if (process.state === 'ended' || !this.#on) return;
      group.outOfMemory = true;
      this.#end(process, { signal: SIGKILL });
    });
  }

  /** Bytes in use now, as far as they matter to a limit. */
  memoryOf(process: SimProcess): number {
    const { eatsBytes, eatsAfterMs } = process.plan;
    return this.#world.time.now - process.startedAt >= eatsAfterMs ? eatsBytes : 0;
  }

  #write(process: SimProcess, path: string, word: string): void {
    this.#writeText(process, path, `${word} ${process.mark}\n`);
  }

  #writeText(process: SimProcess, path: string, text: string): void {
    // A program whose output finds no room is told so, and goes on.
    if (!path.includes('/spool/') || this.#world.disk.isFull) return;
    this.#world.disk.append(path, text);
    this.#world.onWrite(process, text);
  }
}

function runMsOf({ plan: { runMs, slow }, variables, isLeftover }: SimProcess): number | null {
  if (slow === undefined || isLeftover) return runMs;
  return Number(variables.get('WEFT_ARRAY_INDEX')) % slow.every === 0 ? slow.runMs : runMs;
}

function splitVariable(line: string): [string, string] {
  const at = line.indexOf('=');
  return [line.slice(0, at), line.slice(at + 1)];
}
