// `sstat`: what a job that runs has used so far, and its steps. Measured are whole tasks, steps
// with them: of a single step its nodes and processes are known, and its use when it is over.

import { headNow } from '../../../kernel/api/head-time.ts';
import type { JobDetail } from '../../../kernel/api/jobs.ts';
import type { Context } from '../../../kernel/cli/context.ts';
import { usage } from '../../../kernel/model/failure.ts';
import type { StepView } from '../../steps/api/step-view.ts';
import { byNames, type Field, layOut } from '../core/formats.ts';
import { compressHosts } from '../core/hostlist.ts';
import { readId, readStep, slurmId } from '../core/ids.ts';
import type { OptionRow } from '../core/option-table.ts';
import { formatLong } from '../core/times.ts';
import { listOf, readWords, speaking } from './speaking.ts';

const value = { value: 'always' } as const;
export const USE_OPTIONS = [
  { long: 'jobs', short: 'j', ...value, many: true, words: 'these, or steps of them' },
  { long: 'allsteps', short: 'a', words: 'with a line for each step' },
  { long: 'noheader', short: 'n', words: 'without the first lines' },
  { long: 'parsable', short: 'p', words: '| between columns, and behind the last' },
  { long: 'parsable2', short: 'P', words: '| between columns' },
  { long: 'format', short: 'o', ...value, many: true, words: '`JobID%20,MaxRSS,AveCPU`' },
  { long: 'fields', ...value, words: 'the same' },
  { long: 'noconvert', words: 'as it is anyway' },
  { long: 'helpformat', short: 'e', words: 'names of the columns' },
  { long: 'verbose', short: 'v', words: 'nothing more is said' },
] as const satisfies readonly OptionRow[];

export const summary = 'What running jobs have used so far, as sstat of Slurm shows it.';
export const verb = speaking('sstat', sstat);

interface Row {
  /** `42.batch`, `42.0`. */
  readonly id: string;
  readonly job: JobDetail;
  /** Null: the task as a whole. */
  readonly step: StepView | null;
}

async function sstat(context: Context, words: readonly string[]): Promise<number> {
  const { given, operands } = readWords(USE_OPTIONS, words);
  if (given.helpformat !== undefined) {
    context.print(Object.keys(FIELDS).join('\n'));
    return 0;
  }
  const names = [...(listOf(given.jobs) ?? []), ...operands];
  if (names.length === 0) throw usage('You must give --jobs to this command');
  const format = given.format ?? given.fields ?? USUAL;
  const pieces = byNames(format, FIELDS, { mark: '%', right: true });
  if (!pieces.ok) throw usage(pieces.error);
  const rows: Row[] = [];
  for (const name of names)
    rows.push(...(await rowsOf(context, name, given.allsteps !== undefined)));
  const bar = given.parsable !== undefined || given.parsable2 !== undefined;
  const spaced = bar
    ? pieces.value
    : pieces.value.flatMap((piece) => [piece, { kind: 'text', text: ' ' } as const]);
  const lay = { header: given.noheader === undefined, separator: bar ? '|' : null };
  for (const line of layOut(spaced, rows, { ...lay, closing: given.parsable !== undefined }))
    context.print(line);
  return 0;
}

async function rowsOf(context: Context, name: string, allSteps: boolean): Promise<Row[]> {
  const named = readStep(name);
  const read = readId(named?.replace(/\.\d+$/, '').replace(/\[(\d+)\]/, '_$1') ?? name);
  if (!read.ok) throw usage(read.error);
  const id = read.value;
  const api = await context.api();
  const job = await api.call('getJob', { params: { id } });
  if (job.used === undefined) throw usage(`${name}: what a job uses is shown to its owner alone`);
  const steps = job.steps?.filter(({ state }) => state === 'running') ?? [];
  const step = (one: StepView): Row => ({ id: slurmId(one.id), job, step: one });
  const isOfStep = named !== null && /\.\d+$/.test(named);
  if (isOfStep) return steps.filter((one) => one.id === named).map(step);
  if (job.array !== null) {
    const why = 'tasks of an array are measured together';
    throw usage(`${name}: ${why}; see \`weft job ${Number.parseInt(id, 10)}\``);
  }
  const whole = job.state === 'running' ? [{ id: `${job.id}.batch`, job, step: null }] : [];
  return [...whole, ...(allSteps ? steps.map(step) : [])];
}

const USUAL = 'JobID,NTasks,MaxRSS,AveRSS,AveCPU,Nodelist';
const field = (
  title: string,
  width: number,
  of: (row: Row) => string | number,
): Field<Row> & { width: number } => ({ title, width, value: (row) => String(of(row)) });

/** Empty where nobody has looked, or looks. */
function memory(which: 'peak' | 'mean'): (row: Row) => string {
  return ({ job: { used }, step }) =>
    step !== null || used == null ? '' : `${Math.ceil(used.memoryBytes[which] / 1024)}K`;
}

function processorTime({ job: { used, runStartedAt }, step }: Row): string {
  if (step !== null || used == null || runStartedAt === null) return '';
  return formatLong(((headNow() - runStartedAt) * used.cpuMilli.mean) / 1000);
}

/** Columns that stay empty: nobody looks at that while a job runs. */
const UNKNOWN = `AveCPUFreq AveDiskRead AveDiskWrite AvePages AveVMSize ConsumedEnergy ConsumedEnergyRaw
  MaxDiskRead MaxDiskReadNode MaxDiskReadTask MaxDiskWrite MaxDiskWriteNode MaxDiskWriteTask MaxPages
  MaxPagesNode MaxPagesTask MaxRSSNode MaxRSSTask MaxVMSize MaxVMSizeNode MaxVMSizeTask MinCPU
  MinCPUNode MinCPUTask Pids ReqCPUFreq ReqCPUFreqGov ReqCPUFreqMax ReqCPUFreqMin TRESUsageInAve
  TRESUsageInMax TRESUsageInMaxNode TRESUsageInMaxTask TRESUsageInMin TRESUsageInMinNode
  TRESUsageInMinTask TRESUsageInTot TRESUsageOutAve TRESUsageOutMax TRESUsageOutMaxNode
  TRESUsageOutMaxTask TRESUsageOutMin TRESUsageOutMinNode TRESUsageOutMinTask TRESUsageOutTot`;

const FIELDS = Object.fromEntries(
  [
    field('JobID', 12, ({ id }) => id),
    field('NTasks', 8, ({ step, job }) => step?.processes ?? job.nodes.length),
    field('MaxRSS', 10, memory('peak')),
    field('AveRSS', 10, memory('mean')),
    field('AveCPU', 10, processorTime),
    field('Nodelist', 20, ({ step, job }) => compressHosts(step?.nodes ?? job.nodes)),
    ...UNKNOWN.split(/\s+/).map((name) => field(name, 10, () => '')),
  ].map((one) => [one.title, one]),
);
