// A cluster for a program, which it finds again and which outlives it: of this machine as `weft up`
// makes it, or with pilots at a batch system.

import type { Duration } from '../../../kernel/model/options/types.ts';
import type { Cluster } from '../../../kernel/sdk/cluster.ts';
import { connect } from '../../../kernel/sdk/connect.ts';
import { wrongArgument } from '../../../kernel/sdk/errors.ts';
import { checkOptions, type KnownOptions } from '../../../kernel/sdk/known-options.ts';
import { durationMs } from '../../../kernel/sdk/submission.ts';
import { optionOf, weft } from '../../../kernel/sdk/weft-program.ts';
import { haveFleet } from './fleets.ts';
import {
  FLEET_WAIT_MS,
  fleetsOf,
  listenWords,
  PILOT_OPTIONS,
  type PilotOptions,
  startFleet,
  stopFleets,
  systemFor,
  watchOf,
} from './pilots.ts';

/** What cluster is started. */
export interface StartOptions extends PilotOptions {
  /**
   * Virtual nodes of this machine. Default: one with all that the machine has. Where it is said,
   * `system` is `local` by default.
   */
  readonly nodes?: number;
  /** False: the head is there and left alone, only pilots are started. Default: true. */
  readonly head?: boolean;
}

/** What is stopped. */
export interface StopOptions {
  /** State directory. Default: WEFT_DIR, else the usual one of this user. */
  readonly directory?: string;
  /** False: the head goes on, only its pilots are ended. Default: true. */
  readonly head?: boolean;
  /**
   * False: its pilots are left alone, and wait for a head to come back until their time is over.
   * Default: true.
   */
  readonly pilots?: boolean;
  /** True: jobs, logs and all that it has kept are removed. Default: false. */
  readonly clean?: boolean;
  /** How long it waits for pilots to be gone; the head is stopped only then. Default: 2 minutes. */
  readonly timeout?: Duration;
}

const START_OPTIONS: KnownOptions<StartOptions> = { ...PILOT_OPTIONS, nodes: true, head: true };
const STOP_OPTIONS: KnownOptions<StopOptions> = {
  directory: true,
  head: true,
  pilots: true,
  clean: true,
  timeout: true,
};

/** The fleet that `start` has started is found again by it. */
const FLEET = 'main';

/**
 * Starts a cluster, or goes on with the one that is there, and connects to it: pilots at Slurm
 * where there is one, else this machine alone, of which `cpus` and `memory` are those of each node.
 * It goes on when this program ends; `stop()` ends it. This machine is a node in any case: `needs:
 * 'system=slurm'` keeps work off it. Throws `cluster.not_started`, and `allocation.not_started`
 * with the words of the batch system.
 */
export async function start(wish: StartOptions = {}): Promise<Cluster> {
  checkOptions('start', wish, START_OPTIONS);
  const system = wish.nodes === undefined ? systemFor(wish) : (wish.system ?? 'local');
  const isLocal = system === 'local';
  const { directory, head = true } = wish;
  if (head) {
    const sizes = [...optionOf('--cpus', wish.cpus), ...optionOf('--memory', wish.memory)];
    const args = [...optionOf('--nodes', wish.nodes), ...(isLocal ? sizes : [])];
    const listen = listenWords(system, wish);
    await weft('cluster.not_started', ['up', ...args, ...listen, ...optionOf('--dir', directory)]);
  } else if (isLocal)
    throw wrongArgument('start: with `head` false there are only pilots to start');
  const isWanted = !isLocal && wish.pilots !== 0;
  if (isWanted) {
    const wanted = { name: FLEET, limitMs: FLEET_WAIT_MS };
    const watch = watchOf(optionOf('--dir', directory));
    await haveFleet(watch, wanted, () => startFleet(system, wish, ['--name', FLEET]));
  }
  return connect(directory === undefined ? {} : { directory });
}

/**
 * Ends the cluster that `start` has started, with what runs on it and all of its pilots; resolves
 * when they are gone. Throws `cluster.not_stopped`, and `allocation.not_released` with the words of
 * the batch system, the head going on, when they are not gone in time.
 */
export async function stop(wish: StopOptions = {}): Promise<void> {
  checkOptions('stop', wish, STOP_OPTIONS);
  const { head = true, pilots = true, clean = false, timeout } = wish;
  const directory = optionOf('--dir', wish.directory);
  if (clean && !head) throw wrongArgument('stop: with `head` false nothing of it can be removed');
  const limitMs = timeout === undefined ? FLEET_WAIT_MS : durationMs('timeout', timeout);
  if (pilots) {
    const names = ((await fleetsOf(directory)) ?? []).map(({ name }) => name);
    await stopFleets(names, directory, limitMs);
  }
  if (head)
    await weft('cluster.not_stopped', [
      'down',
      ...(clean ? ['--clean', '--yes'] : []),
      ...directory,
    ]);
}
