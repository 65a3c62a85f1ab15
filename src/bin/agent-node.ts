// One node of an agent process: what it says of itself, and the Linux that its agent gets.

import { join, resolve } from 'node:path';
import { LauncherClient } from '../kernel/agent/launcher-client.ts';
import type { AgentSettings, AllPorts } from '../kernel/agent/ports.ts';
import { headDirectoryOf } from '../kernel/connect/locate.ts';
import { originOf } from '../kernel/connect/origin.ts';
import { parseNodeName } from '../kernel/model/ids.ts';
import { MESSAGE_BYTES_MAX, SPOOL_BYTES_MAX } from '../kernel/model/limits.ts';
import type { MachineMarks, NodeFacts } from '../kernel/model/node.ts';
import { PAUSE_MAX_MS } from '../kernel/model/pause.ts';
import type { Resources } from '../kernel/model/resources.ts';
import { systemContainment } from '../kernel/os/cgroup/containment.ts';
import { systemChance } from '../kernel/os/chance.ts';
import { systemBootClock, systemClock } from '../kernel/os/clock.ts';
import { systemCommands } from '../kernel/os/commands.ts';
import { diskFree, diskSize, type Found, type MachineLoad } from '../kernel/os/detect.ts';
import { headDialer } from '../kernel/os/dialer.ts';
import { systemFiles } from '../kernel/os/files.ts';
import { openJournalFile, reserveOfEach } from '../kernel/os/journal-file.ts';
import type { LauncherProgram } from '../kernel/os/launcher-build.ts';
import { reachLauncher } from '../kernel/os/launcher-link.ts';
import { readMachineMarks } from '../kernel/os/machine-marks.ts';
import { systemPipes } from '../kernel/os/pipes.ts';
import { accountHome } from '../kernel/os/users.ts';
import type { Marks } from '../kernel/ports/marks.ts';
import type { Users } from '../kernel/ports/users.ts';
import type { NodeCache } from '../kernel/staging/node-cache.ts';
import type { AgentMaker, Elsewhere } from '../kernel/wing.ts';
import type { AgentOptions } from './agent-options.ts';
import { stagingOf } from './agent-staging.ts';
import type { RuntimesFound } from './runtimes-watch.ts';

/** What all nodes of a process have in common, found out once. */
export interface Machine {
  readonly launcher: LauncherProgram;
  readonly found: Found;
  readonly bootId: string;
  /** By the monotonic clock; null: not known. */
  readonly bootBeganAt: number | null;
  /** Facts of the system and its network. */
  readonly facts: Pick<NodeFacts, 'os' | 'arch' | 'kernel' | 'hostname' | 'network'>;
  readonly version: string;
  readonly users: Users;
  readonly marks: Marks;
  readonly load: () => MachineLoad;
  /** What was there when the process began. */
  readonly runtimes: RuntimesFound;
  /** How many this process has. */
  readonly nodeCount: number;
  /** Those of wings that do something in agents. */
  readonly makers: readonly AgentMaker[];
  /** Called when a connection to the head has ended. */
  readonly onHeadLost: () => void;
}

/** Where a node keeps what is its own, and where its tasks run. */
export interface NodePlace {
  /** The name of its state directory. */
  readonly instance: string;
  /** Null: its tasks run on this machine. */
  readonly elsewhere: Elsewhere | null;
}

/** What a node says of itself. Throws with words when its options cannot be. */
export function settingsOf(
  options: AgentOptions,
  machine: Machine,
  { instance, elsewhere }: NodePlace,
): AgentSettings {
  const node = parseNodeName(options.name);
  if (!node.ok) throw new Error(node.error);
  const { found } = machine;
  const isRoot = process.getuid?.() === 0;
  const switchUser = options.switchUser === 'auto' ? isRoot : options.switchUser;
  if (switchUser && !isRoot)
    throw new Error('only an agent that runs as root can run jobs as other users');
  const headDirectory =
    elsewhere === null ? headDirectoryOf(placeOf(options), process.env, accountHome()) : null;
  return {
    node: node.value,
    bootId: machine.bootId,
    instance,
    machine: marksOf(options),
    ...(machine.bootBeganAt === null ? {} : { bootBeganAt: machine.bootBeganAt }),
    resources: { ...resourcesOf(found), ...options.resources },
    gpuFrom: options.gpuFrom ?? 0,
    labels: labelsOf({ labels: options.labels, elsewhere }, machine, machine.runtimes),
    sharedPaths: options.sharedPaths,
    ...(options.jobPath === undefined ? {} : { jobPath: options.jobPath }),
    ...(headDirectory === null ? {} : { headDirectory }),
    facts: factsOf(options, machine, switchUser),
    stateDir: options.stateDir,
    spoolBytesMax: options.spoolBytesMax ?? SPOOL_BYTES_MAX,
    switchUser,
    ownUserOnly: isOwnOnly(options),
    allowRoot: false,
    pauseMaxMs: PAUSE_MAX_MS,
    isWholeMachine: options.resources?.cpuCount === undefined,
  };
}

