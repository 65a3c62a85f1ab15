// Runs one seed and says how it went. Errors that no promise chain caught belong to the run too.

import type { Violation } from './violation.ts';
import type { Weather } from './weather.ts';
import { type RunOptions, World } from './world.ts';

export interface RunResult {
  readonly seed: number;
  readonly weather: Weather;
  /** Hash of every message, record and process event, with its instant. */
  readonly hash: string;
  readonly virtualMs: number;
  readonly messages: number;
  readonly jobs: number;
  readonly violation: Violation | null;
}

/** One run at a time: some shared classes are watched while it goes on. */
export async function runSeed(options: RunOptions): Promise<RunResult> {
  const world = new World(options);
  const onError = (error: unknown): void => world.fail(error);
  process.on('unhandledRejection', onError);
  process.on('uncaughtException', onError);
  try {
    await world.run();
  } finally {
    process.off('unhandledRejection', onError);
    process.off('uncaughtException', onError);
  }
  return {
    ...{ seed: options.seed, weather: world.weather, messages: world.messages },
    hash: (world.hash >>> 0).toString(16).padStart(8, '0'),
    ...{ virtualMs: world.time.now, jobs: world.truth.jobs.size, violation: world.violation },
  };
}
