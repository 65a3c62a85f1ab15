// Memory, gpus and licenses that options of sbatch ask for, for a node each.

import { err, ok, type Result } from '../../../kernel/base/result.ts';
import { bad } from './bad.ts';
import type { BatchOption, Given } from './batch-options.ts';

const UNITS: Readonly<Record<string, number>> = { K: 1 / 1024, M: 1, G: 1024, T: 1_048_576 };

export function readMebibytes(name: BatchOption, text: string): Result<number, string> {
  const [, amount = '', unit = 'M'] = /^(\d{1,12})([KMGT])?B?$/i.exec(text) ?? [];
  if (amount === '') return err(`Invalid --${name} specification`);
  return ok(Math.ceil(Number(amount) * (UNITS[unit.toUpperCase()] ?? 1)));
}

function mebibytes(name: BatchOption, text: string): number {
  const read = readMebibytes(name, text);
  return read.ok ? read.value : bad(read.error);
}

export function memoryOf(
  given: Given,
  { nodes, cpus }: { readonly nodes: string; readonly cpus: string },
): { readonly memory?: string } {
  const [all, perCpu] = [given.mem, given['mem-per-cpu']];
  if (all !== undefined && perCpu !== undefined) bad('--mem and --mem-per-cpu exclude each other');
  if (perCpu !== undefined)
    return { memory: `${mebibytes('mem-per-cpu', perCpu) * Number(cpus)}M` };
  const perGpu = given['mem-per-gpu'];
  if (perGpu !== undefined) {
    if (all !== undefined) bad('--mem and --mem-per-gpu exclude each other');
    return { memory: `${mebibytes('mem-per-gpu', perGpu) * gpusPerNode(given, Number(nodes))}M` };
  }
  if (all === undefined || isAllMemory(given)) return {};
  return { memory: `${mebibytes('mem', all)}M` };
}

/** `--mem=0`: all memory of a node, which is had with the node. */
export function isAllMemory({ mem }: Given): boolean {
  return mem !== undefined && mebibytes('mem', mem) === 0;
}

/** For `--mem-per-gpu` and its like, which need a number for each of so many nodes. */
export function gpusPerNode(given: Given, nodes: number): number {
  const { gres, gpus, 'gpus-per-node': perNode } = given;
  if (gres !== undefined) return gpusOfGres(gres).count;
  if (perNode !== undefined) return gpusIn(perNode, perNode).count;
  if (gpus !== undefined) return evenly(gpusIn(gpus, gpus).count, nodes);
  return bad(
    '--mem-per-gpu, --cpus-per-gpu and --ntasks-per-gpu need --gpus, --gpus-per-node or --gres=gpu:N here',
  );
}

export function gpusOf(
  given: Given,
  shape: { readonly nodes: string; readonly ranksPerNode?: string },
): { readonly gpus?: string } {
  const { gres, gpus } = given;
  const perNode = given['gpus-per-node'];
  const perTask = given['gpus-per-task'];
  const said = [gres, perNode, gpus, perTask].filter((one) => one !== undefined);
  if (said.every((one) => /^(?:none|(?:gpu:)?0)$/.test(one))) return {};
  const asked: Gpus[] = [];
  if (gres !== undefined) asked.push(gpusOfGres(gres));
  if (perNode !== undefined) asked.push(gpusIn(perNode, perNode));
  if (perTask !== undefined) {
    const { type, count } = gpusIn(perTask, perTask);
    asked.push({ type, count: count * Number(shape.ranksPerNode ?? 1) });
  }
  if (gpus !== undefined) {
    const { type, count } = gpusIn(gpus, gpus);
    asked.push({ type, count: evenly(count, Number(shape.nodes)) });
  }
  return { gpus: gpuWords(theSame(asked)) };
}

/** Scripts say the same gpus of a node in several ways; with a type where one of them has it. */
function theSame([first = { type: null, count: 0 }, ...others]: readonly Gpus[]): Gpus {
  return others.reduce(({ type, count }, one) => {
    const differ = type !== null && one.type !== null && type !== one.type;
    if (differ || count !== one.count)
      bad(
        '--gres, --gpus-per-node, --gpus-per-task and --gpus exclude each other where they differ',
      );
    return { type: type ?? one.type, count };
  }, first);
}

function evenly(count: number, nodes: number): number {
  if (count % nodes !== 0) bad(`--gpus ${count} cannot be shared evenly by ${nodes} nodes`);
  return count / nodes;
}

/** `matlab:2,solver`: in our words `matlab=2` and `solver=1`. */
export function licences(text: string): string[] {
  return text.split(',').map((one) => {
    const [, name, count = '1'] = /^([^:,\s|]+)(?::(\d{1,12}))?$/.exec(one) ?? [];
    return name === undefined ? bad('Invalid license specification') : `${name}=${count}`;
  });
}

interface Gpus {
  /** Null: of any type. */
  readonly type: string | null;
  readonly count: number;
}

/** `gpu:2`, `gpu:a100:2`, `gpu`: nothing else is known. */
function gpusOfGres(gres: string): Gpus {
  const [, text] = /^gpu(?::(.+))?$/.exec(gres) ?? [];
  if (text === undefined && gres !== 'gpu') return notGres(gres);
  return gpusIn(text ?? '', gres);
}

function notGres(said: string): never {
  return bad(`Invalid generic resource (gres) specification: ${said}`);
}

/** `2`, `a100:2`, `a100`. */
function gpusIn(text: string, said: string): Gpus {
  const [all, type = null, count = '1'] =
    /^(?:([A-Za-z][\w.-]*)(?::(?=.)|$))?(\d+)?$/.exec(text) ?? [];
  if (all === undefined || !/^[1-9]\d*$/.test(count)) return notGres(said);
  return { type, count: Number(count) };
}

function gpuWords({ type, count }: Gpus): string {
  return type === null ? String(count) : `${type.toLowerCase()}:${count}`;
}
