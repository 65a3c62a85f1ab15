// Starts daemons of `weft up` again that have died. Head and agents keep each other: each of their
// processes looks after the others, so that whichever is killed, one is left that starts it again.

import { rmSync, statSync } from 'node:fs';
import type { Environment } from '../../config/config.ts';
import { takeLock } from '../../connect/lock-file.ts';
import { isAlive, type ProcessMark } from '../../connect/process-file.ts';
import { type LocalPaths, readJson, writeJson } from './local-paths.ts';
import { type Restarts, readRestarts, writeRestarts } from './restarts.ts';
import { isRunning, markUnmarked, processOf, readRoster } from './roster.ts';
import { type Daemon, lastWords, startDaemon } from './spawn.ts';

export interface KeeperTimes {
  readonly lookMs: number;
  /** An end sooner after a start than this is a quick death. */
  readonly quickMs: number;
  /** After the first quick death; doubled with each. */
  readonly retryMs: number;
  readonly retryMsMax: number;
  readonly quickDeathsMax: number;
}

const TIMES: KeeperTimes = {
  lookMs: 1000,
  quickMs: 10_000,
  retryMs: 1000,
  retryMsMax: 30_000,
  quickDeathsMax: 8,
};

interface KeeperWorld {
  readonly paths: LocalPaths;
  readonly environment: Environment;
  /** A line in the log of those that start others again. */
  readonly warn: (fields: Readonly<Record<string, unknown>>, message: string) => void;
  readonly times?: KeeperTimes;
}

/** The head's codes after which another try would end alike (docs/recovery.md). */
const FINAL_EXITS = new Set([2, 65, 70, 77]);

/** After a hint the first look; each of the next comes after twice as long, up to `lookMs`. */
const SOON_MS = 20;

/** Looks until it is stopped. */
export function keepOthers(world: KeeperWorld): Keeper {
  return new Keeper(world);
}

/** A look that found all of them alive. */
interface WholeLook {
  /** Which roster it was. */
  readonly roster: string;
  readonly processes: readonly ProcessMark[];
}

export class Keeper {
  readonly #world: KeeperWorld;
  readonly #times: KeeperTimes;
  /** When each of those that are dead was found so. */
  readonly #diedAt = new Map<string, number>();
  #whole: WholeLook | null = null;
  #timer: NodeJS.Timeout;
  #nextMs: number;
  #isLooking = false;
  #isStopped = false;

