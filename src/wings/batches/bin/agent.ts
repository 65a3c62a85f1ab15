// The part of batches in the agents of a program: builds of solvers are kept on each node.

import { join } from 'node:path';
import { systemClock } from '../../../kernel/os/clock.ts';
import { diskSize } from '../../../kernel/os/detect.ts';
import { systemFiles } from '../../../kernel/os/files.ts';
import type { RunnerState } from '../../../kernel/runner/state.ts';
import type { AgentMaker } from '../../../kernel/wing.ts';
import { batchesPart } from '../agent/part.ts';
import { BuildKeeper } from '../staging/build-keeper.ts';

/** Share of the disk and age, where the site says nothing. */
const SHARE_OF_DISK = 0.1;
const BUILDS_AGE_MS = 30 * 86_400_000;

/** The nodes of a program share the disk. */
export const batchesOnNode: AgentMaker = ({ options, nodeCount, log }) => {
  const { stateDir, buildsBytesMax, buildsAgeMs = BUILDS_AGE_MS } = options;
  return batchesPart(
    ({ state }) =>
      new BuildKeeper({
        directory: join(stateDir, 'builds'),
        bytesMax: buildsBytesMax ?? (diskSize(stateDir) * SHARE_OF_DISK) / nodeCount,
        ageMs: buildsAgeMs,
        inUse: () => buildsNamed(state),
        files: systemFiles,
        clock: systemClock,
        log,
      }),
  );
};

/** By tasks that are there, whatever they do. */
function buildsNamed({ epochs }: RunnerState): ReadonlySet<string> {
  const keys = new Set<string>();
  for (const { order } of epochs.values()) if (order.batch?.build) keys.add(order.batch.build);
  return keys;
}
