// Looks as an agent tells them: short, since there are very many; and read with care, since a node
// may say anything.

import { isWhole } from '../../../kernel/base/whole.ts';
import { GPUS_PER_NODE_MAX } from '../../../kernel/model/limits.ts';
import {
  GPUS_PER_LOOK_MAX,
  type GpuUse,
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
  const rows = looks.map(({ at, node, tasks, gpus }) => [
    // Monotonic clocks have fractions of a millisecond.
    Math.max(0, Math.round(now - at)),
    node === null ? null : [node.cpuMilli, node.memoryBytes],
    tasks.map(writeTask),
    gpus.map(({ number, busyPercent, memoryBytes }) => [number, busyPercent, memoryBytes]),
  ]);
  return { looks: rows };
}

function writeTask({ epochId, cpuMilli, memoryBytes, gpuMilli }: TaskUse): unknown[] {
  const row = [epochId, cpuMilli, memoryBytes];
  return gpuMilli === null ? row : [...row, gpuMilli];
}

/**
 * Returns null when it is none of what agents say. `now`: when they were heard, by the clock of the
 * reader.
 */
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
  const [agoMs, node, tasks, cards = []] = row as unknown[];
  if (typeof agoMs !== 'number' || !isWhole(agoMs, 0, 86_400_000)) return null;
  if (!Array.isArray(tasks)) return null;
  if (tasks.length > TASKS_PER_LOOK_MAX) return null;
  const found: TaskUse[] = [];
  for (const task of tasks as unknown[]) {
    // One that cannot be read says nothing about the others.
    const use = readTask(task);
    if (use !== null) found.push(use);
  }
  const gpus = readGpus(cards);
  if (gpus === null) return null;
  const ofNode = node === null ? null : readUse(node);
  if (node !== null && ofNode === null) return null;
  return { at: now - agoMs, node: ofNode, tasks: found, gpus };
}

function readTask(task: unknown): TaskUse | null {
  if (!Array.isArray(task)) return null;
  const [epochId, cpuMilli, memoryBytes, gpuMilli = null] = task as unknown[];
  const use = readUse([cpuMilli, memoryBytes]);
  if (use === null || typeof epochId !== 'string' || epochId.length > EPOCH_ID_MAX) return null;
  if (gpuMilli === null) return { epochId, ...use, gpuMilli };
  if (typeof gpuMilli !== 'number' || !isWhole(gpuMilli, 0, MILLI_MAX)) return null;
  return { epochId, ...use, gpuMilli };
}

function readGpus(cards: unknown): readonly GpuUse[] | null {
  if (!Array.isArray(cards) || cards.length > GPUS_PER_LOOK_MAX) return null;
  const found: GpuUse[] = [];
  for (const card of cards as unknown[]) {
    const [number, busyPercent, memoryBytes] = Array.isArray(card) ? (card as unknown[]) : [];
    if (typeof number !== 'number' || !isWhole(number, 0, GPUS_PER_NODE_MAX)) return null;
    if (typeof busyPercent !== 'number' || !isWhole(busyPercent, 0, 100)) return null;
    if (typeof memoryBytes !== 'number') return null;
    if (!isWhole(memoryBytes, 0, Number.MAX_SAFE_INTEGER)) return null;
    found.push({ number, busyPercent, memoryBytes });
  }
  return found;
}

function readUse(amounts: unknown): Use | null {
  if (!Array.isArray(amounts)) return null;
  const [cpuMilli, memoryBytes] = amounts as unknown[];
  if (typeof cpuMilli !== 'number' || !isWhole(cpuMilli, 0, MILLI_MAX)) return null;
  if (typeof memoryBytes !== 'number') return null;
  if (!isWhole(memoryBytes, 0, Number.MAX_SAFE_INTEGER)) return null;
  return { cpuMilli, memoryBytes };
}
