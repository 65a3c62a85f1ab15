// Looks as an agent tells them: short, since there are very many; and read with care, since a node
// may say anything.

import { isWhole } from '../../../kernel/base/whole.ts';
import { SLOWED_BY } from '../../../kernel/model/gpu.ts';
import { GPUS_PER_NODE_MAX } from '../../../kernel/model/limits.ts';
import {
  GPUS_PER_LOOK_MAX,
  type GpuUse,
  LOOKS_KEPT_MAX,
  type Look,
  type NodeUse,
  TASKS_PER_LOOK_MAX,
  type TaskUse,
  type Use,
} from '../model/look.ts';

const MILLI_MAX = 100_000_000;
const EPOCH_ID_MAX = 64;
const WATTS_MAX = 10_000;
const CELSIUS_MAX = 1000;
/** An older head takes no notice of it. */
const NOT_SLOWED = false;

/** `now`: by the same clock as the looks. */
export function writeLooks(looks: readonly Look[], now: number): object {
  const rows = looks.map(({ at, node, tasks, gpus }) => [
    // Monotonic clocks have fractions of a millisecond.
    Math.max(0, Math.round(now - at)),
    node === null ? null : writeNode(node),
    tasks.map(writeTask),
    gpus.map(writeGpu),
  ]);
  return { looks: rows };
}

/** An older head reads no more than the first two. */
function writeNode({ cpuMilli, memoryBytes, flow }: NodeUse): number[] {
  if (flow === undefined) return [cpuMilli, memoryBytes];
  const { readRate, writtenRate, receivedRate, sentRate } = flow;
  return [cpuMilli, memoryBytes, readRate, writtenRate, receivedRate, sentRate];
}

/** An older head reads no more than the first three, five or six. */
function writeGpu(use: GpuUse): unknown[] {
  const { number, busyPercent, memoryBytes, watts, celsius, slowedBy, correctedErrors } = use;
  const slowed = slowedBy === null ? NOT_SLOWED : slowedBy && SLOWED_BY.indexOf(slowedBy);
  const row = [number, busyPercent, memoryBytes, watts, celsius, slowed, correctedErrors];
  const told = row.findLastIndex((one) => one !== undefined) + 1;
  return row.slice(0, told).map((one) => one ?? null);
}

function writeTask({ epochId, cpuMilli, memoryBytes, gpuMilli, disk }: TaskUse): unknown[] {
  const row = [epochId, cpuMilli, memoryBytes];
  if (disk !== undefined) return [...row, gpuMilli, disk.readBytes, disk.writtenBytes];
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
  const ofNode = node === null ? null : readNode(node);
  if (node !== null && ofNode === null) return null;
  return { at: now - agoMs, node: ofNode, tasks: found, gpus };
}

function readTask(task: unknown): TaskUse | null {
  if (!Array.isArray(task)) return null;
  const [epochId, cpuMilli, memoryBytes, gpuMilli = null, ...disk] = task as unknown[];
  const use = readUse([cpuMilli, memoryBytes]);
  if (use === null || typeof epochId !== 'string' || epochId.length > EPOCH_ID_MAX) return null;
  const isKnown = typeof gpuMilli === 'number' && isWhole(gpuMilli, 0, MILLI_MAX);
  if (gpuMilli !== null && !isKnown) return null;
  return { epochId, ...use, gpuMilli: isKnown ? gpuMilli : null, ...readDisk(disk) };
}

function readGpus(cards: unknown): readonly GpuUse[] | null {
  if (!Array.isArray(cards) || cards.length > GPUS_PER_LOOK_MAX) return null;
  const found: GpuUse[] = [];
  for (const card of cards as unknown[]) {
    const [number, busyPercent, memoryBytes, ...warm] = Array.isArray(card) ? card : [];
    if (typeof number !== 'number' || !isWhole(number, 0, GPUS_PER_NODE_MAX)) return null;
    if (typeof busyPercent !== 'number' || !isWhole(busyPercent, 0, 100)) return null;
    if (typeof memoryBytes !== 'number') return null;
    if (!isWhole(memoryBytes, 0, Number.MAX_SAFE_INTEGER)) return null;
    found.push({ number, busyPercent, memoryBytes, ...readWarmth(warm) });
  }
  return found;
}

/** What cannot be says nothing about the rest. */
function readDisk([readBytes, writtenBytes]: readonly unknown[]): Pick<TaskUse, 'disk'> {
  if (!isAmount(readBytes) || !isAmount(writtenBytes)) return {};
  return { disk: { readBytes, writtenBytes } };
}

function readFlow(rates: readonly unknown[]): Pick<NodeUse, 'flow'> {
  if (rates.length < 4 || !rates.every(isAmount)) return {};
  const [readRate = 0, writtenRate = 0, receivedRate = 0, sentRate = 0] = rates;
  return { flow: { readRate, writtenRate, receivedRate, sentRate } };
}

/** What cannot be says nothing about the rest. */
function readWarmth([watts, celsius, slowed, errors]: readonly unknown[]): Omit<
  GpuUse,
  'number' | 'busyPercent' | 'memoryBytes'
> {
  const which = isAmount(slowed) ? SLOWED_BY[slowed] : undefined;
  const slowedBy = slowed === NOT_SLOWED ? null : which;
  return {
    ...(slowedBy === undefined ? {} : { slowedBy }),
    ...(typeof watts === 'number' && isWhole(watts, 0, WATTS_MAX) ? { watts } : {}),
    ...(typeof celsius === 'number' && isWhole(celsius, -CELSIUS_MAX, CELSIUS_MAX)
      ? { celsius }
      : {}),
    ...(isAmount(errors) ? { correctedErrors: errors } : {}),
  };
}

function isAmount(value: unknown): value is number {
  return isWhole(value, 0, Number.MAX_SAFE_INTEGER);
}

function readNode(amounts: unknown): NodeUse | null {
  const use = readUse(amounts);
  return use === null ? null : { ...use, ...readFlow((amounts as unknown[]).slice(2, 6)) };
}

function readUse(amounts: unknown): Use | null {
  if (!Array.isArray(amounts)) return null;
  const [cpuMilli, memoryBytes] = amounts as unknown[];
  if (typeof cpuMilli !== 'number' || !isWhole(cpuMilli, 0, MILLI_MAX)) return null;
  if (typeof memoryBytes !== 'number') return null;
  if (!isWhole(memoryBytes, 0, Number.MAX_SAFE_INTEGER)) return null;
  return { cpuMilli, memoryBytes };
}
