// Runs a workload and writes what came of it: figures, the jobs as CSV, a picture.

import type { Context } from '../../../kernel/cli/context.ts';
import { formatSpan } from '../../../kernel/cli/output/words.ts';
import { writeWhole } from '../../../kernel/cli/output/write-whole.ts';
import { usage } from '../../../kernel/model/failure.ts';
import { type Policy, plainScheduling } from '../../../kernel/model/scheduling.ts';
import type { NodeSize, Workload } from '../core/machine.ts';
import { type Measures, measure } from '../core/measures.ts';
import { type Run, replay } from '../core/replay.ts';
import { seriesOf } from '../core/series.ts';
import { type ReplayOptions, readDepth, readPolicy } from './options.ts';
import { plotSvg, SLICES } from './plot-svg.ts';

/** What is to be replayed. */
export interface Subject extends Workload {
  /** For titles. */
  readonly name: string;
  readonly nodes: readonly NodeSize[];
  readonly brokenLines: number;
  /** What the jobs asked for besides and is not replayed; empty = nothing is known of it. */
  readonly unheeded: readonly string[];
}

/** The object of `-o json`. */
export interface ReplayReport extends Measures {
  readonly jobs: number;
  /** Left out: incomplete or too large. */
  readonly dropped: number;
  readonly brokenLines: number;
  readonly guessedLimits: number;
  /** What of the jobs was not taken into account. */
  readonly unheeded: readonly string[];
  readonly planCycles: number;
  readonly planCpuMs: number;
  readonly policy: Policy;
  readonly procs: number;
}

/** Returns the exit code. */
export function conclude(context: Context, subject: Subject, options: ReplayOptions): number {
  const { output } = options;
  if (output !== undefined && output !== 'json') {
    throw usage(`--output: '${output}' is not a format here; write json, or leave it out`);
  }
  const policy = readPolicy(options.policy);
  const scheduling = { ...plainScheduling(policy), depthMax: readDepth(options.depth) };
  const { runs, planCycles, planCpuMs } = replay(subject.jobs, subject.nodes, {
    scheduling,
    cpuMs,
  });
  const procs = subject.nodes.reduce((sum, node) => sum + node.cpuCount, 0);
  const report: ReplayReport = {
    jobs: runs.length,
    dropped: subject.dropped.incomplete + subject.dropped.tooLarge,
    brokenLines: subject.brokenLines,
    guessedLimits: subject.guessedLimits,
    unheeded: subject.unheeded,
    ...measure(runs, procs),
    planCycles,
    planCpuMs: Math.round(planCpuMs),
    policy,
    procs,
  };
  if (options.jobsOut !== undefined) {
    const csv = { flag: '--jobs-out', file: options.jobsOut };
    writeWhole(context.cwd, csv, jobsCsv(runs));
  }
  if (options.plot !== undefined) {
    const title = `${subject.name}: ${runs.length} jobs on ${procs} processors by ${policy}`;
    const svg = { flag: '--plot', file: options.plot };
    writeWhole(context.cwd, svg, plotSvg(seriesOf(runs, procs, SLICES), title));
  }
  if (output === 'json') context.print(JSON.stringify(report, null, 2));
  else for (const line of inWords(report, subject)) context.print(line);
  return 0;
}

/** One line per job, in the order of arrival; times in seconds on the clock of the trace. */
export function jobsCsv(runs: readonly Run[]): string {
  const rows = runs.map(({ job, startedAt, endedAt }) =>
    [job.id, job.submittedAt / 1000, startedAt / 1000, endedAt / 1000, job.processors].join(','),
  );
  return ['job_id,submit_s,start_s,end_s,procs', ...rows, ''].join('\n');
}

function inWords(
  report: ReplayReport,
  { name, dropped, brokenLines, unheeded }: Subject,
): string[] {
  const { jobs, procs, policy, guessedLimits } = report;
  const leftOut = [
    dropped.incomplete > 0 ? `${dropped.incomplete} without size or run time` : '',
    dropped.tooLarge > 0 ? `${dropped.tooLarge} too large for the machine` : '',
    brokenLines > 0 ? `${brokenLines} broken lines` : '',
  ].filter((words) => words !== '');
  const span = (seconds: number): string => formatSpan(seconds * 1000);
  return [
    `${name}: ${jobs} jobs on ${procs} processors by ${policy}`,
    ...(leftOut.length === 0 ? [] : [`Left out: ${leftOut.join(', ')}.`]),
    ...(guessedLimits === 0 ? [] : [`Time limit not known, run time instead: ${guessedLimits}.`]),
    ...(unheeded.length === 0 ? [] : [`Not taken into account: ${unheeded.join(', ')}.`]),
    '',
    `mean wait              ${span(report.meanWaitS)}`,
    `wait of 95 % at most   ${span(report.p95WaitS)}`,
    `mean bounded slowdown  ${report.meanBoundedSlowdown.toFixed(1)}`,
    `utilisation            ${(report.utilisation * 100).toFixed(1)} %`,
    `makespan               ${span(report.makespanS)}`,
    `planning               ${report.planCycles} cycles, ${formatSpan(report.planCpuMs)} of cpu time`,
  ];
}

function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}
