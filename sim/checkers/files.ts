// The rules about files of tasks, judged on the disks: no task starts with a file missing (S10),
// none is done before what it left is kept, and nothing is kept of a start that was made again.

import type { Of } from '../../src/kernel/machine/events.ts';
import {
  type EpochId,
  formatEpochId,
  formatTaskId,
  type TaskPlace,
} from '../../src/kernel/model/ids.ts';
import {
  type HeadFiles,
  inputName,
  NO_SUCH_FILE,
  partKey,
  pieceOf,
  piecesOf,
} from '../head-files.ts';
import type { SimProcess } from '../process.ts';
import { placeOf, type Truth } from '../truth.ts';
import { Violation } from '../violation.ts';
import type { SafetyWorld } from './safety.ts';

/** S10: a process finds each file of its job in its directory, as it was sent. */
export function checkInputs({ truth, machines }: SafetyWorld, process: SimProcess): void {
  const { epochId } = placeOf(process);
  const inputs = truth.specOf(epochId)?.staging?.inputs;
  if (inputs === undefined) return;
  const { node } = process;
  const disk = machines.get(node)?.disk;
  const directory = `/${node}/work/${epochId.replace('[', '.').replace(']', '').replace('#', '-')}`;
  for (let at = 0; at < piecesOf(inputs); at += 1) {
    const found = disk?.files.get(`${directory}/${inputName(at)}`)?.toString();
    if (found === pieceOf(inputs, at)) continue;
    throw new Violation('S10', `${epochId} starts on ${node} without its file ${at}`);
  }
}

/** S10: what a completed task left is with the head; and files of a job are there while it is. */
export function checkOutputs(truth: Truth, files: HeadFiles, event: Of<'task_done'>): void {
  const { place, outcome } = event;
  const epochId = currentEpoch(truth, place);
  if (outcome.kind === 'stage_failed' && outcome.detail?.includes(NO_SUCH_FILE)) {
    throw new Violation('S10', `the files of ${epochId} went while it was there`);
  }
  // Of an MPI task only the program counts: a server that is lost takes its files along.
  const spec = truth.specOf(epochId);
  if (outcome.kind !== 'completed' || spec?.mpi !== undefined) return;
  if (spec?.directory.kind !== 'private') return;
  for (const node of truth.allocations.get(epochId) ?? []) {
    const key = partKey(epochId, node);
    for (const name of truth.outputs.get(key) ?? []) {
      if (files.parts.get(key)?.has(name)) continue;
      throw new Violation('S10', `${epochId} is done, and its ${name} of ${node} is not kept`);
    }
  }
}

/** The newest start of a task. */
export function currentEpoch(truth: Truth, place: TaskPlace): EpochId {
  const taskId = formatTaskId(place.jobId, place.index);
  return formatEpochId(taskId, truth.taskOf(place).epoch);
}

/** What is kept is of the last start of its task. */
export function checkArchives(truth: Truth, files: HeadFiles): void {
  const last = new Set<string>();
  for (const { id, tasks, spec } of truth.jobs.values()) {
    for (const [index, { epoch }] of tasks) {
      last.add(formatEpochId(formatTaskId(id, spec.array === null ? null : index), epoch));
    }
  }
  for (const key of files.parts.keys()) {
    const [epochId = ''] = key.split(' ');
    if (!last.has(epochId))
      throw new Violation('S10', `files of ${epochId} are kept, which was not the last`);
  }
}
