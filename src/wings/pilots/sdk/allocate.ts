// Machines for a program: those of a Slurm where there is one, else this machine, so that one
// script runs on a laptop and on a cluster.

import type { Cluster } from '../../../kernel/sdk/cluster.ts';
import { connect } from '../../../kernel/sdk/connect.ts';
import { checkOptions } from '../../../kernel/sdk/known-options.ts';
import { optionOf, weft } from '../../../kernel/sdk/weft-program.ts';
import { orGiveBack } from './fleets.ts';
import {
  listenWords,
  PILOT_OPTIONS,
  type PilotOptions,
  startFleet,
  stopFleets,
  systemFor,
} from './pilots.ts';

/** What is allocated. */
export interface AllocateOptions extends PilotOptions {}

/**
 * Machines that a program has until it gives them back; `await using` does that at the end of its
 * block.
 */
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
    await stopFleets([this.#fleet], this.#directory);
  }

  /** The same as `release()`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.release();
  }
}

/**
 * Starts a head where this program runs, or goes on with the one that is there, and pilots at the
 * batch system: Slurm where there is one, else none, and this machine does the work. Answers once
 * the pilots are submitted: calls and jobs wait for them. Throws `cluster.not_started`, and
 * `allocation.not_started` with the words of the batch system.
 */
export async function allocate(wish: AllocateOptions = {}): Promise<Allocation> {
  checkOptions('allocate', wish, PILOT_OPTIONS);
  const system = systemFor(wish);
  const directory = optionOf('--dir', wish.directory);
  await weft('cluster.not_started', ['up', ...directory, ...listenWords(system, wish)]);
  const fleet = system === 'local' ? null : await startFleet(system, wish, []);
  const options = wish.directory === undefined ? {} : { directory: wish.directory };
  const cluster = await orGiveBack(
    () => connect(options),
    () => (fleet === null ? Promise.resolve() : stopFleets([fleet], directory)),
  );
  return new Allocation(cluster, fleet, directory);
}
