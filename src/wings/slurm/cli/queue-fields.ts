// The columns of squeue: by their letters, for -o, and by their names, for -O.

import path from 'node:path';
import { headNow } from '../../../kernel/api/head-time.ts';
import type { JobDetail } from '../../../kernel/api/jobs.ts';
import { stdinFile } from '../../../kernel/model/job.ts';
import { outputName } from '../../steps/cli/output-name.ts';
import type { Field, Piece } from '../core/formats.ts';
import { compressHosts } from '../core/hostlist.ts';
import { formatElapsed } from '../core/times.ts';
import { accountOf } from './accounts.ts';
import { heldBy } from './held.ts';
import { instant } from './instants.ts';
import {
  askedFeatures,
  commandLine,
  endOf,
  type JobRow,
  licensesOf,
  openDependencies,
  priorityOf,
  type RowJob,
  reasonOf,
} from './job-rows.ts';

/** A row with what the job's own page says, where a column needs that and it was asked for. */
export interface QueueRow extends JobRow {
  readonly page?: JobDetail;
}

interface Column extends Field<QueueRow> {
  readonly letter: string | null;
  readonly name: string;
  readonly isOfPage?: true;
  /** Needs no more of a job than its rows are made of. */
  readonly isBrief?: true;
}

/** `i JobArrayID JOBID`: letter, `-` for none, name and title. */
function column(words: string, of: (row: QueueRow) => string | number): Column {
  const [letter = '-', name = '', title = ''] = words.split(' ');
  return {
    letter: letter === '-' ? null : letter,
    name,
    title,
    value: (row) => String(of(row)),
  };
}

/** A column of what every row has, which heads send quickly of a hundred thousand jobs. */
function brief(words: string, of: (row: JobRow<RowJob>) => string | number): Column {
  return { ...column(words, of), isBrief: true };
}

/** A column of the job's page; N/A where nobody has asked for it. */
function ofPage(words: string, of: (page: JobDetail, row: QueueRow) => string | number): Column {
  const value = (row: QueueRow) => (row.page === undefined ? 'N/A' : of(row.page, row));
  return { ...column(words, value), isOfPage: true };
}

/** What no job here has, as Slurm writes that. */
const unset = (text: string, ...all: readonly string[]): Column[] =>
  all.map((words) => brief(words, () => text));

const used = ({ startedAt, endedAt }: JobRow<RowJob>): string =>
  formatElapsed(startedAt === null ? 0 : (endedAt ?? headNow()) - startedAt);

const left = ({ job: { walltimeMs }, startedAt }: JobRow<RowJob>): string =>
  walltimeMs === null
    ? 'UNLIMITED'
    : formatElapsed(walltimeMs - (startedAt === null ? 0 : headNow() - startedAt));

const mebibytes = (bytes: number): number => Math.floor(bytes / 1_048_576);

/** `cpu=4,mem=2048M,node=2`, and gpus: what it holds, or would. */
export function tres(row: JobRow): string {
  const { cpuCount, memoryBytes, gpuCount } = heldBy(row);
  const gpus = gpuCount === 0 ? '' : `,gres/gpu=${gpuCount}`;
  const { nodeCount } = row.job.request;
  return `cpu=${cpuCount},mem=${mebibytes(memoryBytes)}M,node=${nodeCount}${gpus}`;
}

function end(row: JobRow<RowJob>): string {
  const at = endOf(row);
  return at === null && row.startedAt !== null ? 'NONE' : instant(at);
}

function fileOf(page: JobDetail, file: string | undefined, { index }: JobRow): string {
  return file === undefined
    ? '(null)'
    : path.resolve(page.directory ?? '/', outputName(page, file, index));
}

const account = ({ job }: JobRow<RowJob>) => accountOf(job.owner);
const priority = ({ job }: JobRow): number => priorityOf(job);
/** A part of the largest number that it can be. */
const priorityPart = (row: JobRow): string => (priority(row) / 4_294_967_295).toFixed(14);

