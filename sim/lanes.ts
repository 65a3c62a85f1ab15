// Parts of a check beside each other, in as many threads as there are processors: within one thread
// there is one run at a time, since runs watch and change classes that they share.

import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import type { CheckPiece, Count } from './check.ts';

/** What a thread is to do. */
export interface LaneWork {
  readonly part: CheckPiece;
  readonly from: number;
}

/** What came of it. */
export interface LaneWord {
  readonly lines: readonly string[];
  readonly passed: number;
  readonly failed: number;
  readonly exitCode: number;
}

/** More would not be finished sooner: the longest part is as long. */
const LANES_MAX = 4;
const CRASH = 127;

/** Each lane takes the next part when it is done with one. */
export async function runInLanes(
  parts: readonly CheckPiece[],
  { from, count }: { readonly from: number; readonly count: Count },
): Promise<void> {
  const left = [...parts];
  const lanes = Math.min(LANES_MAX, availableParallelism(), parts.length);
  await Promise.all(
    Array.from({ length: lanes }, async () => {
      let worker: Worker | null = null;
      for (let part = left.shift(); part !== undefined; part = left.shift()) {
        worker ??= new Worker(new URL('./lane.ts', import.meta.url));
        if (!(await runOne(worker, { part, from }, count))) worker = null;
      }
      await worker?.terminate();
    }),
  );
}

/** False: its thread has ended of it. */
async function runOne(worker: Worker, work: LaneWork, count: Count): Promise<boolean> {
  const answered = once(worker, 'message');
  worker.postMessage(work);
  try {
    const [word] = (await answered) as [LaneWord];
    for (const line of word.lines) count.say(line);
    count.add(word);
    return true;
  } catch (error) {
    const { family, kind, at } = work.part;
    count.fail(`${family} ${kind} ${at} ended its thread: ${(error as Error).stack}`, CRASH);
    return false;
  }
}
