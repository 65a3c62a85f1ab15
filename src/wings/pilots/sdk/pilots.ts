// Pilots for a program: as `weft pilot` starts, lists and stops them.

import { accessSync, constants } from 'node:fs';
import { hostname } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Duration, Size } from '../../../kernel/model/options/types.ts';
import { WeftError } from '../../../kernel/sdk/errors.ts';
import type { KnownOptions } from '../../../kernel/sdk/known-options.ts';
import { optionOf, weft } from '../../../kernel/sdk/weft-program.ts';
import { endFleets, type FleetSeen, type FleetWatch } from './fleets.ts';

/** Pilots at a batch system, and the head that they come to. */
export interface PilotOptions {
  /** Pilots at the batch system; on this machine the number makes no difference. Default: 32. */
  readonly pilots?: number;
  /** Default: `slurm` where `salloc` is on PATH, else `local`, which is this machine. */
  readonly system?: 'slurm' | 'sge' | 'local';
  /** State directory of the head. Default: WEFT_DIR, else the usual one of this user. */
  readonly directory?: string;
  /**
   * `host:port` of the head that the machines of the batch system reach. Default: the host's name,
   * any port.
   */
  readonly listen?: string;
  /** Time of each pilot. Default: as long as the batch system lets it. */
  readonly time?: Duration;
  /** Cpus of each pilot. Default: 1. */
  readonly cpus?: number;
  /** Memory of each pilot. Default: its share of the machine. */
  readonly memory?: Size;
  /** Partition or queue. Default: the batch system's own. */
  readonly queue?: string;
  /** One pilot per machine. Default: false. */
  readonly isolated?: boolean;
  /** Image of the containers in which pilots run. Default: none. */
  readonly dockerImage?: string;
  /** Words for `docker run`. Default: none. */
  readonly dockerArgs?: readonly string[];
  /** More words for the submission. Default: none. */
  readonly options?: readonly string[];
}

export const PILOT_OPTIONS: KnownOptions<PilotOptions> = {
  pilots: true,
  system: true,
  directory: true,
  listen: true,
  time: true,
  cpus: true,
  memory: true,
  queue: true,
  isolated: true,
  dockerImage: true,
  dockerArgs: true,
  options: true,
};

export type PilotSystem = NonNullable<PilotOptions['system']>;

const LOOK_MS = 500;
/** A batch system ends pilots in less, unless something is wrong. */
export const FLEET_WAIT_MS = 120_000;
const PILOTS = 32;
/** The command line's answer where no head is. */
const UNAVAILABLE = '7';

/** The batch system that is said, else Slurm where there is one. */
export function systemFor({ system }: PilotOptions): PilotSystem {
  return system ?? (isOnPath('salloc') ? 'slurm' : 'local');
}

/** Words for `weft up`: where the machines of the batch system reach the head. */
export function listenWords(system: PilotSystem, { listen }: PilotOptions): string[] {
  return optionOf('--listen', listen ?? (system === 'local' ? undefined : `${hostname()}:0`));
}

/**
 * Starts a fleet and resolves with its name. Throws `allocation.not_started`, with the words of the
 * batch system.
 */
export async function startFleet(
  system: Exclude<PilotSystem, 'local'>,
  wish: PilotOptions,
  more: readonly string[],
): Promise<string> {
  const { pilots = PILOTS, time, options = [], dockerArgs = [] } = wish;
  const said = await weft('allocation.not_started', [
    ...['pilot', 'start', system, '-n', String(pilots), ...more],
    ...optionOf('--dir', wish.directory),
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

/** The fleets of this head; null: there is no head. */
export async function fleetsOf(directory: readonly string[]): Promise<FleetSeen[] | null> {
  try {
    const said = await weft('allocation.not_released', [
      ...['pilot', 'list', '-o', 'json'],
      ...directory,
    ]);
    const rows = JSON.parse(said) as { readonly fleet: FleetSeen }[];
    return [...new Map(rows.map(({ fleet }) => [fleet.name, fleet])).values()];
  } catch (error) {
    if (error instanceof WeftError && error.details.exitCode === UNAVAILABLE) return null;
    throw error;
  }
}

/** The fleets of this head, looked at by the command line. */
export function watchOf(directory: readonly string[]): FleetWatch {
  return {
    list: () => fleetsOf(directory),
    now: () => performance.now(),
    rest: () => sleep(LOOK_MS),
  };
}

/** Resolves when the last of their pilots is gone. Throws `allocation.not_released`. */
export async function stopFleets(
  fleets: readonly string[],
  directory: readonly string[],
  limitMs = FLEET_WAIT_MS,
): Promise<void> {
  await endFleets(watchOf(directory), { names: fleets, limitMs }, async (names) => {
    await weft('allocation.not_released', ['pilot', 'stop', ...names, ...directory]);
  });
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
