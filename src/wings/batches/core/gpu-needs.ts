// Jobs that mean to use gpus and ask for none: they would be put on a node that has some, and get
// none of them.

import { parseLabels } from '../../../kernel/model/labels.ts';
import type { BatchJob, Solver } from './batch.ts';

/** What sites call nodes with gpus: `gpu`, `gpus`, `gpu=a100`, `gpu-large`. */
const GPU_LABEL = /^gpus?([=._/-].*)?$/i;
const LABELS = /[A-Za-z0-9][A-Za-z0-9._=/-]*/g;
/** Labels of one expression; every choice of them is tried. */
const LABELS_MAX = 10;

type Asking = Pick<BatchJob, 'needs' | 'cpuCount' | 'gpuCount'> & {
  readonly solver: Pick<Solver, 'kind' | 'gpu'> | null;
};

/** What is wrong with what a job asks for; null: nothing. */
export function gpuProblem({ needs, solver, cpuCount, gpuCount }: Asking): string | null {
  const isForContainer = solver !== null && solver.kind !== 'build' && solver.gpu;
  if (isForContainer && gpuCount === 0) {
    return '`solver.gpu` gives the container gpus, and this job asks for 0; leave one of both out';
  }
  if (cpuCount === null || gpuCount !== null) return null;
  const label = needs.find(needsGpu);
  if (label === undefined && !isForContainer) return null;
  const why = label === undefined ? '`solver.gpu` is true' : `needs '${label}'`;
  const ways = 'write `gpus: 1` beside `cpus` (`gpus: 0`: it uses none), or leave `cpus` out';
  return `${why}, but a job with \`cpus\` and without \`gpus\` gets no gpu; ${ways}: then it has a whole node with its gpus`;
}

/** Whether only a node with a label of gpus meets it. */
export function needsGpu(text: string): boolean {
  const read = parseLabels(text);
  if (!read.ok) return false;
  const labels = [...new Set(text.match(LABELS) ?? [])];
  const others = labels.filter((label) => !GPU_LABEL.test(label));
  if (others.length === labels.length || others.length > LABELS_MAX) return false;
  for (let choice = 0; choice < 2 ** others.length; choice += 1) {
    const chosen = others.filter((_, at) => Math.floor(choice / 2 ** at) % 2 === 1);
    if (read.value(new Set(chosen))) return false;
  }
  return true;
}

type Linked = Pick<BatchJob, 'cpuCount' | 'gpuCount' | 'gpuShareBytes' | 'gpuLinks'>;

/** What the head would refuse of gpus that are to be joined; null: nothing. */
export function linksProblem({
  cpuCount,
  gpuCount,
  gpuShareBytes,
  gpuLinks,
}: Linked): string | null {
  if (gpuLinks === undefined) return null;
  if (cpuCount === null) {
    return 'a job without cpus has all gpus of its node, joined or not; give it cpus';
  }
  const isEnough = (gpuCount ?? 1) > 1 && gpuShareBytes === null;
  return isEnough ? null : 'gpus that are joined are two and more, whole ones; say how many';
}
