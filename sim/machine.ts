// One simulated node: power, clocks, disk, system and launcher, and the lives of the real agent
// shell that run on it.

import { type Agent, startAgent } from '../src/kernel/agent/agent.ts';
import type { AgentPorts, AgentSettings } from '../src/kernel/agent/ports.ts';
import type { NodeName } from '../src/kernel/model/ids.ts';
import { PAUSE_MAX_MS } from '../src/kernel/model/pause.ts';
import type { Resources } from '../src/kernel/model/resources.ts';
import type { Log } from '../src/kernel/ports/log.ts';
import type { Dialer, Session } from '../src/kernel/ports/net.ts';
import type { UserAccount } from '../src/kernel/ports/users.ts';
import { agentParts } from './agent-parts.ts';
import type { BuildStep } from './builds.ts';
import { type CardMake, SimCards } from './cards.ts';
import type { Streams } from './chance.ts';
import { BOOT_BEGAN_AT, Life, SimClock, type Skew, simBootClock, type Time } from './clock.ts';
import { filesOf, type JournalCrash, journalOf, SimDisk } from './disk.ts';
import { Kernel, type ScriptEnd } from './kernel.ts';
import type { Link } from './net.ts';
import { argvOf, QUIET } from './plan.ts';
import type { SimProcess } from './process.ts';
import { groupContainment, marksOf, SimLauncher } from './processes.ts';
import { SimStaging } from './staging.ts';

/** What does not change over the life of a machine. */
export interface MachineMake {
  readonly name: NodeName;
  readonly resources: Resources;
  readonly hasGroups: boolean;
  /** Types of its gpus; absent: they are only counted. */
  readonly cards?: readonly CardMake[];
  readonly sharedPaths: readonly string[];
  readonly rate: number;
  /** Set for a copy of another machine, which tells of its boots and its board. */
  readonly copy?: Copy;
}

export interface Copy {
  readonly word: string;
  readonly disk: SimDisk;
  readonly installs: number;
}

export interface MachineWorld {
  readonly time: Time;
  readonly streams: Streams;
  readonly link: Link;
  readonly log: Log;
  /** Dials the head for the agent of this life. */
  readonly dialer: (machine: Machine, life: Life) => Dialer;
  /** Asks the head for the files of tasks. */
  readonly dialFiles: (machine: Machine, life: Life) => Promise<Session>;
  readonly onProcess: (what: 'start' | 'end', process: SimProcess) => void;
  readonly onWrite: (process: SimProcess, text: string) => void;
  /** Called when a process has written a file into its directory. */
  readonly onOutput: (process: SimProcess, name: string) => void;
  /** Called when a process builds the solver of its batch. */
  readonly onBuild: (what: BuildStep, process: SimProcess) => void;
  /** What a script of the cluster itself comes to on this node. */
  readonly runScript: (node: string, text: string) => ScriptEnd | null;
  /** Lets a canary put something between an agent and its world. */
  readonly wrapPorts: (ports: AgentPorts) => AgentPorts;
  readonly note: (text: string) => void;
}

export const USERS: readonly string[] = ['alice', 'bob'];

export class Machine {
  readonly make: MachineMake;
  readonly disk: SimDisk;
  readonly skew: Skew;
  readonly cards: SimCards | null;
  readonly #world: MachineWorld;
  kernel: Kernel;
  agent: Agent | null = null;
  isOn = false;
  /** Nobody switches it on meanwhile. */
  isLocked = false;
  /** True time since which an agent has been up without a break; null while there is none. */
  agentSince: number | null = null;
  forkFailures = 0;
  /** How the next journal write ends the agent. */
  journalCrash: JournalCrash = 'none';
  /** Their launcher was killed. */
  readonly orphans = new WeakSet<SimProcess>();
  #launcher: SimLauncher | null = null;
  #life = new Life();
  #boots = 0;
  #installs: number;

