// Places on the nodes of one job: steps in the background of a script that do not fit beside each
// other wait for each other, as in Slurm. Each place is a file of its user, named in the order of
// the job's nodes; what a killed `srun` has left is taken away by the next one.

import {
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { PASSES_SIGNALS } from '../../../kernel/base/passes-signals.ts';

/** Empty folders of jobs that were ended; one that is just being used is made again. */
function sweep(own: string): void {
  for (const name of readdirSync(own).slice(0, SWEPT_MAX)) {
    try {
      rmdirSync(path.join(own, name));
    } catch {
      // Steps have places there.
    }
  }
}

const SWEPT_MAX = 100;

/** A place that still says nothing of who has it is being taken. */
const WRITTEN_MS = 10_000;

export class Places {
  readonly #folder: string;
  readonly #nodes: number;
  readonly #room: number;

  /** Null where there can be none: then steps do not wait. */
  static of(start: string, { nodes, room }: { nodes: number; room: number }): Places | null {
    const own = path.join(tmpdir(), `weft-srun-${process.getuid?.() ?? 0}`);
    try {
      mkdirSync(own, { recursive: true, mode: 0o700 });
      const { uid, mode } = lstatSync(own);
      if (uid !== process.getuid?.() || (mode & 0o170_077) !== 0o040_000) return null;
      sweep(own);
      return new Places(path.join(own, start.replace(/[^\w.-]/g, '_')), nodes, room);
    } catch {
      return null;
    }
  }

  private constructor(folder: string, nodes: number, room: number) {
    this.#folder = folder;
    this.#nodes = nodes;
    this.#room = room;
    mkdirSync(folder, { recursive: true, mode: 0o700 });
  }

  /** Cpus of each node that steps have. */
  taken(): number[] {
    const counts = Array.from({ length: this.#nodes }, () => 0);
    for (const name of this.#names()) {
      const at = Number.parseInt(name, 10);
      if (!this.#isLive(name)) this.#clear(name);
      else if (counts[at] !== undefined) counts[at] += 1;
    }
    return counts;
  }

  /**
   * Takes so many cpus on each of these nodes, or none: then null. The result gives them back.
   * Throws where no file can be made: then waiting for places would never end.
   */
  claim(wanted: ReadonlyMap<number, number>): (() => void) | null {
    const got: string[] = [];
    const release = (): void => {
      for (const name of got) this.#giveBack(name);
    };
    const take = (node: number, count: number): boolean => {
      let left = count;
      for (let at = 0; at < this.#room && left > 0; at++) {
        if (!this.#make(`${node}.${at}`)) continue;
        got.push(`${node}.${at}`);
        left -= 1;
      }
      return left === 0;
    };
    try {
      if (![...wanted].every(([node, count]) => take(node, count))) {
        release();
        return null;
      }
    } catch (error) {
      release();
      throw error;
    }
    return () => {
      release();
      this.#leave();
    };
  }

  #names(): string[] {
    try {
      return readdirSync(this.#folder);
    } catch {
      return [];
    }
  }

  #giveBack(name: string): void {
    const file = path.join(this.#folder, name);
    try {
      if (readFileSync(file, 'utf8') === String(process.pid)) rmSync(file, { force: true });
    } catch {
      // Somebody has taken it away with all that is left of the job.
    }
  }

  /**
   * Takes away what a dead one has left. Another may have done so meanwhile, and a third have taken
   * the place: what is moved aside is looked at again, and put back where somebody lives.
   */
  #clear(name: string): void {
    const aside = `${name}.${process.pid}.gone`;
    const [from, to] = [path.join(this.#folder, name), path.join(this.#folder, aside)];
    try {
      renameSync(from, to);
    } catch {
      // Somebody else was first.
      return;
    }
    if (this.#isLive(aside)) {
      try {
        linkSync(to, from);
      } catch {
        // A step has begun there: for a moment both have the place.
      }
    }
    rmSync(to, { force: true });
  }

  #make(name: string): boolean {
    try {
      writeFileSync(path.join(this.#folder, name), String(process.pid), { flag: 'wx' });
      return true;
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === 'EEXIST') return false;
      // Whoever was last has taken the folder away.
      if (code === 'ENOENT') {
        mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
        return false;
      }
      // Where the disk is full the file may be there, with nothing in it.
      rmSync(path.join(this.#folder, name), { force: true });
      throw error;
    }
  }

  #isLive(name: string): boolean {
    try {
      const file = path.join(this.#folder, name);
      const pid = readFileSync(file, 'utf8');
      if (pid === '') return Date.now() - lstatSync(file).mtimeMs < WRITTEN_MS;
      return readFileSync(`/proc/${pid}/comm`, 'utf8').startsWith(PASSES_SIGNALS);
    } catch {
      return false;
    }
  }

  #leave(): void {
    try {
      rmdirSync(this.#folder);
    } catch {
      // Others are there.
    }
  }
}
