// One thread of a check: does a part, says what came of it, and waits for the next.

import { parentPort } from 'node:worker_threads';
import { Count, runPart } from './check.ts';
import { FAMILIES } from './families.ts';
import type { LaneWord, LaneWork } from './lanes.ts';

parentPort?.on('message', ({ part, from }: LaneWork) => {
  const lines: string[] = [];
  const count = new Count((line) => lines.push(line));
  void runPart(FAMILIES, part, { from, count }).then(() => {
    const { passed, failed, exitCode } = count;
    parentPort?.postMessage({ lines, passed, failed, exitCode } satisfies LaneWord);
  });
});
