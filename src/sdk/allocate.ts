// Machines for a program: those of a Slurm where there is one, else this machine, so that one script runs
// on a laptop and on a cluster.

import { accessSync, constants } from 'node:fs';
import { hostname } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Cluster } from './cluster.ts';
import { connect } from './connect.ts';
import type { Duration, Size } from './job-options.ts';
import { optionOf, weft } from './start.ts';

/** What is allocated. */
export interface AllocateOptions {
  /** Pilots at the batch system; on this machine the number makes no difference. Default: 32. */
  readonly pilots?: number;
  /** Default: `slurm` where `salloc` is on PATH, else `local`, which is this machine. */
  readonly system?: 'slurm' | 'sge' | 'local';
  /** State directory of the head. Default: WEFT_DIR, else the usual one of this user. */
  readonly directory?: string;
  /** `host:port` of the head that the machines of the batch system reach. Default: the host's name, any port. */
  readonly listen?: string;
  /** Time of each pilot. Default: as long as the batch system lets it. */
  readonly time?: Duration;
  /** Cpus of each pilot. Default: 1. */
  readonly cpus?: number;
  /** Memory of each pilot. Default: its share of the machine. */
  readonly memory?: Size;
  /** Partition or queue. Default: the batch system's own. */
  readonly queue?: string;
  /** Each pilot has a machine for itself. Default: false. */
  readonly isolated?: boolean;
  /** Image of the containers in which pilots run. Default: none. */
  readonly dockerImage?: string;
  /** Words for `docker run`. Default: none. */
  readonly dockerArgs?: readonly string[];
  /** More words for the submission. Default: none. */
  readonly options?: readonly string[];
}

/** Machines that a program has until it gives them back; `await using` does that at the end of its block. */
export class Allocation {
  /** The connection to the head. */
  readonly cluster: Cluster;
  /** What `needs` of pools and jobs says to run there; undefined on this machine. */
  readonly needs: string | undefined;
  readonly #fleet: string | null;
  readonly #directory: readonly string[];
  #isReleased = false;

  /** Made by `allocate`. */
  constructor(cluster: Cluster, fleet: string | null, directory: readonly string[]) {
    this.cluster = cluster;
    this.#fleet = fleet;
    this.needs = fleet === null ? undefined : `pilot=${fleet}`;
    this.#directory = directory;
  }

  /** Ends the pilots and the connection; the head goes on. Throws `allocation.not_released`. */
  async release(): Promise<void> {
    if (this.#isReleased) return;
    this.#isReleased = true;
    this.cluster.close();
    if (this.#fleet === null) return;
    await weft('allocation.not_released', ['pilot', 'stop', this.#fleet, ...this.#directory]);
    while (await this.#isThere(this.#fleet)) await sleep(LOOK_MS);
  }

  /** The same as `release()`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.release();
  }

  async #isThere(fleet: string): Promise<boolean> {
    const args = ['pilot', 'list', '-o', 'json', ...this.#directory];
    const rows = JSON.parse(await weft('allocation.not_released', args)) as {
      readonly fleet: { readonly name: string };
    }[];
    return rows.some((row) => row.fleet.name === fleet);
  }
}

const LOOK_MS = 500;
const PILOTS = 32;

/**
 * Starts a head where this program runs, or goes on with the one that is there, and pilots at the batch
 * system: Slurm where there is one, else none, and this machine does the work. Answers once the pilots
 * are submitted: calls and jobs wait for them. Throws `cluster.not_started`, and
 * `allocation.not_started` with the words of the batch system.
 */
export async function allocate(wish: AllocateOptions = {}): Promise<Allocation> {
  const system = wish.system ?? (isOnPath('salloc') ? 'slurm' : 'local');
  const directory = optionOf('--dir', wish.directory);
  const isLocal = system === 'local';
  const listen = isLocal ? undefined : (wish.listen ?? `${hostname()}:0`);
  await weft('cluster.not_started', ['up', ...directory, ...optionOf('--listen', listen)]);
  const fleet = isLocal ? null : await startFleet(system, wish, directory);
  const options = wish.directory === undefined ? {} : { directory: wish.directory };
  return new Allocation(await connect(options), fleet, directory);
}

async function startFleet(
  system: 'slurm' | 'sge',
  wish: AllocateOptions,
  directory: readonly string[],
): Promise<string> {
  const { pilots = PILOTS, time, options = [], dockerArgs = [] } = wish;
  const said = await weft('allocation.not_started', [
    ...['pilot', 'start', system, '-n', String(pilots), ...directory],
    ...optionOf('--time', typeof time === 'number' ? `${Math.ceil(time / 1000)}s` : time),
    ...[...optionOf('--cpus', wish.cpus), ...optionOf('--memory', wish.memory)],
    ...[...optionOf('--queue', wish.queue), ...(wish.isolated === true ? ['--isolated'] : [])],
    ...optionOf('--docker-image', wish.dockerImage),
    ...dockerArgs.map((word) => `--docker-args=${quoted(word)}`),
    ...options.map((word) => `--options=${quoted(word)}`),
  ]);
  const [, fleet = ''] = /^Fleet (\S+) is started/.exec(said) ?? [];
  return fleet;
}

/** One word, as the command line reads it. */
function quoted(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}

function isOnPath(program: string): boolean {
  return (process.env.PATH ?? '').split(path.delimiter).some((folder) => {
    try {
      accessSync(path.join(folder, program), constants.X_OK);
      return true;
    } catch {
      return false; // Not there, or not for this user.
    }
  });
}
