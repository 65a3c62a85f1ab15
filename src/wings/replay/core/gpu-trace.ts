// Traces of clusters with gpus, as comma-separated values with a line of titles: those of Alibaba
// (clusterdata, `openb_pod_list`) and of Helios (`cluster_log`) by their own titles. Text in, jobs
// out.

import type { BrokenLine } from './swf.ts';

export interface GpuJob {
  readonly id: string;
  readonly submitS: number;
  /** Not above 0 when the trace does not know it. */
  readonly runS: number;
  /** In all. */
  readonly gpus: number;
  readonly cpus: number;
  readonly memoryBytes: number;
  /** Null: as few as hold it. */
  readonly nodes: number | null;
}

export interface GpuTrace {
  readonly jobs: readonly GpuJob[];
  readonly broken: readonly BrokenLine[];
}

/** Titles of each column, whoever wrote it. */
const TITLES = {
  id: ['name', 'job_id'],
  submit: ['creation_time', 'submit_time'],
  start: ['scheduled_time', 'start_time'],
  end: ['deletion_time', 'end_time'],
  gpus: ['num_gpu', 'gpu_num'],
  cpus: ['cpu_milli', 'cpu_num'],
  memory: ['memory_mib'],
  nodes: ['node_num'],
} as const;
type Column = keyof typeof TITLES;
const NEEDED: readonly Column[] = ['id', 'submit', 'end', 'gpus', 'cpus'];
const MIB = 2 ** 20;

/** Null: its first line has not the titles of such a trace. */
export function parseGpuTrace(text: string): GpuTrace | null {
  const [first = '', ...lines] = text.split('\n');
  const titles = first.trim().split(',');
  const places = new Map<Column, number>();
  for (const [column, names] of Object.entries(TITLES) as [Column, readonly string[]][]) {
    const at = titles.findIndex((title) => names.includes(title));
    if (at >= 0) places.set(column, at);
  }
  if (!NEEDED.every((column) => places.has(column))) return null;
  const isMilli = titles.includes('cpu_milli');
  const jobs: GpuJob[] = [];
  const broken: BrokenLine[] = [];
  lines.forEach((written, at) => {
    if (written.trim() === '') return;
    const cells = written.trim().split(',');
    const job = jobOf((column) => cells[places.get(column) ?? -1], { isMilli });
    if (typeof job === 'string') broken.push({ line: at + 2, reason: job });
    else jobs.push(job);
  });
  return { jobs, broken };
}

/** The job, or what is wrong with the line. */
function jobOf(
  cell: (column: Column) => string | undefined,
  { isMilli }: { readonly isMilli: boolean },
): GpuJob | string {
  const submitS = secondsIn(cell('submit'));
  if (submitS === null) return `no time of submission: '${short(cell('submit'))}'`;
  const amounts = { gpus: numberIn(cell('gpus')), cpus: numberIn(cell('cpus')) };
  const { gpus, cpus } = amounts;
  if (gpus === null || cpus === null) {
    return `no number of gpus or cpus: '${short(cell('gpus'))}', '${short(cell('cpus'))}'`;
  }
  const endS = secondsIn(cell('end'));
  const startS = secondsIn(cell('start')) ?? submitS;
  const nodes = numberIn(cell('nodes'));
  return {
    id: cell('id') ?? '',
    submitS,
    runS: endS === null ? 0 : endS - startS,
    gpus: Math.ceil(gpus),
    cpus: Math.ceil(isMilli ? cpus / 1000 : cpus),
    memoryBytes: Math.round((numberIn(cell('memory')) ?? 0) * MIB),
    nodes: nodes !== null && nodes >= 1 ? Math.ceil(nodes) : null,
  };
}

/** Nothing below 0; null: it is no number. */
function numberIn(text = ''): number | null {
  const number = /^\d{1,15}(?:\.\d{1,9})?$/.test(text.trim()) ? Number(text) : null;
  return number === null || !Number.isFinite(number) ? null : number;
}

/** Seconds, or a date with its time; null: neither. */
function secondsIn(text = ''): number | null {
  const number = numberIn(text);
  if (number !== null) return number;
  const [, day, time] = /^(\d{4}-\d{2}-\d{2})[ T](\d{2}:\d{2}:\d{2})$/.exec(text.trim()) ?? [];
  const at = Date.parse(`${day}T${time}Z`);
  return Number.isNaN(at) ? null : at / 1000;
}

function short(text = ''): string {
  return text.slice(0, 40);
}
