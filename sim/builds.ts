// What the script of a batch does about its solver on one machine, in the words of the simulated
// kernel:
// one builds, the others wait for the lock, and what became of it is on the disk.

import { BUILD_FAILED_SIGNAL } from '../src/wings/batches/core/build-script.ts';
import type { SimDisk } from './disk.ts';
import type { Exit, SimProcess } from './process.ts';

export type BuildStep = 'begins' | 'done' | 'failed';

export interface BuildsWorld {
  readonly disk: SimDisk;
  /** Goes on when the process has run for so long from here. */
  readonly work: (process: SimProcess, ms: number, then: () => void) => void;
  readonly wait: (process: SimProcess, wake: () => void) => void;
  readonly end: (process: SimProcess, exit: Exit) => void;
  readonly onBuild: (what: BuildStep, process: SimProcess) => void;
}

const NO_ROOM: Exit = { code: 125 };

export class Builds {
  readonly #world: BuildsWorld;
  /** Processes that hold the lock of each folder: it goes with the process. */
  readonly #holders = new Map<string, SimProcess>();
  /** Processes that wait for a lock, in the order in which they came. */
  readonly #waiting = new Map<SimProcess, { readonly folder: string; readonly then: () => void }>();

  constructor(world: BuildsWorld) {
    this.#world = world;
  }

  /** `then`: the job itself, over the products of a whole build. */
  enter(process: SimProcess, then: () => void): void {
    const folder = folderOf(process);
    if (folder === null || this.#world.disk.files.has(`${folder}/done`)) return then();
    if (this.#holders.has(folder)) {
      this.#waiting.set(process, { folder, then });
      // Stopped, it waits for no lock; it asks for it again.
      this.#world.wait(process, () => this.enter(process, then));
      return;
    }
    this.#waiting.delete(process);
    this.#holders.set(folder, process);
    this.#begin(process, folder, then);
  }

  /** The process has ended. */
  leave(process: SimProcess): void {
    this.#waiting.delete(process);
    for (const [folder, holder] of this.#holders) if (holder === process) this.#release(folder);
  }

  #begin(process: SimProcess, folder: string, then: () => void): void {
    const { disk, end, onBuild, work } = this.#world;
    if (disk.files.get(`${folder}/failed`)?.toString().split('\n').includes(tagOf(process))) {
      return end(process, { signal: BUILD_FAILED_SIGNAL });
    }
    if (disk.isFull) return end(process, NO_ROOM);
    onBuild('begins', process);
    const { ms = 0, failsOn = [] } = process.plan.build ?? {};
    work(process, ms, () => {
      if (failsOn.includes(process.node)) {
        if (!disk.isFull) this.#noteFailure(process, folder);
        return end(process, { signal: BUILD_FAILED_SIGNAL });
      }
      if (disk.isFull) return end(process, NO_ROOM);
      onBuild('done', process);
      disk.files.set(`${folder}/done`, Buffer.alloc(0));
      this.#release(folder);
      then();
    });
  }

  /** Without room for it the next one on this node tries again, unless the head has heard of it. */
  #noteFailure(process: SimProcess, folder: string): void {
    const { disk, onBuild } = this.#world;
    onBuild('failed', process);
    disk.append(`${folder}/failed`, `${tagOf(process)}\n`);
  }

  #release(folder: string): void {
    this.#holders.delete(folder);
    for (const [process, { folder: wanted, then }] of [...this.#waiting]) {
      if (wanted !== folder || process.state !== 'running') continue;
      this.#waiting.delete(process);
      this.enter(process, then);
    }
  }
}

/** Null: it is no job of a batch that builds. */
function folderOf({ plan, variables }: SimProcess): string | null {
  const build = variables.get('WEFT_BUILD');
  return plan.build === undefined || build === undefined
    ? null
    : `${variables.get('WEFT_BUILDS')}/${build}`;
}

function tagOf({ variables }: SimProcess): string {
  return ['WEFT_BATCH', 'WEFT_BUILD', 'WEFT_BUILD_ATTEMPT']
    .map((name) => variables.get(name))
    .join(' ');
}
