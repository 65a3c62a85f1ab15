// What condor_submit reads: lines of `name = value`, in which `$(…)` is expanded.

import { ok, type Result } from '../../../../kernel/base/result.ts';
import type { SiteOutput, SiteProblem, SiteQuery, SiteSubmission } from '../adaptor.ts';
import { unreadable } from '../read.ts';
import { failure } from './failure.ts';

const MIB = 1_048_576;

/** @param schedd null: the local one */
export function submit(job: SiteSubmission, schedd: string | null): SiteQuery<string> {
  const at = job.queue ?? schedd;
  const argv = [
    ...['condor_submit', '-terse', '-batch-name', job.name],
    ...(at === null ? [] : ['-name', at]),
    ...job.options,
    '-',
  ];
  return { command: { argv, input: descriptionOf(job) }, read: readSubmitted };
}

function descriptionOf(job: SiteSubmission): string {
  const { account, walltimeMs, memoryBytes, nodeCount } = job;
  const seconds = walltimeMs === null ? null : Math.ceil(walltimeMs / 1000);
  // What was begun once is not begun again: a second start of its script would end at once, with
  // code 0. The gateway says when a job is run again.
  const isSpent = 'JobStatus == 1 && NumShadowStarts =!= undefined && NumShadowStarts > 0';
  const isOver =
    seconds === null ? '' : ` || (JobStatus == 2 && time() - JobCurrentStartDate > ${seconds})`;
  const lines = [
    ...(nodeCount > 1
      ? ['universe = parallel', `machine_count = ${nodeCount}`]
      : ['universe = vanilla']),
    ...['executable = /bin/sh', 'transfer_executable = false', 'should_transfer_files = NO'],
    `arguments = "${argument(job.scriptFile)}"`,
    ...[`initialdir = ${value(job.directory)}`, `output = ${value(job.stdout)}`],
    ...[`error = ${value(job.stderr)}`, `request_cpus = ${job.cpuCount}`],
    ...(memoryBytes === null ? [] : [`request_memory = ${Math.ceil(memoryBytes / MIB)}`]),
    'requirements = MY.NumShadowStarts =?= undefined || MY.NumShadowStarts == 0',
    `periodic_remove = (${isSpent})${isOver}`,
    ...(account === null ? [] : [`accounting_group = ${value(account)}`]),
    ...['notification = never', 'queue 1', ''],
  ];
  return lines.join('\n');
}

function value(text: string): string {
  return text.replace(/\p{Cc}/gu, ' ').replaceAll('$', '$(DOLLAR)');
}

/** One word within double quotes: single ones keep its blanks, and each kind is written twice. */
function argument(text: string): string {
  return `'${value(text).replaceAll("'", "''").replaceAll('"', '""')}'`;
}

/** `31.0 - 31.0`, of several processes `32.0 - 32.4`. */
function readSubmitted(output: SiteOutput): Result<string, SiteProblem> {
  if (output.code !== 0) return failure('condor_submit', output);
  const [, cluster, first, , last] = /^(\d+)\.(\d+) - (\d+)\.(\d+)\s*$/m.exec(output.stdout) ?? [];
  if (cluster === undefined) return unreadable('condor_submit', 'its answer has no job id');
  return ok(first === last ? `${cluster}.${first}` : cluster);
}
