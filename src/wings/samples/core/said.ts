// Looks as an agent tells them: short, since there are very many; and read with care, since a node may say
// anything.

import { isWhole } from '../../../kernel/base/whole.ts';
import {
  LOOKS_KEPT_MAX,
  type Look,
  TASKS_PER_LOOK_MAX,
  type TaskUse,
  type Use,
} from '../model/look.ts';

const MILLI_MAX = 100_000_000;
const EPOCH_ID_MAX = 64;

/** `now`: by the same clock as the looks. */
export function writeLooks(looks: readonly Look[], now: number): object {
  const rows = looks.map(({ at, node, tasks }) => [
    // Monotonic clocks have fractions of a millisecond.
    Math.max(0, Math.round(now - at)),
    node === null ? null : [node.cpuMilli, node.memoryBytes],
    tasks.map(({ epochId, cpuMilli, memoryBytes }) => [epochId, cpuMilli, memoryBytes]),
  ]);
  return { looks: rows };
}

/** Null: it is none of what agents say. `now`: when they were heard, by the clock of the reader. */
export function readLooks(said: unknown, now: number): readonly Look[] | null {
  const rows = (said as { looks?: unknown } | null)?.looks;
  if (!Array.isArray(rows) || rows.length > LOOKS_KEPT_MAX) return null;
  const looks: Look[] = [];
  for (const row of rows) {
    const look = readLook(row, now);
    if (look === null) return null;
    looks.push(look);
  }
  return looks;
}

function readLook(row: unknown, now: number): Look | null {
  if (!Array.isArray(row)) return null;
  const [agoMs, node, tasks] = row as unknown[];
  if (typeof agoMs !== 'number' || !isWhole(agoMs, 0, 86_400_000)) return null;
  if (!Array.isArray(tasks)) return null;
  if (tasks.length > TASKS_PER_LOOK_MAX) return null;
  const found: TaskUse[] = [];
  for (const task of tasks as unknown[]) {
    const [epochId, ...amounts] = Array.isArray(task) ? (task as unknown[]) : [];
    const use = readUse(amounts);
    if (use === null || typeof epochId !== 'string' || epochId.length > EPOCH_ID_MAX) return null;
    found.push({ epochId, ...use });
  }
  const ofNode = node === null ? null : readUse(node);
  if (node !== null && ofNode === null) return null;
  return { at: now - agoMs, node: ofNode, tasks: found };
}

function readUse(amounts: unknown): Use | null {
  if (!Array.isArray(amounts)) return null;
  const [cpuMilli, memoryBytes] = amounts as unknown[];
  if (typeof cpuMilli !== 'number' || !isWhole(cpuMilli, 0, MILLI_MAX)) return null;
  if (typeof memoryBytes !== 'number') return null;
  if (!isWhole(memoryBytes, 0, Number.MAX_SAFE_INTEGER)) return null;
  return { cpuMilli, memoryBytes };
}
