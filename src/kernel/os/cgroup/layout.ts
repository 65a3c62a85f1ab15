// Which controller of which version this agent can really use: tried, not assumed. Makes the
// agent's own directory in each hierarchy; job groups are made inside it.

import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  readFileSync,
  rmdirSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname } from 'node:path';
import type { Hierarchy } from './hierarchies.ts';

export type Controller = 'memory' | 'cpu' | 'pids';

export interface Base {
  readonly version: 1 | 2;
  /** The agent's directory. */
  readonly path: string;
}

export interface Layout {
  readonly controllers: ReadonlyMap<Controller, Base>;
  /** Tells which processes are in a group, and ends them: version 2 if there is one. */
  readonly tracker: Base | null;
  /** Where version 1 shuts devices; null: it does not here. */
  readonly devices: Base | null;
  /** For people. */
  readonly words: string;
}

const WANTED: readonly Controller[] = ['memory', 'cpu', 'pids'];
/** Version 1 hierarchies that can stand in as tracker, best first. */
const TRACKERS = ['freezer', 'pids', 'memory', 'cpu'];
/** Where the agent itself moves, as version 2 allows no processes beside child groups. */
const SELF = 'weft-agent';
/** Unit of systemd that holds the groups of jobs, if it is there (deploy/systemd). */
const JOBS_UNIT = 'weft-jobs.service';

/** `name` is the agent's directory name: one per state directory. */
export function findLayout(hierarchies: readonly Hierarchy[], name: string): Layout {
  const controllers = new Map<Controller, Base>();
  const unified = useVersion2(hierarchies, name);
  for (const controller of WANTED) {
    const base = findVersion1(hierarchies, controller, name);
    if (base !== null) controllers.set(controller, base);
    else if (unified?.controllers.has(controller)) controllers.set(controller, unified.base);
  }
  const tracker = unified?.base ?? findTracker(hierarchies, name);
  const words = describe([...controllers.values()], tracker);
  return { controllers, tracker, devices: findVersion1(hierarchies, 'devices', name), words };
}

function findVersion1(
  hierarchies: readonly Hierarchy[],
  controller: string,
  name: string,
): Base | null {
  const one = hierarchies.find((h) => h.version === 1 && h.controllers.includes(controller));
  return one === undefined ? null : tryMake(one, name);
}

function findTracker(hierarchies: readonly Hierarchy[], name: string): Base | null {
  for (const controller of TRACKERS) {
    const base = findVersion1(hierarchies, controller, name);
    if (base !== null) return base;
  }
  return null;
}

function describe(bases: readonly Base[], tracker: Base | null): string {
  if (bases.length === 0) return 'polling';
  const versions = new Set(
    [...bases, ...(tracker === null ? [] : [tracker])].map((b) => b.version),
  );
  if (versions.size > 1) return 'cgroup hybrid';
  return versions.has(2) ? 'cgroup v2' : 'cgroup v1';
}

/** Null when we may not make groups there. */
function tryMake(hierarchy: Hierarchy, name: string): Base | null {
  const path = `${hierarchy.path}/${name}`;
  try {
    mkdirSync(path, { recursive: true });
    accessSync(`${path}/cgroup.procs`, constants.W_OK);
    return { version: hierarchy.version, path };
  } catch {
    return null; // Not ours to change: another controller, or polling, takes its place.
  }
}

interface Unified {
  readonly base: Base;
  readonly controllers: ReadonlySet<string>;
}

function useVersion2(hierarchies: readonly Hierarchy[], name: string): Unified | null {
  const own = hierarchies.find((hierarchy) => hierarchy.version === 2);
  if (own === undefined) return null;
  const path = placeOfJobs(own.path);
  const base = tryMake({ ...own, path }, name);
  if (base === null) return null;
  const offered = fileWordsOf(`${path}/cgroup.controllers`).filter((word) => isWanted(word));
  if (offered.length > 0 && !pass(path, offered)) makeRoom(path, offered);
  pass(base.path, offered);
  const controllers = new Set(fileWordsOf(`${base.path}/cgroup.subtree_control`));
  return { base, controllers };
}

/**
 * systemd starts the next agent at the top of its unit's group, where the kernel lets nobody in as
 * long as job groups with limits are below. So jobs live in a unit beside it, where root puts them:
 * to move a process, one has to have the group above both (cgroups(7), delegation containment).
 */
function placeOfJobs(own: string): string {
  const beside = `${dirname(own)}/${JOBS_UNIT}`;
  if (existsSync(beside) && mayWrite(`${dirname(own)}/cgroup.procs`)) return beside;
  // After a restart under the same supervisor we are still in the group made for ourselves.
  return basename(own) === SELF ? dirname(own) : own;
}

function mayWrite(path: string): boolean {
  try {
    accessSync(path, constants.W_OK);
    return true;
  } catch {
    return false; // An agent of an ordinary user: its own unit's group is all that it has.
  }
}

function isWanted(word: string): boolean {
  return (WANTED as readonly string[]).includes(word);
}

/** Moves this process out of the way, into a child of its own group. */
function makeRoom(path: string, controllers: readonly string[]): void {
  const self = `${path}/${SELF}`;
  try {
    mkdirSync(self, { recursive: true });
    writeFileSync(`${self}/cgroup.procs`, '0');
    if (!pass(path, controllers)) writeFileSync(`${path}/cgroup.procs`, '0');
    if (fileWordsOf(`${self}/cgroup.procs`).length === 0) rmdirSync(self);
  } catch {
    return; // Others live in our group too: no limits by version 2 then, as `words` shows.
  }
}

/** Hands controllers down to child groups; false when the kernel refuses. */
function pass(path: string, controllers: readonly string[]): boolean {
  try {
    const text = controllers.map((controller) => `+${controller}`).join(' ');
    writeFileSync(`${path}/cgroup.subtree_control`, text);
    return true;
  } catch {
    return false; // EBUSY with processes inside, EACCES without delegation.
  }
}

function fileWordsOf(path: string): string[] {
  if (!existsSync(path)) return [];
  return readFileSync(path, 'utf8')
    .split(/\s+/)
    .filter((word) => word !== '');
}