  constructor(make: MachineMake, world: MachineWorld) {
    this.make = make;
    this.#world = world;
    this.disk = make.copy?.disk ?? new SimDisk();
    this.#installs = make.copy?.installs ?? 1;
    this.cards = make.cards === undefined ? null : new SimCards(make.cards);
    this.skew = {
      rate: make.rate,
      wallMs: world.streams.of('clock').whole(-500, 500),
      bootedAt: 0,
    };
    this.kernel = this.#newKernel();
  }

  get name(): NodeName {
    return this.make.name;
  }

  /** Names this start of the machine, as a boot id does. */
  get bootId(): string {
    return `${this.#board}-boot-${this.#boots}`;
  }

  get #board(): string {
    return `${this.name}${this.make.copy?.word ?? ''}`;
  }

  /** For a machine beside this one that has all that its disk has now. */
  copied(word: string): MachineMake {
    const copy = { word, disk: this.disk.copied(), installs: this.#installs };
    return { ...this.make, copy };
  }

  /** A while later if somebody has it in hands. */
  powerOn(): void {
    if (this.isOn) return;
    if (this.isLocked) {
      this.#world.time.after(1000, () => this.powerOn());
      return;
    }
    this.isOn = true;
    this.#boots += 1;
    this.skew.bootedAt = this.#world.time.now;
    this.kernel = this.#newKernel();
    this.#launcher = null;
    this.#world.note(`${this.name} is on, boot ${this.#boots}`);
    this.startAgent();
  }

  /** `wipe`: it comes back freshly installed. */
  powerOff(wipe: boolean): void {
    if (!this.isOn) return;
    this.#world.note(`${this.name} loses power${wipe ? ' and its disk' : ''}`);
    this.#endLife(false);
    this.isOn = false;
    this.kernel.powerOff();
    this.#launcher = null;
    if (!wipe) return;
    this.disk.wipe();
    this.#installs += 1;
  }

  startAgent(): void {
    if (!this.isOn || this.agentSince !== null) return;
    const life = new Life();
    this.#life = life;
    this.agentSince = this.#world.time.now;
    this.journalCrash = 'none';
    this.#world.note(`${this.name} starts its agent`);
    const ports = this.#world.wrapPorts(this.#ports(life));
    const wings = agentParts(argvOf({ ...QUIET, runMs: null }));
    const parts = this.cards === null ? wings : [...wings, this.cards.part()];
    void startAgent(ports, this.#settings(), parts).then((agent) => {
      if (life.alive) this.agent = agent;
    });
  }

  /** Ends the agent like `kill -9`: launcher and processes go on. */
  crashAgent(): void {
    if (this.agentSince === null) return;
    this.#world.note(`${this.name} loses its agent`);
    this.#life.buffersLost = this.#world.streams.of('crash').happens(0.5);
    this.#endLife(true);
  }

  /** Stops the agent like a package upgrade does. */
  stopAgent(): void {
    if (this.agent === null) return;
    this.#world.note(`${this.name} stops its agent`);
    this.agent.stop();
    this.#endLife(true);
  }

  /** The run is over: nothing of it may act any more. */
  leave(): void {
    this.#life.alive = false;
  }

  killLauncher(): void {
    if (this.#launcher === null) return;
    this.#world.note(`${this.name} loses its launcher`);
    for (const process of this.kernel.processes) this.orphans.add(process);
    this.#launcher.die();
    this.#launcher = null;
  }

  get clock(): SimClock {
    return new SimClock(this.#world.time, this.#life, this.skew);
  }

  #endLife(isMachineUp: boolean): void {
    this.#life.alive = false;
    this.agentSince = null;
    this.agent = null;
    this.#world.link.sideGone('agent', isMachineUp);
  }

  #newKernel(): Kernel {
    const { time, streams, onProcess, onWrite, onOutput, onBuild, runScript } = this.#world;
    const dice = streams.of('kernel');
    return new Kernel({
      node: this.name,
      time,
      dice,
      disk: this.disk,
      onStart: (process) => onProcess('start', process),
      onEnd: (process) => onProcess('end', process),
      onWrite,
      onOutput,
      onBuild,
      runScript: (text) => runScript(this.name, text),
    });
  }

  #reachLauncher(): SimLauncher {
    if (this.#launcher !== null) return this.#launcher;
    const { time, streams } = this.#world;
    this.#launcher = new SimLauncher({
      time,
      streams: streams.under('launcher'),
      kernel: this.kernel,
      now: () => this.clock.now(),
      monotonic: () => this.clock.monotonic(),
      forkFailures: () => this.forkFailures,
      canMake: (path) => !this.disk.isFull || this.disk.files.has(path),
    });
    return this.#launcher;
  }

  #ports(life: Life): AgentPorts {
    const { time, streams, log, dialer } = this.#world;
    const accounts = new Map<string, UserAccount>();
    const clock = new SimClock(time, life, this.skew);
    return {
      clock,
      bootClock: simBootClock(clock, this.bootId),
      chance: streams.of('agent'),
      log,
      dialer: dialer(this, life),
      connectLauncher: () => this.#later(life, 5, () => this.#reachLauncher().connect(life)),
      journal: journalOf(this.disk, life, () => this.#crashInJournal()),
      files: filesOf(this.disk, life),
      users: {
        self: () => accountOf('root', 0),
        cached: (name) => accounts.get(name),
        find: (name) =>
          this.#later(life, streams.of('users').pick([1, 5, 200]), () => {
            const at = USERS.indexOf(name);
            if (at < 0) return null;
            const account = accountOf(name, 1000 + at);
            accounts.set(name, account);
            return account;
          }),
      },
      ...(this.make.hasGroups ? { containment: groupContainment(this.kernel, life) } : {}),
      staging: new SimStaging({
        time,
        life,
        disk: this.disk,
        dial: () => this.#world.dialFiles(this, life),
      }),
      marks: marksOf(this.kernel, life),
      load: () => ({ load1: 0, memoryFreeBytes: 0, diskFreeBytes: this.disk.freeBytes }),
    };
  }

  /** Something the system answers a moment later, but to nobody who is gone by then. */
  #later<T>(life: Life, ms: number, answer: () => T): Promise<T> {
    return new Promise((resolve) => {
      this.#world.time.after(ms, () => {
        if (life.alive) resolve(answer());
      });
    });
  }

  #crashInJournal(): JournalCrash {
    const crash = this.journalCrash;
    if (crash === 'none') return crash;
    this.journalCrash = 'none';
    // The bytes first, then the end: `append` looks at the life before it asks.
    this.crashAgent();
    return crash;
  }

  #settings(): AgentSettings {
    const { name, resources, sharedPaths } = this.make;
    return {
      node: name,
      bootId: this.bootId,
      instance: `${name}-install-${this.#installs}`,
      machine: { board: this.#board },
      bootBeganAt: BOOT_BEGAN_AT,
      resources,
      labels: ['simulated'],
      sharedPaths,
      facts: {
        os: 'Linux',
        arch: 'x64',
        kernel: '6',
        hostname: name,
        agentVersion: '0',
        diskFreeBytes: 0,
        diskBytes: 0,
        network: '',
        limits: 'cgroup v2',
        launcher: 'c',
        switchesUser: true,
        user: 'root',
      },
      stateDir: `/${name}`,
      spoolBytesMax: 1e9,
      switchUser: true,
      ownUserOnly: false,
      gpuFrom: 0,
      allowRoot: false,
      isWholeMachine: true,
      pauseMaxMs: PAUSE_MAX_MS,
    };
  }
}

function accountOf(name: string, uid: number): UserAccount {
  const home = `/var/lib/${name}`;
  return { name, uid, gid: uid, groups: [uid], home, shell: '/bin/sh' };
}
