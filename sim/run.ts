// Runs one seed about our own nodes and says how it went.

import type { RunEnd } from './family.ts';
import type { Weather } from './weather.ts';
import { type RunOptions, World } from './world.ts';

export interface RunResult extends RunEnd {
  readonly weather: Weather;
  readonly messages: number;
  readonly jobs: number;
}

/** One run at a time: some shared classes are watched while it goes on. */
export async function runSeed(options: RunOptions): Promise<RunResult> {
  const world = new World(options);
  await world.run();
  const { weather, messages, truth, time, chronicle } = world;
  const { violation, hash } = chronicle;
  const size = { messages, jobs: truth.jobs.size, virtualMs: time.now };
  return { seed: options.seed, weather, violation, hash, ...size };
}
