// Tasks that use more of a card's memory than their share of it: nothing keeps them to it but MPS.

import type { GpuCard } from '../../../kernel/model/gpu.ts';
import { CARD_USERS_MAX } from '../../../kernel/model/limits.ts';
import type { ProcessOwner, SeenProcess } from '../model/answer.ts';
import { isNear } from './calm.ts';

type Overs = NonNullable<GpuCard['over']>;

/** A task with a share of a card. */
export interface Sharer {
  readonly task: string;
  readonly shareBytes: number;
  /** Marks of its processes, which what they start carries, too. */
  readonly marks: readonly string[];
}

/** How much of a card's memory the processes of each mark have together. */
export function memoryByMark(
  card: string,
  processes: readonly SeenProcess[],
  owners: ReadonlyMap<number, ProcessOwner>,
): ReadonlyMap<string, number> {
  const found = new Map<string, number>();
  for (const { card: on, pid, memoryBytes } of processes) {
    const mark = owners.get(pid)?.mark;
    if (on !== card || mark === undefined || memoryBytes === null) continue;
    found.set(mark, (found.get(mark) ?? 0) + memoryBytes);
  }
  return found;
}

/** `before`: as it was told last, which stays where little has changed. Undefined: none does. */
export function oversOf(
  memory: ReadonlyMap<string, number>,
  sharers: readonly Sharer[],
  before: Overs | undefined,
): Overs | undefined {
  const over = sharers.flatMap(({ task, shareBytes, marks }) => {
    const memoryBytes = marks.reduce((sum, mark) => sum + (memory.get(mark) ?? 0), 0);
    return memoryBytes > shareBytes ? [{ task, memoryBytes }] : [];
  });
  if (over.length === 0) return undefined;
  const some = over.slice(0, CARD_USERS_MAX);
  const isStill =
    before?.length === some.length &&
    some.every(({ task, memoryBytes }, at) => {
      return before[at]?.task === task && isNear(before[at].memoryBytes, memoryBytes);
    });
  return isStill ? before : some;
}
