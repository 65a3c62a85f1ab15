// Cgroups that killed agents left behind: empty, and of no agent that still lives. An agent whose
// state directory was removed cannot clear them away itself.

import { readdirSync, readFileSync, rmdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { err, ok, type Result } from '../../base/result.ts';

/** The directories that agents make: named after the first letters of a random UUID. */
const NAME = /^weft-([0-9a-f]{8}-[0-9a-f]{4})$/;
/** Controllers of version 1 in whose hierarchies agents make directories. */
export const OF_AGENTS = /memory|cpu|pids|freezer|devices/;
/** Below the mount of a hierarchy: slices, services, containers. */
const DEPTH_MAX = 5;
/** An agent makes its directory a moment before its launcher runs, by which it is known to live. */
const AGE_MIN_MS = 60_000;

/** What is known of the machine; a test brings its own. */
export interface Surroundings {
  /** Where hierarchies are mounted. */
  readonly mounts: readonly string[];
  /** Instances of agents that live. */
  readonly living: ReadonlySet<string>;
  readonly now: number;
}

/** Mounts of hierarchies; of version 1 those with one of these controllers. */
export function cgroupMounts(controllers: RegExp): string[] {
  const mounts = readFileSync('/proc/self/mountinfo', 'utf8').split('\n');
  return mounts.flatMap((line) => {
    const [before = '', after = ''] = line.split(' - ');
    const kind = after.split(' ')[0] ?? '';
    const place = before.split(' ')[4] ?? '';
    return kind === 'cgroup2' || (kind === 'cgroup' && controllers.test(after)) ? [place] : [];
  });
}

/** Those of this machine; an error says why nobody can tell. */
export function leftoversHere(): Result<string[], string> {
  const mounts = [...new Set(cgroupMounts(OF_AGENTS))];
  const living = livingInstances();
  if (living === null) return err('agents of other users run here; root can check');
  const left = leftoverGroups({ mounts, living, now: Date.now() });
  if (left.length > 0 && areProcessesHidden(mounts)) {
    return err('in a container the processes outside cannot be seen');
  }
  return ok(left);
}

/** Directories of agents that are gone, with nothing running in them. */
export function leftoverGroups({ mounts, living, now }: Surroundings): string[] {
  return mounts
    .flatMap((mount) => agentDirectories(mount, DEPTH_MAX))
    .filter((directory) => {
      const instance = NAME.exec(path.basename(directory))?.[1] ?? '';
      return !living.has(instance) && isOld(directory, now) && isEmpty(directory);
    });
}

/** Removes a directory with its groups; false when somebody has moved in meanwhile. */
export function removeGroups(directory: string): boolean {
  try {
    for (const child of childrenOf(directory)) removeGroups(child);
    rmdirSync(directory);
    return true;
  } catch {
    return false; // EBUSY, or not ours: it stays, and the next look shows it again.
  }
}

/**
 * Instances whose launcher runs; it names its state directory, which holds the instance. Null when
 * one is closed to us, as another user's is: then nobody can be said to be dead.
 */
export function livingInstances(proc = '/proc'): Set<string> | null {
  const instances = new Set<string>();
  for (const pid of readdirSync(proc)) {
    if (!/^\d+$/.test(pid)) continue;
    const argv = read(`${proc}/${pid}/cmdline`).split('\0');
    const socket = argv[argv.indexOf('--socket') + 1] ?? '';
    if (!argv.includes('--socket') || path.basename(socket) !== 'launcher.sock') continue;
    // Through its own root: a container's paths are not ours.
    const instance = readIfThere(`${proc}/${pid}/root${path.dirname(socket)}/instance`);
    if (instance === null) return null;
    instances.add(instance.trim());
  }
  return instances;
}

/**
 * Whether groups have processes that we cannot see, as in a container that is shown the machine's
 * groups: then agents may live that we do not know of.
 */
export function areProcessesHidden(mounts: readonly string[]): boolean {
  return mounts.some((mount) => hasHidden(mount, DEPTH_MAX));
}

/** Processes of another pid namespace are listed as 0 (cgroups(7), pid_namespaces(7)). */
function hasHidden(directory: string, depth: number): boolean {
  if (/^0$/m.test(read(`${directory}/cgroup.procs`))) return true;
  return depth > 0 && childrenOf(directory).some((child) => hasHidden(child, depth - 1));
}

function agentDirectories(directory: string, depth: number): string[] {
  if (NAME.test(path.basename(directory))) return [directory];
  if (depth === 0) return [];
  return childrenOf(directory).flatMap((child) => agentDirectories(child, depth - 1));
}

function childrenOf(directory: string): string[] {
  try {
    const entries = readdirSync(directory, { withFileTypes: true });
    return entries.filter((one) => one.isDirectory()).map(({ name }) => path.join(directory, name));
  } catch {
    return []; // Gone meanwhile, or not for us to read.
  }
}

function isEmpty(directory: string): boolean {
  // A group that cannot be read is not known to be empty.
  if (read(`${directory}/cgroup.procs`, 'unreadable') !== '') return false;
  // Of version 2; threads are in no `cgroup.procs`.
  if (/^populated 1$/m.test(read(`${directory}/cgroup.events`))) return false;
  return childrenOf(directory).every(isEmpty);
}

function isOld(directory: string, now: number): boolean {
  try {
    return now - statSync(directory).ctimeMs >= AGE_MIN_MS;
  } catch {
    return false; // Gone meanwhile.
  }
}

/** Empty when there is no such file; null when we may not know. */
function readIfThere(file: string): string | null {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    return ['ENOENT', 'ESRCH'].includes(code) ? '' : null;
  }
}

function read(file: string, otherwise = ''): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return otherwise;
  }
}
