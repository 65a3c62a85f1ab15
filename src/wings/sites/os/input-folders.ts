// Standard input of a site's jobs: a named pipe ends at its machine, so that what a client sends is
// written in pieces to a folder that the site's nodes share. A job's script passes them on and
// takes them away (fabric/site/script.ts).

import {
  chownSync,
  constants,
  lstatSync,
  mkdirSync,
  readdirSync,
  rmdirSync,
  unlinkSync,
} from 'node:fs';
import { open, rename } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import type { Owner } from '../../../kernel/ports/files.ts';
import type { FeedPipe, Pipes } from '../../../kernel/ports/pipes.ts';
import { endName, PIECE } from '../ports/input-pieces.ts';

const { O_CREAT, O_EXCL, O_NOFOLLOW, O_WRONLY } = constants;
/** Pieces that the job has not taken; the client waits then. */
const PIECES_MAX = 16;
const LOOK_MS = 500;
const DRAFT = 'draft';

export const inputFolders: Pipes = {
  make(path, owner) {
    mkdirSync(path, { mode: 0o700 });
    if (owner !== null) chownSync(path, owner.uid, owner.gid);
    return Promise.resolve(new InputFolder(path, owner, 0));
  },
  resume(path) {
    const { uid, gid } = lstatSync(path);
    const names = readdirSync(path);
    const [last = null] = names
      .filter((name) => PIECE.test(name))
      .map(Number)
      .sort((a, b) => b - a);
    const bytes = last === null ? 0 : last + lstatSync(`${path}/${last}`).size;
    const pipe = new InputFolder(path, { uid, gid }, bytes);
    return { pipe, bytes, isEnded: names.includes(endName(bytes)) };
  },
  remove,
};

class InputFolder implements FeedPipe {
  readonly #path: string;
  readonly #owner: Owner | null;
  #written: number;
  #isOver = false;

  /** @param written bytes of input that the folder has had */
  constructor(path: string, owner: Owner | null, written: number) {
    this.#path = path;
    this.#owner = owner;
    this.#written = written;
  }

  async write(bytes: Uint8Array): Promise<void> {
    while (!this.#isOver && this.#untaken() >= PIECES_MAX) await pause(LOOK_MS);
    if (this.#isOver) return;
    await this.#put(String(this.#written), bytes);
    this.#written += bytes.length;
  }

  async end(): Promise<void> {
    if (!this.#isOver) await this.#put(endName(this.#written), new Uint8Array());
  }

  remove(): void {
    this.#isOver = true;
    remove(this.#path);
  }

  #untaken(): number {
    return readdirSync(this.#path).length;
  }

  /**
   * The folder is its user's, who may put there what he likes: nothing of that is followed. A file
   * server that is slow holds up nobody else.
   */
  async #put(name: string, bytes: Uint8Array): Promise<void> {
    const draft = `${this.#path}/${DRAFT}`;
    unlinkIfThere(draft);
    const file = await open(draft, O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW, 0o600);
    try {
      if (this.#owner !== null) await file.chown(this.#owner.uid, this.#owner.gid);
      await file.writeFile(bytes);
      // Other machines see on their file server what is there, not what this one keeps.
      await file.datasync();
    } finally {
      await file.close();
    }
    await rename(draft, `${this.#path}/${name}`);
  }
}

/** A folder with files in it, or what an agent of an earlier release had there: a pipe. */
function remove(path: string): void {
  if (!isFolder(path)) return unlinkIfThere(path);
  for (const name of readdirSync(path)) unlinkIfThere(`${path}/${name}`);
  rmdirSync(path);
}

function isFolder(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

function unlinkIfThere(path: string): void {
  try {
    unlinkSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}