/** Nodes that `weft up` has made have their directory in that of the head (local-paths.ts). */
function placeOf({ head, stateDir }: AgentOptions): { socket: string | null; directory: string } {
  const socket = 'socketPath' in head ? resolve(head.socketPath) : null;
  return { socket, directory: resolve(stateDir, '..', '..') };
}

/** `weft up` says false outright: its owner has let in whoever comes. */
function isOwnOnly({ switchUser }: AgentOptions): boolean {
  return switchUser === 'auto' && process.getuid?.() !== 0;
}

/**
 * What was found on the machine, with what runs containers there now, and what was declared. Only
 * the latter where tasks do not run on this machine.
 */
export function labelsOf(
  { labels, elsewhere }: Pick<AgentOptions, 'labels'> & Pick<NodePlace, 'elsewhere'>,
  { found }: { readonly found: Pick<Found, 'labels'> },
  runtimes: Pick<RuntimesFound, 'labels'>,
): string[] {
  if (elsewhere !== null) return [...new Set(labels)];
  return [...new Set([...found.labels, ...runtimes.labels, ...labels])];
}

function resourcesOf({ cpuCount, memoryBytes, gpuCount }: Found): Resources {
  return { cpuCount, memoryBytes, gpuCount, counted: {} };
}

function factsOf(options: AgentOptions, machine: Machine, switchesUser: boolean): NodeFacts {
  return {
    ...machine.facts,
    agentVersion: machine.version,
    diskBytes: diskSize(options.stateDir),
    diskFreeBytes: diskFree(options.stateDir),
    limits: '',
    containers: machine.runtimes.words,
    launcher: machine.launcher.kind,
    switchesUser,
    ...(isOwnOnly(options) ? { ownUserOnly: true } : {}),
    user: machine.users.self().name,
  };
}

function marksOf({ stateDir }: AgentOptions): MachineMarks {
  const copyOf = originOf(stateDir);
  return { ...readMachineMarks(stateDir), ...(copyOf === null ? {} : { copyOf }) };
}

/** Null: there is only the one in Node.js. */
function compiled({ kind, command }: LauncherProgram): readonly string[] | null {
  return kind === 'c' ? command : null;
}

/** The ports of one node: its session, journal, launcher and groups; the rest is the machine's. */
export function portsOf(
  options: AgentOptions,
  machine: Machine,
  own: NodePlace & { readonly log: AllPorts['log']; readonly cache: NodeCache },
): AllPorts {
  const { stateDir, name, secret, head } = options;
  const { log } = own;
  const place = {
    socketPath: join(stateDir, 'launcher.sock'),
    logFile: join(stateDir, 'launcher.log'),
    command: machine.launcher.command,
  };
  return {
    clock: systemClock,
    bootClock: systemBootClock(machine.bootId),
    chance: systemChance,
    log,
    dialer: headDialer({
      name,
      secret,
      head,
      messageBytesMax: MESSAGE_BYTES_MAX,
      onLost: machine.onHeadLost,
    }),
    connectLauncher: async () => {
      const onRefused = (why: string): void => log.debug({ why }, 'the launcher refused a request');
      return new LauncherClient(await reachLauncher(place), { onRefused });
    },
    journal: openJournalFile(join(stateDir, 'journal'), reserveOfEach(machine.nodeCount)),
    files: systemFiles,
    users: machine.users,
    containment: systemContainment(own.instance, { launcher: compiled(machine.launcher) }),
    marks: machine.marks,
    staging: stagingOf(options, own),
    commands: systemCommands,
    pipes: systemPipes,
    load: () => ({ ...machine.load(), diskFreeBytes: diskFree(stateDir) }),
    ...(options.health === undefined
      ? {}
      : { health: { ...options.health, commands: systemCommands } }),
    ...own.elsewhere?.ports(own.instance),
  };
}
