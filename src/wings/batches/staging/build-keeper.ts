// Builds of solvers on a node, by user and key: what is too old or too much goes. They are in
// folders of users, who may have anything there, so no link is followed.

import { lstatSync, renameSync, type Stats } from 'node:fs';
import { lstat, mkdir, readdir } from 'node:fs/promises';
import path from 'node:path';
import { formatSize } from '../../../kernel/base/size.ts';
import type { Clock, Timer } from '../../../kernel/ports/clock.ts';
import type { Files } from '../../../kernel/ports/files.ts';
import type { Log } from '../../../kernel/ports/log.ts';
import { buildsToRemove, type KeptBuild } from '../core/build-retention.ts';

/** How often it is looked for what may go. */
const SWEEP_MS = 3_600_000;
/** Bytes of a block, as the system counts. */
const BLOCK_BYTES = 512;

export interface BuildKeeperOptions {
  /** With a folder for each user, by uid. */
  readonly directory: string;
  readonly bytesMax: number;
  readonly ageMs: number;
  /** Keys of the builds that tasks on this node name. */
  readonly inUse: () => ReadonlySet<string>;
  readonly files: Pick<Files, 'removeTree' | 'list'>;
  readonly clock: Clock;
  readonly log: Log;
}

export class BuildKeeper {
  readonly #options: BuildKeeperOptions;
  #timer: Timer | null = null;
  #sweeping: Promise<void> = Promise.resolve();
  #isClosing = false;
  #removed = 0;

  constructor(options: BuildKeeperOptions) {
    this.#options = options;
  }

  /** Looks now, and every hour from now on. */
  begin(): void {
    const { clock, log } = this.#options;
    this.#timer = clock.after(SWEEP_MS, () => this.begin());
    this.#sweeping = this.sweep().catch((error: unknown) => {
      log.warn({ error: String(error) }, 'cannot remove old builds of solvers');
    });
  }

  async close(): Promise<void> {
    this.#isClosing = true;
    this.#timer?.cancel();
    await this.#sweeping;
  }

  /** Removes what may go. */
  async sweep(): Promise<void> {
    const { directory, log, clock, ageMs, bytesMax, inUse } = this.#options;
    // What an agent that was killed was about to remove.
    await this.#removeGone();
    const kept: KeptBuild[] = [];
    for await (const build of keptBuilds(directory, () => this.#isClosing)) kept.push(build);
    const rule = { now: clock.now(), ageMs, bytesMax, inUse: inUse() };
    for (const build of buildsToRemove(kept, rule)) {
      if (this.#isClosing) return;
      await this.#remove(build);
    }
    await this.#removeGone();
    if (kept.length > 0) log.debug({ builds: kept.length }, 'looked at the builds of solvers');
  }

  /** Each by itself: it goes with the rights of the user whose it is. */
  async #removeGone(): Promise<void> {
    const { files } = this.#options;
    for (const name of files.list(this.#gone)) await files.removeTree(path.join(this.#gone, name));
    await files.removeTree(this.#gone);
  }

  get #gone(): string {
    return path.join(this.#options.directory, 'gone');
  }

  async #remove({ key, folder, bytes, usedAt }: KeptBuild): Promise<void> {
    const { inUse, log } = this.#options;
    await mkdir(this.#gone, { recursive: true, mode: 0o700 });
    // In one turn: a task that comes later builds anew, one that has come is seen here.
    if (inUse().has(key)) return;
    this.#removed += 1;
    const days = Math.floor((this.#options.clock.now() - usedAt) / 86_400_000);
    renameSync(folder, path.join(this.#gone, String(this.#removed)));
    log.info({ build: key, size: formatSize(bytes), days }, 'removed a build of a solver');
  }
}

async function* keptBuilds(directory: string, isOver: () => boolean): AsyncGenerator<KeptBuild> {
  for (const uid of await readdir(directory)) {
    if (!/^\d+$/.test(uid)) continue;
    for (const key of await readdir(path.join(directory, uid))) {
      if (isOver()) return;
      const folder = path.join(directory, uid, key);
      const status = lookAt(folder);
      if (status?.isDirectory() !== true) continue;
      const doneAt = lookAt(path.join(folder, 'done'))?.mtimeMs ?? 0;
      const usedAt = Math.max(status.mtimeMs, doneAt);
      yield { key, folder, usedAt, bytes: await diskBytes(folder, status) };
    }
  }
}

/** Returns null when it is gone, or cannot be looked at. */
function lookAt(file: string): Stats | null {
  try {
    return lstatSync(file);
  } catch {
    return null;
  }
}

/** What it takes up, with all that is in it; what goes meanwhile, or is shut, counts as nothing. */
async function diskBytes(file: string, status: Stats): Promise<number> {
  let bytes = status.blocks * BLOCK_BYTES;
  if (!status.isDirectory()) return bytes;
  for (const name of await readdir(file).catch(() => [])) {
    const inside = path.join(file, name);
    const one = await lstat(inside).catch(() => null);
    if (one !== null) bytes += await diskBytes(inside, one);
  }
  return bytes;
}
