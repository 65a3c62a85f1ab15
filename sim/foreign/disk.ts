// The file system that a gateway shares with its site's nodes: a folder for each job, where
// receipts take a while to be seen, and a claim that only one can have.

import { PROGRAM } from '../../src/wings/sites/fabric/site/program-file.ts';
import type { SiteFolders, SiteNotes } from '../../src/wings/sites/ports/sites.ts';
import type { Dice } from '../chance.ts';
import type { Life, Time } from '../clock.ts';

interface Folder {
  readonly notes: Map<string, string>;
  readonly written: Map<string, { readonly text: string; readonly seenAt: number }>;
  readonly script: string;
  isClaimed: boolean;
}

const SCRIPT = '/script';

export class SiteDisk {
  readonly folders = new Map<string, Folder>();
  /** Longest time after which others see what somebody wrote. */
  lagMs: number;
  readonly #programs = new Map<string, string>();
  readonly #time: Time;
  readonly #dice: Dice;

  constructor(time: Time, dice: Dice, lagMs: number) {
    this.#time = time;
    this.#dice = dice;
    this.lagMs = lagMs;
  }

  make(path: string, script: string, program: string): void {
    if (this.folders.has(path)) throw new Error(`EEXIST: ${path}`);
    this.#programs.set(path, program);
    this.folders.set(path, { notes: new Map(), written: new Map(), script, isClaimed: false });
  }

  /** What starts the program of this folder, also when the folder is gone; empty: there is none. */
  program(path: string): string {
    return this.#programs.get(path) ?? '';
  }

  /** What is in this file; empty where the folder is gone. */
  script(file: string): string {
    return this.folders.get(file.slice(0, -SCRIPT.length))?.script ?? '';
  }

  /** True for who makes it; false too where the folder is gone. */
  claim(path: string): boolean {
    const folder = this.folders.get(path);
    if (folder === undefined || folder.isClaimed) return false;
    folder.isClaimed = true;
    return true;
  }

  /** True when its gateway has noted what its site calls its job. */
  isNamed(path: string): boolean {
    return this.folders.get(path)?.notes.has('job') === true;
  }

  /** By a script; nothing where the folder is gone. */
  write(path: string, name: string, text: string): void {
    const seenAt = this.#time.now + this.#dice.fraction() * this.lagMs;
    this.folders.get(path)?.written.set(name, { text, seenAt });
  }

  read(path: string, name: string): string | null {
    const file = this.folders.get(path)?.written.get(name);
    return file === undefined || file.seenAt > this.#time.now ? null : file.text;
  }
}

/** The folders of one agent, for as long as it lives. */
export function foldersOf(disk: SiteDisk, top: string, life: Life): SiteFolders {
  const path = (launchId: number): string => `${top}/${launchId}/run`;
  const folderOf = (launchId: number): Folder | undefined => disk.folders.get(path(launchId));
  const whileAlive = (work: () => void): void => {
    if (life.alive) work();
  };
  return {
    path,
    list: () =>
      [...disk.folders.keys()]
        .filter((one) => one.startsWith(`${top}/`))
        .map((one) => Number(one.slice(top.length + 1).split('/')[0])),
    scriptFile: (launchId) => `${path(launchId)}${SCRIPT}`,
    make: (launchId, _user, script, files) =>
      whileAlive(() => disk.make(path(launchId), script, files?.[PROGRAM] ?? '')),
    note: (launchId, name, text) => whileAlive(() => folderOf(launchId)?.notes.set(name, text)),
    noted: (launchId, name) => folderOf(launchId)?.notes.get(name) ?? null,
    read: (launchId, name) => disk.read(path(launchId), name),
    claim: (launchId) => life.alive && disk.claim(path(launchId)),
    remove: (launchId) => whileAlive(() => disk.folders.delete(path(launchId))),
  };
}

/** Notes that outlive whoever writes them. */
export function notesOf(notes: Map<string, string>, life: Life): SiteNotes {
  return {
    all: () => new Map(notes),
    write(node, text) {
      if (life.alive) notes.set(node, text);
    },
    remove(node) {
      if (life.alive) notes.delete(node);
    },
  };
}