  constructor(world: KeeperWorld) {
    this.#world = world;
    this.#times = world.times ?? TIMES;
    this.#nextMs = this.#times.lookMs;
    this.#timer = this.#later();
  }

  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#timer);
  }

  /** A connection to one of them has ended: it may have died, or be about to. */
  lookSoon(): void {
    this.#nextMs = Math.min(SOON_MS, this.#times.lookMs);
    if (this.#isLooking || this.#isStopped) return;
    clearTimeout(this.#timer);
    this.#timer = this.#later();
  }

  #later(): NodeJS.Timeout {
    const afterMs = this.#nextMs;
    this.#nextMs = Math.min(2 * afterMs, this.#times.lookMs);
    return setTimeout(() => {
      this.#isLooking = true;
      this.#look()
        // A full disk, say: the next look tries again, and tells it again.
        .catch((error: unknown) =>
          this.#world.warn({ error }, 'a daemon could not be started again'),
        )
        .finally(() => {
          this.#isLooking = false;
          if (!this.#isStopped) this.#timer = this.#later();
        });
    }, afterMs).unref();
  }

  async #look(): Promise<void> {
    const due = this.#due();
    if (due.length === 0) return;
    const lock = takeLock(this.#world.paths.upLock, 'keeper');
    if (!lock.ok) return;
    try {
      markUnmarked(this.#world.paths);
      // Only now nobody else starts or stops any: what has changed meanwhile is left alone.
      for (const daemon of this.#due()) await this.#startAgain(daemon);
    } finally {
      lock.release();
    }
  }

  /** Dead, to be kept, and not for its next try to wait. */
  #due(): Daemon[] {
    // Every second, in each daemon: while nothing has changed that takes three files, not twenty.
    if (this.#whole !== null && isStill(this.#whole, this.#world.paths)) return [];
    const roster = versionOf(this.#world.paths.roster);
    const kept = readRoster(this.#world.paths).filter((daemon) => daemon.isKept);
    const processes = kept.map(processOf).filter((mark) => mark !== null);
    this.#whole = processes.length === kept.length ? { roster, processes } : null;
    return this.#deadOf(kept);
  }

  #deadOf(kept: readonly Daemon[]): Daemon[] {
    const all = readRestarts(this.#world.paths);
    return kept.filter((daemon) => {
      const name = nameOf(daemon);
      if (isRunning(daemon)) {
        this.#diedAt.delete(name);
        return false;
      }
      const restarts = all[name];
      if (!this.#diedAt.has(name)) this.#diedAt.set(name, Date.now());
      if (restarts === undefined) return true;
      const agoMs = Date.now() - restarts.lastAt;
      // Below zero: the clock was set back since.
      return restarts.gaveUp === null && (agoMs < 0 || agoMs >= this.#waitMs(restarts));
    });
  }

  #waitMs({ quickDeaths }: Restarts): number {
    const { retryMs, retryMsMax } = this.#times;
    return quickDeaths === 0 ? 0 : Math.min(retryMs * 2 ** (quickDeaths - 1), retryMsMax);
  }

  async #startAgain(daemon: Daemon): Promise<void> {
    const { paths, environment, warn } = this.#world;
    const name = nameOf(daemon);
    const now = Date.now();
    const before = readRestarts(paths)[name];
    const livedMs = (this.#diedAt.get(name) ?? now) - (before?.lastAt ?? 0);
    const quickDeaths = livedMs < this.#times.quickMs ? (before?.quickDeaths ?? 0) + 1 : 0;
    const { count = 0, firstAt = now, lastAt = now } = before ?? {};
    const said = lastWords(daemon.outputFile);
    const gaveUp = this.#whyNot(name, quickDeaths);
    const fields = { daemon: daemon.names, ...(said === '' ? {} : { said }) };
    if (gaveUp !== null) {
      writeRestarts(paths, name, { count, firstAt, lastAt, quickDeaths, gaveUp });
      warn({ ...fields, why: gaveUp }, 'a daemon died and is not started again');
      return;
    }
    writeRestarts(paths, name, { count: count + 1, firstAt, lastAt: now, quickDeaths, gaveUp });
    forgetOnce(daemon);
    rmSync(paths.exit(name), { force: true });
    const pid = await startDaemon(daemon, environment);
    this.#diedAt.delete(name);
    warn({ ...fields, pid, count: count + 1 }, 'a daemon died and is started again');
  }

  /** Returns null when it is started again. */
  #whyNot(name: string, quickDeaths: number): string | null {
    const { quickMs, quickDeathsMax } = this.#times;
    const code = readJson<number>(this.#world.paths.exit(name));
    if (code !== null && FINAL_EXITS.has(code)) return `it ended with exit code ${code}`;
    if (quickDeaths < quickDeathsMax) return null;
    return `it ended ${quickDeaths} times within ${quickMs / 1000} s of its start`;
  }
}

function nameOf({ names }: Daemon): string {
  return names[0] ?? '';
}

/** What gives something up for good was asked for at one start, not at each. */
function forgetOnce({ optionsFiles }: Daemon): void {
  for (const file of optionsFiles) {
    const { acceptLoss, newIdentity, ...kept } = readJson<Record<string, unknown>>(file) ?? {};
    if (acceptLoss !== undefined || newIdentity !== undefined) writeJson(file, kept);
  }
}

function isStill({ roster, processes }: WholeLook, paths: LocalPaths): boolean {
  return versionOf(paths.roster) === roster && processes.every(isAlive);
}

/** Another one after each change of the file, which is a new file; empty: there is none. */
function versionOf(file: string): string {
  const stat = statSync(file, { bigint: true, throwIfNoEntry: false });
  return stat === undefined ? '' : `${stat.dev}:${stat.ino}:${stat.mtimeNs}`;
}
