// How people and programs ask for gpus: `2`, `a100:2`, and types as `a100|h100`.

import { err, ok, type Result } from '../base/result.ts';
import { isWhole } from '../base/whole.ts';
import { GPU_TYPES_MAX, GPUS_PER_NODE_MAX } from './limits.ts';

/** A number of them, or the type before it: `a100:2`. */
export type GpuWish = number | string;

export interface GpusAsked {
  readonly count: number;
  /** Null when the wish names none. */
  readonly type: string | null;
}

const TYPE = /^[a-z][a-z0-9]*(?:[._-][a-z0-9]+)*$/;
const TYPE_LENGTH_MAX = 40;

export function parseGpus(text: string): Result<GpuWish, string> {
  const asked = readGpus(text);
  if (!asked.ok) return asked;
  const { count, type } = asked.value;
  return ok(type === null ? count : `${type}:${count}`);
}

export function readGpus(wish: GpuWish): Result<GpusAsked, string> {
  const text = String(wish).trim();
  // NaN and Infinity, which programs hand over, would be read as types.
  if (typeof wish === 'number' && !Number.isFinite(wish)) return notGpus(text);
  const [, name, number = ''] = /^(?:([^:]*):)?([^:]*)$/.exec(text) ?? [];
  if (name === undefined && TYPE.test(text.toLowerCase())) return typed(text, 1);
  if (!/^\d{1,9}$/.test(number)) return notGpus(text);
  const count = Number(number);
  if (!isWhole(count, 0, GPUS_PER_NODE_MAX)) {
    return err(`'${text}' is more than ${GPUS_PER_NODE_MAX}`);
  }
  if (name === undefined) return ok({ count, type: null });
  if (count === 0)
    return err(`'${text}' names a type and asks for none of it; write 0 for no gpus`);
  return typed(name, count);
}

function typed(name: string, count: number): Result<GpusAsked, string> {
  const type = parseGpuType(name);
  return type.ok ? ok({ count, type: type.value }) : type;
}

function notGpus(text: string): Result<never, string> {
  return err(`'${text}' is not a number of gpus; write 2, or a100:2 for gpus of a type`);
}

/** A type by the name that nodes give it: `rtx4090`, `a100-80g`, `a100-1g.10g`. */
export function parseGpuType(text: string): Result<string, string> {
  const type = text.trim().toLowerCase();
  if (TYPE.test(type) && type.length <= TYPE_LENGTH_MAX) return ok(type);
  return err(`'${text}' is not a type of gpus; write it as \`weft node show\` does: a100, rtx4090`);
}

/** `a100|h100`: any of them will do; `any`: none is named. */
export function parseGpuTypes(text: string): Result<readonly string[], string> {
  if (text.trim() === 'any') return ok([]);
  const types: string[] = [];
  for (const word of text.split(/[|,]/)) {
    const type = parseGpuType(word);
    if (!type.ok) return type;
    if (!types.includes(type.value)) types.push(type.value);
  }
  return types.length > GPU_TYPES_MAX
    ? err(`${types.length} types are named; ${GPU_TYPES_MAX} are the most`)
    : ok(types);
}

/** A slice of a card: `a100-1g.10g`. */
export function isSliceType(type: string): boolean {
  return /-\d+g\.\d+g/.test(type);
}
