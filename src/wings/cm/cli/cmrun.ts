// `cmrun`: submits a command with the seed's flags, units and words.

import { programOf } from '../../../kernel/cli/commands/run.ts';
import { sendSubmission, submitterHere } from '../../../kernel/cli/jobs/send.ts';
import { tellSubmitted } from '../../../kernel/cli/jobs/submitted-notes.ts';
import { jobEnvironment } from '../../../kernel/cli/submit/environment.ts';
import { refuseForeignBytes } from '../../../kernel/cli/submit/plain-text.ts';
import { defineVerb } from '../../../kernel/cli/verb.ts';
import type { Config } from '../../../kernel/config/config.ts';
import { NAME_LENGTH_MAX } from '../../../kernel/model/limits.ts';
import type { Submission } from '../../../kernel/model/submission.ts';
import { MEGABYTE, seedHours, seedNumber } from './numbers.ts';

interface Options {
  readonly alias?: string;
  readonly nodes?: string;
  readonly processes?: string;
  readonly numCpusPerNode?: string;
  readonly memPerNode?: string;
  readonly timeLimit?: string;
}

/** The seed's `cmlogs/<node>/<job>/<process>.out.txt` in the working directory. */
const CMLOGS = { stdout: 'cmlogs/%N/%j/%p.out.txt', stderr: 'cmlogs/%N/%j/%p.err.txt' };

/** What the seed's users count on where neither they nor the cluster set a default. */
const SEED_MEMORY_BYTES = 100 * MEGABYTE;

export const summary = 'Run a command on the cluster.';

export const verb = defineVerb<Options>({
  define(command) {
    command.usage('[options] [--] <command> [arguments...]');
    command.argument('<command...>', 'a program with its arguments, or one quoted shell line');
    command.option('-a, --alias <name>', "name of the job (default: the command's first word)");
    command.option('-n, --nodes <count>', 'nodes (default: default_n_nodes, 1)');
    command.option('-p, --processes <count>', 'processes per node (default: default_n_procs, 1)');
    command.option('--num-cpus-per-node <count>', 'cpus (default: default_n_cpus_per_node, 1)');
    command.option('--mem-per-node <megabytes>', 'memory (default: default_mem_per_node, 100)');
    command.option(
      '-t, --time-limit <hours>',
      'whole hours; below 1 no limit (default: default_time_limit, 0)',
    );
    command.passThroughOptions();
  },
  async run({ context, args, options }) {
    const { directory: here, umask, ...submitter } = submitterHere(context);
    const program = programOf(args);
    const environment = jobEnvironment({}, submitter.environment);
    const directory = { kind: 'auto', path: here } as const;
    refuseForeignBytes({ program, environment, directory }, options);
    const wishes: Submission = {
      // Wrong, it would start another job than its user has configured.
      ...callersDefaults(await context.config()),
      program,
      name: nameOf(args, options),
      environment,
      directory,
      files: CMLOGS,
      memoryOtherwiseBytes: SEED_MEMORY_BYTES,
      umask,
      ...numbersOf(options),
    };
    const reply = await sendSubmission(context, wishes);
    context.print(`Job ${reply.jobId} started, pending resource allocation.`);
    tellSubmitted(context, { submission: wishes, reply, follow: false, stays: false });
    return 0;
  },
});

/** The first word as it was typed, path and all. */
function nameOf([first = '']: readonly string[], { alias }: Options): string | undefined {
  if (alias !== undefined) return alias;
  const word = first.trim().split(/\s+/)[0] ?? '';
  const shown = word.replace(/\p{C}/gu, '').slice(0, NAME_LENGTH_MAX);
  return shown === '' ? undefined : shown;
}

/** What the flags say, and no entry for what they do not. */
function numbersOf(options: Options): Partial<Submission> {
  const memory = seedNumber('--mem-per-node', options.memPerNode);
  const all: Partial<Submission> = {
    nodeCount: seedNumber('--nodes', options.nodes, 1),
    processesPerNode: seedNumber('--processes', options.processes, 1),
    cpuCount: seedNumber('--num-cpus-per-node', options.numCpusPerNode),
    memoryBytes: memory === undefined ? undefined : memory * MEGABYTE,
    walltimeMs: seedHours(options.timeLimit),
  };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
}

// What a job of `cmrun` asks for where no flag says: what the caller's configuration sets, as in
// the seed. What it does not set is the cluster's to fill in.

/** The keys that the seed's `default_…` are now, and what each is in a submission. */
const FIELDS: ReadonlyMap<string, keyof Submission> = new Map([
  ['defaults.nodes', 'nodeCount'],
  ['defaults.procs', 'processesPerNode'],
  ['defaults.cpus', 'cpuCount'],
  ['defaults.memory', 'memoryBytes'],
  ['defaults.time', 'walltimeMs'],
]);

/** No entry for what is nowhere set. */
function callersDefaults(config: Config): Partial<Submission> {
  const fields = config.all().flatMap(({ key, value, source }) => {
    const field = FIELDS.get(key.name);
    return field === undefined || source === 'default' ? [] : [[field, value] as const];
  });
  return Object.fromEntries(fields);
}
