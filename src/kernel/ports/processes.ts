// Starting and ending processes on a node, as the agent's shell sees it. Implemented over the
// launcher (agent/launcher-client.ts) and by the simulator.

import type { SignalTo } from '../model/job.ts';
import type { KnownProcess, ProcessEvent } from '../model/processes.ts';

/** One process to start. `launchId` is chosen by the agent and never reused within its instance. */
export interface LaunchRequest {
  readonly launchId: number;
  readonly argv: readonly string[];
  readonly environment: readonly string[];
  readonly cwd: string;
  readonly stdin: string;
  /** `stdin` is what a client's input is written to while the process runs (ports/pipes.ts). */
  readonly isFed?: true;
  readonly stdout: string;
  readonly stderr: string;
  readonly append: boolean;
  /** Null: as the agent's own user. */
  readonly credentials: {
    readonly uid: number;
    readonly gid: number;
    readonly groups: readonly number[];
  } | null;
  readonly umask: number;
  readonly nice: number;
  /** `cgroup.procs` files to join before the program starts. */
  readonly cgroupProcs: readonly string[];
  /** The folders above output files are made as well, as the same user. */
  readonly makeParents: boolean;
  /** The process is killed so long after the head was `heard`, whoever else lives; null = never. */
  readonly leaseMs: number | null;
  /** A job that a site has already, and is to start on these nodes; absent: a program. */
  readonly foreign?: {
    readonly job: string;
    readonly index: number | null;
    readonly nodes: readonly string[];
    /** One of the nodes has it started, for all of them. */
    readonly isLead: boolean;
  };
  /** What the task may use: for those who give it to another system. */
  readonly wants: {
    readonly cpuCount: number;
    readonly memoryBytes: number;
    readonly walltimeMs: number | null;
  };
}

export interface Processes {
  /** Resolves with everything that is alive or not yet forgotten. Called once, first. */
  adopt(): Promise<readonly KnownProcess[]>;
  /**
   * Known once `adopt` has resolved. Not null, its name: older than this agent, so that nothing may
   * be started by it. It ends, and `onLost` is called, as soon as everything is forgotten.
   */
  readonly outdated: string | null;
  onEvent(handler: (event: ProcessEvent) => void): void;
  /** The launcher is gone: its processes have to be found and ended by other means. */
  onLost(handler: (why: string) => void): void;
  start(request: LaunchRequest): void;
  /** The head answered what was sent at this monotonic instant: every lease counts from there. */
  heard(monotonic: number): void;
  /**
   * To every process that belongs to it, also those that left its session.
   * @param isAsked somebody sends it to them for what they make of it. Absent: they are to end,
   * stop or go on.
   * @param to absent: to all of them.
   */
  signal(launchId: number, signal: number, isAsked?: boolean, to?: SignalTo): void;
  /** How many processes still belong to it, zombies aside. */
  leftovers(launchId: number): Promise<number>;
  /** Lets an ended record go. */
  forget(launchId: number): void;
  /** Kills every process and ends the launcher; `onLost` is called when that is done. */
  shutDown(): void;
  /** Leaves; launcher and processes go on. */
  close(): void;
}

/** The connection to a launcher, for example a unix socket. */
export interface LauncherStream {
  write(bytes: Uint8Array): void;
  onData(handler: (bytes: Uint8Array) => void): void;
  onClose(handler: () => void): void;
  close(): void;
}