const COLUMNS: readonly Column[] = [
  ...unset('(null)', 'a Account ACCOUNT'),
  // Tasks of an array have no numbers of their own.
  brief('A JobID JOBID', ({ job }) => job.id),
  column('b tres-per-node TRES_PER_NODE', ({ job: { request } }) =>
    request.perNode.gpuCount > 0 ? `gres:gpu:${request.perNode.gpuCount}` : 'N/A',
  ),
  brief('B BatchHost EXEC_HOST', ({ nodes }) => nodes[0] ?? 'n/a'),
  column('c MinCpus MIN_CPUS', ({ job }) => job.request.perNode.cpuCount),
  column('C NumCPUs CPUS', (row) => heldBy(row).cpuCount),
  ...unset('0', 'd MinTmpDisk MIN_TMP_DISK'),
  brief('D NumNodes NODES', ({ job }) => job.request.nodeCount),
  brief('e EndTime END_TIME', end),
  column('E Dependency DEPENDENCY', ({ job }) => openDependencies(job)),
  column(
    'f Feature FEATURES',
    ({ job }) => askedFeatures(job.request.labels).join('&') || '(null)',
  ),
  brief('F ArrayJobID ARRAY_JOB_ID', ({ job }) => job.id),
  brief('g GroupName GROUP', (row) => account(row)?.group ?? 'N/A'),
  brief('G GroupID GROUP', (row) => account(row)?.gid ?? 'N/A'),
  column('h OverSubscribe OVER_SUBSCRIBE', ({ job }) => (job.request.exclusive ? 'NO' : 'OK')),
  ...unset('*', 'H Sockets SOCKETS_PER_NODE'),
  brief('i JobArrayID JOBID', ({ id }) => id),
  ...unset('*', 'I Cores CORES_PER_SOCKET'),
  brief('j Name NAME', ({ job }) => job.name),
  ...unset('*', 'J Threads THREADS_PER_CORE'),
  ofPage('k Comment COMMENT', ({ comment }) => comment ?? '(null)'),
  brief(
    'K ArrayTaskID ARRAY_TASK_ID',
    ({ index, id }) => index ?? /\[(.*)\]/.exec(id)?.[1] ?? 'N/A',
  ),
  brief('l TimeLimit TIME_LIMIT', ({ job: { walltimeMs } }) =>
    walltimeMs === null ? 'UNLIMITED' : formatElapsed(walltimeMs),
  ),
  brief('L TimeLeft TIME_LEFT', left),
  column('m MinMemory MIN_MEMORY', ({ job }) => `${mebibytes(job.request.perNode.memoryBytes)}M`),
  brief('M TimeUsed TIME', used),
  column('n ReqNodes REQ_NODES', ({ job }) => compressHosts(job.request.nodeNames)),
  brief('N NodeList NODELIST', ({ nodes, where }) => (nodes.length === 0 ? '' : where)),
  column('o Command COMMAND', ({ job }) => commandLine(job.command)),
  ...unset('0', 'O Contiguous CONTIGUOUS'),
  column('p Priority PRIORITY', priorityPart),
  brief('P Partition PARTITION', ({ job }) => job.partition),
  column('q QOS QOS', ({ job }) => job.qos ?? 'normal'),
  column('Q PriorityLong PRIORITY', priority),
  brief('r Reason REASON', reasonOf),
  brief('R ReasonList NODELIST(REASON)', ({ where }) => where),
  brief('S StartTime START_TIME', ({ startedAt }) => instant(startedAt)),
  brief('t StateCompact ST', ({ state }) => state.short),
  brief('T State STATE', ({ state }) => state.long),
  brief('u UserName USER', ({ job }) => job.owner),
  brief('U UserID UID', (row) => account(row)?.uid ?? row.job.owner),
  // Nobody is told by the head in which one a job is.
  ...unset('N/A', 'v Reservation RESERVATION'),
  column('V SubmitTime SUBMIT_TIME', ({ job }) => instant(job.submittedAt)),
  ...unset('(null)', 'w WCKey WCKEY'),
  column('W Licenses LICENSES', ({ job }) => licensesOf(job.request)),
  ...unset('', 'x ExcNodes EXC_NODES'),
  ...unset('N/A', 'X CoreSpec CORE_SPEC'),
  ofPage('y Nice NICE', ({ nice }) => nice),
  ...unset('(null)', 'Y SchedNodes SCHEDNODES'),
  ...unset('*:*:*', 'z SCT S:C:T'),
  column('Z WorkDir WORK_DIR', ({ job }) => job.directory ?? ''),
  column('- tres-alloc TRES_ALLOC', tres),
  column('- PendingTime PENDING_TIME', ({ job, startedAt }) =>
    Math.floor(((startedAt ?? headNow()) - job.submittedAt) / 1000),
  ),
  column('- MaxNodes MAX_NODES', ({ job }) => job.request.nodeCount),
  column('- exit_code EXIT_CODE', ({ exit }) => (exit.signal > 0 ? exit.signal : exit.code)),
  ofPage(
    '- NumTasks TASKS',
    ({ ranks, ranksPerNode, request }) =>
      ranks ?? request.nodeCount * (ranksPerNode ?? request.processesPerNode),
  ),
  ofPage('- EligibleTime ELIGIBLE_TIME', ({ beginAt, submittedAt }, { job, state }) =>
    state.short === 'PD' && openDependencies(job) !== '(null)'
      ? 'N/A'
      : instant(beginAt ?? submittedAt),
  ),
  ofPage('- cpus-per-task CPUS_PER_TASK', ({ ranksPerNode, request }) => {
    const ranks = ranksPerNode ?? request.processesPerNode;
    return Math.max(1, Math.floor(request.perNode.cpuCount / ranks));
  }),
  column(
    '- MaxCPUs MAX_CPUS',
    ({ job: { request } }) => request.perNode.cpuCount * request.nodeCount,
  ),
  ...unset('0:00', '- MinTime TIME_MIN', '- DelayBoot DELAY_BOOT'),
  ...unset('0', '- NTPerBoard NTASKS_PER_BOARD', '- BoardsPerNode BOARDS_PER_NODE'),
  ...unset('0', '- SPerBoard SOCKETS_PER_BOARD', '- AssocID ASSOC_ID'),
  ...unset('NA', '- Origin ORIGIN', '- OriginRaw ORIGIN_RAW', '- SiblingsActive ACTIVE_SIBLINGS'),
  ...unset('NotSet', '- Profile PROFILE'),
  ofPage('- Requeue REQUEUE', ({ requeue }) => (requeue ? 1 : 0)),
  ofPage('- STDOUT STDOUT', (page, row) => fileOf(page, page.files.stdout, row)),
  ofPage('- STDERR STDERR', (page, row) =>
    fileOf(page, page.files.stderr ?? page.files.stdout, row),
  ),
  ofPage('- STDIN STDIN', (page, row) => {
    const file = stdinFile(page.files);
    return file === null ? '/dev/null' : fileOf(page, file, row);
  }),
  ...unset('1', '- BatchFlag BATCH_FLAG'),
  ...unset('0', '- Reboot REBOOT', '- ReqSwitch REQ_SWITCH', '- Wait4Switch WAIT4SWITCH'),
  ...unset('(null)', '- Network NETWORK', '- MCSLabel MCSLABEL', '- Container CONTAINER'),
  ...unset('(null)', '- admin_comment ADMIN_COMMENT', '- system_comment SYSTEM_COMMENT'),
  ...unset('(null)', '- Prefer PREFER', '- ClusterFeature CLUSTER_FEATURES'),
  ...unset('(null)', '- BurstBuffer BURST_BUFFER', '- BurstBufferState BURST_BUFFER_STATE'),
  ...unset('N/A', '- Deadline DEADLINE', '- PreemptTime PREEMPT_TIME', '- ResizeTime RESIZE_TIME'),
  ...unset('N/A', '- HetJobID HET_JOB_ID', '- HetJobOffset HET_JOB_OFFSET'),
  ...unset('N/A', '- HetJobIDSet HET_JOB_ID_SET', '- cpus-per-tres CPUS_PER_TRES'),
  ...unset('N/A', '- mem-per-tres MEM_PER_TRES', '- tres-bind TRES_BIND', '- tres-freq TRES_FREQ'),
  ...unset('N/A', '- tres-per-job TRES_PER_JOB', '- tres-per-socket TRES_PER_SOCKET'),
  ...unset('N/A', '- tres-per-task TRES_PER_TASK', '- NTPerCore NTASKS_PER_CORE'),
  ...unset('N/A', '- NTPerSocket NTASKS_PER_SOCKET'),
];

export const LETTERS: Readonly<Record<string, Column>> = Object.fromEntries(
  COLUMNS.flatMap((one) => (one.letter === null ? [] : [[one.letter, one]])),
);

export const NAMES: Readonly<Record<string, Column & { readonly width: number }>> =
  Object.fromEntries(COLUMNS.flatMap((one) => [[one.name, { ...one, width: 20 }]]));

/** Whether some column is of the jobs' own pages, each of which is a request. */
export const needsPage = (pieces: readonly object[]): boolean =>
  pieces.some((piece) => 'isOfPage' in piece);

export const isBrief = (
  pieces: readonly Piece<QueueRow>[],
): pieces is readonly Piece<JobRow<RowJob>>[] =>
  pieces.every((piece) => piece.kind === 'text' || 'isBrief' in piece);
