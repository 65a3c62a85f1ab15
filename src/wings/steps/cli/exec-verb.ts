// `weft exec`: a program inside of a running task, in the place of this command.

import { defineVerb } from '../../../kernel/cli/verb.ts';
import { usage } from '../../../kernel/model/failure.ts';
import { PROCESSES_MAX } from '../core/limits.ts';
import { defineLinger, readLinger } from './linger.ts';
import { asPmix } from './pmix-step.ts';
import { runStep } from './run-step.ts';
import { readTarget } from './target.ts';

interface Options {
  readonly n?: string;
  readonly perNode?: boolean;
  readonly pty?: boolean;
  readonly pmi?: boolean;
  readonly pmix?: boolean;
  readonly bind?: string;
  readonly label?: boolean;
  readonly linger?: string;
  readonly chdir?: string;
  readonly env?: readonly string[];
}

const EXAMPLES = `
Examples:
  weft exec 42 -- nvidia-smi              on its node, with the cpus, memory and gpus of the task
  weft exec 42 --per-node -l -- uptime    on each of its nodes; each line says whose it is
  weft exec 42[7]/n2 --pty -- bash        on one node, with a terminal; ~. leaves
  weft exec -n 4 -- ./rank                inside of a job: its own task
  weft exec 42 -n 8 --pmi -- ./a.out      eight ranks of an MPI program of MPICH on its nodes
  weft exec 42 -n 8 --pmix -- ./a.out     the same of Open MPI`;

export const verb = defineVerb<Options>({
  define(command) {
    command.usage('[options] [<job>[/<node>]] [options] -- <command> [arguments...]');
    command.argument('[words...]', 'the job or task, perhaps with a node, and a command');
    command.option('-n <count>', 'number of processes');
    command.option('--per-node', 'one on each node of the task, or as many as -n says');
    command.option('--pty', 'give it a terminal');
    command.option('--pmi', 'they are processes of one MPI program, built with MPICH');
    command.option('--pmix', 'they are ranks of one MPI program, built with Open MPI');
    command.option(
      '--bind <to>',
      'core: each process has cpus of its own; numa; none (the default)',
    );
    command.option('-l, --label', 'say before each line which process it is of');
    defineLinger(command);
    command.option('--chdir <dir>', 'run there in place of where the task runs');
    command.option('--env <name=value...>', 'set a variable over those of the task');
    command.addHelpText('after', EXAMPLES);
  },
  async run({ context, args, options }) {
    const { target, rest } = readTarget(context, args);
    if (rest.length === 0) {
      throw usage('there is no command to run', `Write: weft exec ${target.task} -- COMMAND`);
    }
    const { n = '1', perNode = false, pty = false, pmi = false, label = false, chdir } = options;
    if (!/^[1-9]\d{0,2}$/.test(n) || Number(n) > PROCESSES_MAX)
      throw usage(`-n: '${n}' is not a count from 1 to ${PROCESSES_MAX}`);
    if (pmi && pty) throw usage('--pmi: processes of MPI have no terminal; leave out --pty');
    const { pmix = false } = options;
    if (pmix && (pmi || pty))
      throw usage(`--pmix: it goes with no ${pmi ? '--pmi: say the one of its MPI' : '--pty'}`);
    const bind = readBind(options.bind ?? 'none');
    const term = context.environment['TERM'];
    const own = pty && term !== undefined ? { TERM: term } : {};
    const environment = Object.assign(own, readEnvironment(options.env ?? []));
    const wish = {
      target,
      argv: rest,
      count: Number(n),
      perNode,
      directory: chdir,
      environment,
      label,
      terminal: pty,
      pmi,
      bind,
      lingerMs: readLinger(options.linger),
    };
    return runStep(context, pmix ? await asPmix(await context.api(), wish) : wish);
  },
});

function readBind(text: string): 'none' | 'core' | 'numa' {
  if (text === 'none' || text === 'core' || text === 'numa') return text;
  throw usage(`--bind: '${text}' is not core, numa or none`);
}

function readEnvironment(entries: readonly string[]): Record<string, string> {
  const values: Record<string, string> = {};
  for (const entry of entries) {
    const at = entry.indexOf('=');
    if (at < 1) throw usage(`--env: '${entry}' is not NAME=VALUE`);
    values[entry.slice(0, at)] = entry.slice(at + 1);
  }
  return values;
}
