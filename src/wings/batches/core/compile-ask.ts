// What a job of a batch asks of a node and of the cluster: amounts, limits, and where in the queue.

import { parseDuration } from '../../../kernel/base/duration.ts';
import { parseSize } from '../../../kernel/base/size.ts';
import { isWhole } from '../../../kernel/base/whole.ts';
import type { Findings } from '../../../kernel/files/findings.ts';
import type { ProblemPath } from '../../../kernel/files/problem.ts';
import { readGpus } from '../../../kernel/model/gpu-wish.ts';
import { MEMORY_PER_NODE_MAX, NICE_MAX } from '../../../kernel/model/limits.ts';
import { GPU_LINKS } from '../../../kernel/model/options/gpus.ts';
import { BATCH_ROWS, type BatchRow } from '../../../kernel/model/options/table.ts';
import type { Form } from '../../../kernel/model/options/types.ts';
import type { WrittenAsk } from './written.ts';

interface Bounds {
  readonly key: keyof WrittenAsk;
  readonly min: number;
  readonly max: number;
  readonly expected: string;
}

const WHOLE: readonly Bounds[] = [
  ...BATCH_ROWS.flatMap(boundsOf),
  {
    key: 'priority',
    min: -NICE_MAX,
    max: NICE_MAX,
    expected: `a whole number from -${NICE_MAX} to ${NICE_MAX}, higher goes first`,
  },
];

export const ASK_KEYS: readonly (keyof WrittenAsk)[] = [
  ...BATCH_ROWS.map(({ name }) => name),
  'priority',
];

/** A size has a form of its own. */
function boundsOf({ name, type, batch }: BatchRow): Bounds[] {
  const form: Form = type.form;
  if (form.kind !== 'whole' || type.program !== 'number') return [];
  const min = batch.least ?? form.least;
  const expected = batch.expected ?? `a whole number from ${min} to ${form.most}`;
  return [{ key: name, min, max: form.most, expected }];
}

/** The site has them; what no site can have is told here. */
const NAME = /^[^\s/]{1,64}$/;

export function checkAsk(written: WrittenAsk, at: ProblemPath, findings: Findings): void {
  const gpus = readGpuWish(written);
  if (gpus !== null && !gpus.ok) findings.problem([...at, 'gpus'], gpus.error);
  for (const { key, min, max, expected } of WHOLE) {
    const value = written[key];
    if (value === undefined || isWhole(value, min, max)) continue;
    findings.problem([...at, key], `'${value}': expected ${expected}`);
  }
  for (const key of ['partition', 'qos'] as const) {
    const value = written[key];
    if (value === undefined || NAME.test(value)) continue;
    const what = `'${value}': expected a name, as \`weft ${key} list\` shows`;
    findings.problem([...at, key], what);
  }
  const { memory, time } = readAmounts(written);
  for (const key of ['gpuMemory', 'gpuShare'] as const) {
    const size = readSize(written[key]);
    if (size !== null && !size.ok) findings.problem([...at, key], size.error);
  }
  if (gpus?.ok && gpus.value.count === 0 && asksWhich(written)) {
    findings.problem(
      [...at, 'gpus'],
      "'0': gpuMemory and gpuShare say of which; leave one of both out",
    );
  }
  const { gpuLinks } = written;
  if (gpuLinks !== undefined && !GPU_LINKS.some((one) => one === gpuLinks)) {
    findings.problem([...at, 'gpuLinks'], `'${gpuLinks}': expected ${GPU_LINKS.join(' or ')}`);
  }
  if (memory !== null && !memory.ok) findings.problem([...at, 'memory'], memory.error);
  if (time !== null && !time.ok) findings.problem([...at, 'time'], time.error);
}

export function readAsk(written: WrittenAsk) {
  const { memory, time } = readAmounts(written);
  const gpus = readGpuWish(written);
  return {
    cpuCount: written.cpus ?? null,
    gpuCount: gpus?.ok ? gpus.value.count : asksWhich(written) ? 1 : null,
    gpuType: gpus?.ok ? gpus.value.type : null,
    gpuMemoryBytes: bytesOf(written.gpuMemory),
    gpuShareBytes: bytesOf(written.gpuShare),
    ...(written.gpuLinks === 'nvlink' ? { gpuLinks: 'nvlink' as const } : {}),
    memoryBytes: memory?.ok ? memory.value : null,
    walltimeMs: time?.ok ? time.value : null,
    retriesMax: written.retries ?? 0,
    partition: written.partition ?? null,
    qos: written.qos ?? null,
    priority: written.priority ?? 0,
  };
}

function readGpuWish({ gpus }: WrittenAsk) {
  return gpus === undefined ? null : readGpus(String(gpus));
}

/** Whether more is said of gpus than how many. */
function asksWhich({ gpuMemory, gpuShare }: WrittenAsk): boolean {
  return gpuMemory !== undefined || gpuShare !== undefined;
}

function readSize(written: WrittenAsk['memory']) {
  return written === undefined ? null : parseMemory(String(written));
}

function bytesOf(written: WrittenAsk['memory']): number | null {
  const size = readSize(written);
  return size?.ok ? size.value : null;
}

function readAmounts({ memory, time }: WrittenAsk) {
  return {
    memory: readSize(memory),
    time: time === undefined || time === 'none' ? null : parseTime(String(time)),
  };
}

function parseMemory(text: string) {
  const wrong = (error: string) => ({ ok: false, error }) as const;
  if (/^\d+$/.test(text)) return wrong(`'${text}' has no unit; write ${text}M or ${text}G`);
  const size = parseSize(text);
  if (!size.ok) return size;
  if (size.value < 1) return wrong(`'${text}' is nothing; leave it out for no limit`);
  return size.value > MEMORY_PER_NODE_MAX ? wrong(`'${text}' is larger than any node`) : size;
}

/** A duration that is more than nothing. */
export function parseTime(text: string) {
  const time = parseDuration(text);
  if (!time.ok || time.value > 0) return time;
  return { ok: false, error: `'${text}' is no time; write none for no limit` } as const;
}
