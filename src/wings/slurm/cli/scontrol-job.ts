// A job as `scontrol show job` writes it.

import path from 'node:path';
import { headNow } from '../../../kernel/api/head-time.ts';
import type { JobDetail } from '../../../kernel/api/jobs.ts';
import { stdinFile } from '../../../kernel/model/job.ts';
import { outputName } from '../../steps/cli/output-name.ts';
import { compressHosts } from '../core/hostlist.ts';
import { SCRIPT } from '../core/mark.ts';
import { endedAs } from '../core/states.ts';
import { formatLong } from '../core/times.ts';
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
  reasonOf,
} from './job-rows.ts';
import { tres } from './queue-fields.ts';
import { groupWords, userWords } from './scontrol-records.ts';

export function jobWords(job: JobDetail, row: JobRow): string {
  const { request, walltimeMs } = job;
  const { code, signal } = endedAs(row.isOver ? row.kind : null, row.exit).job;
  const { startedAt, starts = 0 } = row;
  const ranMs = startedAt === null ? 0 : (row.endedAt ?? headNow()) - startedAt;
  const memory = `${Math.floor(request.perNode.memoryBytes / 1_048_576)}M`;
  const ranks = job.ranksPerNode ?? request.processesPerNode;
  const nodes = compressHosts(row.nodes);
  const end = endOf(row);
  const [, indices] = /_\[?([^\]]+)\]?$/.exec(row.id) ?? [];
  const array = indices === undefined ? '' : ` ArrayJobId=${job.id} ArrayTaskId=${indices}`;
  const lines = [
    `JobId=${job.id}${array} JobName=${job.name}`,
    `UserId=${userWords(job.owner)} GroupId=${groupWords(job.owner)} MCS_label=N/A`,
    `Priority=${priorityOf(job)} Nice=${job.nice} Account=(null) QOS=${job.qos}`,
    `JobState=${row.state.long} Reason=${reasonOf(row)} Dependency=${openDependencies(job)}`,
    `Requeue=${job.requeue ? 1 : 0} Restarts=${Math.max(0, starts - 1)} BatchFlag=1 Reboot=0 ExitCode=${code}:${signal}`,
    `RunTime=${formatLong(ranMs)} TimeLimit=${walltimeMs === null ? 'UNLIMITED' : formatLong(walltimeMs)} TimeMin=N/A`,
    `SubmitTime=${instant(job.submittedAt)} EligibleTime=${eligibleOf(job)}`,
    `StartTime=${startWords(job, row)} EndTime=${end === null ? 'Unknown' : instant(end)} Deadline=N/A`,
    `Partition=${job.partition}`,
    `ReqNodeList=${request.nodeNames.length === 0 ? '(null)' : compressHosts(request.nodeNames)} ExcNodeList=(null)`,
    `NodeList=${nodes || '(null)'}${row.nodes[0] === undefined ? '' : `\n   BatchHost=${row.nodes[0]}`}`,
    `NumNodes=${request.nodeCount} NumCPUs=${heldBy(row).cpuCount} NumTasks=${job.ranks ?? request.nodeCount * ranks} CPUs/Task=${Math.max(1, Math.floor(request.perNode.cpuCount / ranks))}`,
    `TRES=${tres(row)}`,
    `MinCPUsNode=${request.perNode.cpuCount} MinMemoryNode=${memory} MinTmpDiskNode=0`,
    `Features=${askedFeatures(request.labels).join('&') || '(null)'}`,
    `OverSubscribe=${request.exclusive ? 'NO' : 'OK'} Contiguous=0 Licenses=${licensesOf(request)} Network=(null)`,
    ...(job.comment == null ? [] : [`Comment=${job.comment}`]),
    `Command=${commandOf(job)}`,
    `WorkDir=${job.directory ?? '(null)'}`,
    `StdErr=${fileOf(job, job.files.stderr, row)}`,
    `StdIn=${stdinFile(job.files) ?? '/dev/null'}`,
    `StdOut=${fileOf(job, job.files.stdout, row)}`,
  ];
  return lines.join('\n   ');
}

/** When it may start; nobody knows of what waits for another. */
function eligibleOf(job: JobDetail): string {
  const isOpen = job.state === 'pending' && openDependencies(job) !== '(null)';
  return isOpen ? 'Unknown' : instant(job.beginAt ?? job.submittedAt);
}

/** A job that is not to begin yet begins then, as far as anybody knows. */
function startWords({ beginAt }: JobDetail, { startedAt, isOver }: JobRow): string {
  if (startedAt !== null) return instant(startedAt);
  return !isOver && beginAt !== null && beginAt > headNow() ? instant(beginAt) : 'Unknown';
}

/** The path of a script that came by sbatch, with its words; one from elsewhere has none. */
function commandOf({ command, environment, program, scriptPath }: JobDetail): string {
  const script = scriptPath ?? environment?.[SCRIPT];
  if (script === undefined) return commandLine(command);
  if (script === '') return '(null)';
  const { args } = program as { readonly args?: readonly string[] };
  return [script, ...(args ?? [])].join(' ');
}

function fileOf(job: JobDetail, file: string | undefined, { index }: JobRow): string {
  return file === undefined
    ? '(null)'
    : path.resolve(job.directory ?? '/', outputName(job, file, index));
}
