// The daemons that `weft up` has started, and how each is started again.

import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import path from 'node:path';
import { folderOf, type ProcessMark, readLiveMark, writeMark } from '../../connect/process-file.ts';
import { type LocalPaths, readJson, writeJson } from './local-paths.ts';
import { readRestarts } from './restarts.ts';
import type { Daemon } from './spawn.ts';

interface Roster {
  readonly daemons: readonly Daemon[];
}

/** Whether somebody lives who would start this daemon again, and has not given up. */
export function isKept(paths: LocalPaths, name: string): boolean {
  const daemons = readRoster(paths);
  const own = daemons.find((one) => isOf(one, name));
  if (own?.isKept !== true) return false;
  if (readRestarts(paths)[own.names[0] ?? '']?.gaveUp) return false;
  return daemons.some((one) => one.isKept && isRunning(one));
}

export function readRoster(paths: LocalPaths): readonly Daemon[] {
  const daemons = readJson<Roster>(paths.roster)?.daemons ?? [];
  // In a copy of the folder the roster names the original's.
  return daemons.filter((daemon) => marksOnePerFolder(daemon).every((file) => isIn(paths, file)));
}

/** All nodes of a process have their marks in one folder, and who keeps them looks every second. */
function marksOnePerFolder({ markFiles }: Daemon): readonly string[] {
  return [...new Map(markFiles.map((file) => [path.dirname(file), file])).values()];
}

function isIn(paths: LocalPaths, file: string): boolean {
  const isThere = existsSync(path.dirname(file)) && existsSync(path.dirname(paths.roster));
  return isThere && folderOf(file) === folderOf(paths.roster);
}

/** Adds a daemon; one of the same names makes way for it, and so does what no longer runs. */
export function addToRoster(paths: LocalPaths, daemon: Daemon): void {
  const others = readRoster(paths).filter(({ names }) => !names.some((one) => isOf(daemon, one)));
  const daemons = [...others.filter((one) => isRunning(one)), daemon];
  writeJson(paths.roster, { daemons } satisfies Roster);
}

/** What this daemon writes before its log is open; its own file where nothing is known of it. */
export function outputOf(paths: LocalPaths, name: string): string {
  const daemon = readRoster(paths).find((one) => isOf(one, name));
  return daemon?.outputFile ?? paths.output(name);
}

/** The daemon's process; null: it is dead. All names of a daemon are one process. */
export function processOf({ markFiles }: Daemon): ProcessMark | null {
  for (const file of markFiles) {
    const mark = readLiveMark(file);
    if (mark !== null) return mark;
  }
  return null;
}

export function isRunning(daemon: Daemon): boolean {
  return processOf(daemon) !== null;
}

/**
 * Marks daemons that nobody has marked: whoever started them was killed before. They stand in the
 * roster before they are started, and are known by what they were started with.
 */
export function markUnmarked(paths: LocalPaths): void {
  const lost = readRoster(paths).filter((daemon) => !isRunning(daemon));
  if (lost.length === 0) return;
  for (const name of readdirSync('/proc')) {
    const argv = /^\d+$/.test(name) ? argvHere(name) : [];
    const daemon = lost.find(({ script, optionsFiles }) =>
      [script, ...optionsFiles].every((word) => argv.includes(word)),
    );
    for (const file of daemon?.markFiles ?? []) writeMark(file, Number(name));
  }
}

/** Empty: it is gone, another user's, or sees other files by the same names, as in a container. */
function argvHere(pid: string): string[] {
  try {
    const mounts = readlinkSync(`/proc/${pid}/ns/mnt`);
    if (mounts !== readlinkSync('/proc/self/ns/mnt')) return [];
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
  } catch {
    return [];
  }
}

function isOf({ names }: Daemon, name: string): boolean {
  return names.includes(name);
}
