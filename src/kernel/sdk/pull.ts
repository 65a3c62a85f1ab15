// The files that jobs have left, brought to this machine as `weft pull` brings them.

import path from 'node:path';
import { readSelection, type Selection } from '../files/select.ts';
import { bring, checkWhole, placedIn } from '../transfer/pull/bring.ts';
import { checkLists } from '../transfer/pull/compare.ts';
import { findOutputs, type TaskOutputs } from '../transfer/pull/outputs.ts';
import { withWeftErrors, wrongArgument } from './errors.ts';
import { checkOptions } from './known-options.ts';
import type { HeadConnection } from './line.ts';
import { PULL_OPTIONS, type PullOptions } from './options.ts';
import { dropUndefined, listed } from './submission.ts';
import type { PulledFile } from './views.ts';

const HINTS = {
  inTheWay: 'Move it away, or name another folder with `to`.',
  noRoom: 'Make room, choose with `glob`, or name another folder with `to`.',
};

/** What this process fetches at the moment: two of one job would write the same files. */
const busy = new Map<string, Promise<unknown>>();

export async function pullFiles(
  line: HeadConnection,
  id: string,
  options: PullOptions,
): Promise<readonly PulledFile[]> {
  checkOptions('pull', options, PULL_OPTIONS);
  const place = path.resolve(options.to ?? '.');
  const key = `${place} ${Number.parseInt(id, 10)}`;
  const before = busy.get(key);
  const fetching = (before ?? Promise.resolve())
    .catch(() => undefined)
    .then(() => withWeftErrors(() => fetch(line, id, { ...options, to: place })));
  busy.set(key, fetching);
  try {
    return await fetching;
  } finally {
    if (busy.get(key) === fetching) busy.delete(key);
  }
}

async function fetch(
  line: HeadConnection,
  id: string,
  { to: place = '.', folders = true, signal, ...chosen }: PullOptions,
): Promise<readonly PulledFile[]> {
  const selection = selectionOf(chosen);
  const transfer = line.transfer(signal);
  const found = await findOutputs(transfer, [id]);
  if (!folders && found.length > 1) {
    throw wrongArgument(`folders: ${found.length} tasks of job ${id} cannot share one folder`);
  }
  const tasks = found.map((task) => {
    const below = folders ? folderOf(task) : ['.'];
    return placedIn({ ...task, below }, { place, selection, shown: place });
  });
  const { right, lost } = checkLists(tasks);
  const brought = await bring(transfer, right, { place, hints: HINTS });
  checkWhole(brought, lost, 'Pull again once that is mended; what is here is not fetched twice.');
  const { placed } = brought;
  const tasksByFolder = new Map(tasks.map(({ task, below }) => [path.join(place, below), task]));
  return placed.map(({ entry: { kind, size, path: inside }, full, here }) => {
    const task = tasksByFolder.get(full.slice(0, -inside.length - 1)) ?? id;
    return { task, path: full, kind, size, isFetched: here !== 'there' };
  });
}

function selectionOf({ glob, include, exclude }: PullOptions): Selection {
  const read = readSelection({
    ...dropUndefined({ include: listed(include), exclude: listed(exclude), globs: listed(glob) }),
    skipFolders: false,
  });
  if (!read.ok) throw wrongArgument(read.error.join('\n'));
  return read.value;
}

function folderOf({ jobId, index }: TaskOutputs): string[] {
  return index === null ? [String(jobId)] : [String(jobId), String(index)];
}
