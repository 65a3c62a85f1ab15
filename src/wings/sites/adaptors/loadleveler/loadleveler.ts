// IBM LoadLeveler 3 to 5, by its own commands. Its forms are read from its manuals and from what
// others say that they got, never from a real one: docs/sites/loadleveler.md.

import { ok, type Result } from '../../../../kernel/base/result.ts';
import { quoteWord } from '../../../../kernel/base/shell-word.ts';
import type {
  Adaptor,
  NodeSwitch,
  SiteCommand,
  SiteOutput,
  SiteProblem,
  SiteQuery,
  SiteSubmission,
} from '../adaptor.ts';
import { namedIn, unreadable } from '../read.ts';
import { failure } from './failure.ts';
import { JOBS_COMMAND, readJobs } from './jobs.ts';
import { NODES_COMMAND, QUEUES_COMMAND, readNodes, readQueues } from './machines.ts';
import { stepsIn } from './steps.ts';

const MIB = 1_048_576;
const JOBS = { command: JOBS_COMMAND, read: readJobs };

export function loadleveler(): Adaptor {
  return {
    system: 'loadleveler',
    variables: ['LOADL*'],
    jobs: JOBS,
    nodes: { command: NODES_COMMAND, read: readNodes },
    queues: { command: QUEUES_COMMAND, read: readQueues },
    submit,
    named: (name) => namedIn(JOBS, name),
    cancel: (job) => ({ command: { argv: ['llcancel', job] }, read: readCancelled }),
    // A step that has ended is listed for a while, with its code; its history is not read.
    end: null,
    known,
    // Each step is a job of its own.
    element: (array, index) => `${array}.${index}`,
    setNode,
    steering: null,
  };
}

function submit(job: SiteSubmission): SiteQuery<string> {
  return {
    command: { argv: ['llsubmit', ...job.options, '-'], input: commandFile(job) },
    read: readSubmitted,
  };
}

/** Lines of `# @ name = value`: the script is a file, since all of what is submitted is searched for them. */
function commandFile(job: SiteSubmission): string {
  const { queue, account, walltimeMs, memoryBytes, nodeCount } = job;
  const memory =
    memoryBytes === null ? '' : ` ConsumableMemory(${Math.ceil(memoryBytes / MIB)} mb)`;
  const values: [string, string][] = [
    ['job_name', job.name],
    ['executable', '/bin/sh'],
    ['arguments', quoteWord(job.scriptFile)],
    ['initialdir', job.directory],
    ['output', job.stdout],
    ['error', job.stderr],
    ['restart', 'no'],
    ['notification', 'never'],
    ['resources', `ConsumableCpus(${job.cpuCount})${memory}`],
  ];
  if (nodeCount > 1) {
    values.push(['job_type', 'parallel'], ['node', String(nodeCount)], ['tasks_per_node', '1']);
  }
  if (walltimeMs !== null) values.push(['wall_clock_limit', String(Math.ceil(walltimeMs / 1000))]);
  if (queue !== null) values.push(['class', queue]);
  if (account !== null) values.push(['account_no', account]);
  const lines = values.map(([name, value]) => `# @ ${name} = ${value.replace(/\p{Cc}/gu, ' ')}`);
  return `${lines.join('\n')}\n# @ queue\n`;
}

/** A job of one step: its step is what is listed. `… The job "head.31" with 2 job steps has been …` */
function readSubmitted(output: SiteOutput): Result<string, SiteProblem> {
  if (output.code !== 0) return failure('llsubmit', output);
  const [, id, steps] =
    /^llsubmit: The job "(\S+)"(?: with (\d+) job steps)? has been submitted\.\s*$/m.exec(
      output.stdout,
    ) ?? [];
  if (id === undefined) return unreadable('llsubmit', 'its answer has no job');
  return ok(steps === undefined ? `${id}.0` : id);
}

/** Asked for one, it lists that, or says that there is nothing to report. */
function known(job: string): SiteQuery<boolean> {
  return {
    command: { argv: ['llq', '-l', job] },
    read(output) {
      const steps = stepsIn(output);
      return steps.ok ? ok(steps.value.length > 0) : steps;
    },
  };
}

/** It says that the wish was sent on, whether or not there is such a job. */
function readCancelled(output: SiteOutput): Result<null, SiteProblem> {
  return output.code === 0 ? ok(null) : failure('llcancel', output);
}

function setNode({ kind, node }: NodeSwitch): readonly SiteCommand[] {
  const verb = kind === 'stop' ? 'drain' : 'resume';
  return [{ argv: ['llctl', '-h', node, verb, 'startd'] }];
}
