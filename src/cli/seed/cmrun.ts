// `cmrun`: submits a command with the seed's flags, units and words.

import { basename } from 'node:path';
import type { Submission } from '../../core/model/submission.ts';
import { programOf } from '../commands/run.ts';
import { sendSubmission, submitterHere } from '../jobs/send.ts';
import { jobEnvironment } from '../submit/environment.ts';
import { defineVerb } from '../verb.ts';
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
      'hours; below 1 none (default: default_time_limit, 0)',
    );
    command.passThroughOptions();
  },
  async run({ context, args, options }) {
    const { environment, directory, umask } = submitterHere(context);
    const memory = seedNumber('--mem-per-node', options.memPerNode);
    const [first = ''] = args;
    const wishes: Submission = {
      program: programOf(args),
      name: options.alias ?? basename(first.trim().split(/\s+/)[0] ?? ''),
      environment: jobEnvironment({}, environment),
      directory: { kind: 'auto', path: directory },
      files: CMLOGS,
      nodeCount: seedNumber('--nodes', options.nodes, 1),
      processesPerNode: seedNumber('--processes', options.processes, 1),
      cpuCount: seedNumber('--num-cpus-per-node', options.numCpusPerNode),
      memoryBytes: memory === undefined ? undefined : memory * MEGABYTE,
      walltimeMs: seedHours(options.timeLimit),
      umask,
    };
    const { jobId } = await sendSubmission(context, wishes);
    context.print(`Job ${jobId} started, pending resource allocation.`);
    return 0;
  },
});
