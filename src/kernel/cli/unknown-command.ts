// A word that is no command: what was probably meant. Somebody who guesses must not be led to what
// ends work, so such commands are never proposed for a slip of the finger.

import type { Command } from 'commander';
import { nearest } from '../base/nearest-word.ts';
import { usage } from '../model/failure.ts';
import type { OptionRow } from '../model/options/row.ts';
import { flagOf, ROWS } from '../model/options/table.ts';
import type { Meaning } from './verb.ts';

/** What other systems, and people, call our commands. */
const MEANT: Readonly<Record<string, string>> = {
  queue: 'jobs',
  squeue: 'jobs',
  qstat: 'jobs',
  bjobs: 'jobs',
  condor_q: 'jobs',
  ps: 'jobs',
  ls: 'jobs',
  list: 'jobs',
  status: 'jobs',
  stat: 'jobs',
  show: 'job',
  scontrol: 'job',
  srun: 'run',
  exec: 'run',
  start: 'run',
  sbatch: 'submit',
  qsub: 'submit',
  bsub: 'submit',
  batch: 'submit',
  scancel: 'cancel',
  qdel: 'cancel',
  bkill: 'cancel',
  condor_rm: 'cancel',
  delete: 'cancel',
  rm: 'cancel',
  log: 'logs',
  output: 'logs',
  cat: 'logs',
  tail: 'logs -f',
  sinfo: 'info',
  qhost: 'node list',
  pbsnodes: 'node list',
  nodes: 'node list',
  sacct: 'history',
  qacct: 'history',
  bhist: 'history',
  explain: 'why',
  continue: 'resume',
  unhold: 'release',
  partitions: 'partition list',
  users: 'user list',
};

/** The same within groups. */
const MEANT_WITHIN: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'weft node': { resume: 'undrain', enable: 'undrain', disable: 'drain', set: 'modify' },
  'weft batch': {
    kill: 'cancel',
    stop: 'cancel',
    delete: 'remove',
    rm: 'remove',
    status: 'show',
    jobs: 'show',
    ls: 'list',
    result: 'pull',
    results: 'pull',
  },
};

/** Words with two meanings: none is proposed, both are said. */
const SEVERAL: Readonly<Record<string, string>> = {
  stop: '`weft cancel JOB` cancels a job, `weft down` stops the cluster on this machine.',
};

/** What people mean who guess at commands of `weft`. */
export const meantOfWeft: Meaning = (word) =>
  Object.hasOwn(MEANT, word) ? `weft ${MEANT[word]}` : null;

/** Words for ending a cluster: the command that is near in letters shows one. */
const UNLIKE = new Set(['stop']);

/** Commands that end or remove something: proposed only to users who ask for that. */
const DESTRUCTIVE = new Set([
  ...['kill', 'requeue', 'suspend', 'pause', 'down', 'lost', 'remove', 'revoke', 'cancel', 'reset'],
]);

/** Options that remove something, end what runs, or answer a question that was to be asked. */
const DESTRUCTIVE_OPTIONS = new Set([
  ...['--clean', '--now', '--yes', '--force', '--remove', '--restarts', '--fix'],
  ...['--accept-loss', '--new-identity', '--again'],
]);

/** An unknown option is told with ours for what it says elsewhere, or one near in letters. */
export function tellOptions(command: Command): void {
  const unknownOption = (typed: string): never => {
    const flag = typed.startsWith('--') ? (typed.split('=')[0] ?? typed) : typed.slice(0, 2);
    const hint = optionHint(command, flag) ?? nearOption(command, flag);
    const said = hint === null ? '' : `\n(${hint})`;
    return command.error(`error: unknown option '${typed}'${said}`, {
      code: 'commander.unknownOption',
    });
  };
  Object.assign(command, { unknownOption });
}

function nearOption(command: Command, flag: string): string | null {
  if (!flag.startsWith('--')) return null;
  const longs = command.options.flatMap(({ long }) => long?.slice(2) ?? []);
  const proposed = longs.filter((long) => !DESTRUCTIVE_OPTIONS.has(`--${long}`));
  const word = flag.slice(2);
  const found = nearest(word, proposed) ?? beginning(word, proposed);
  return found === null ? null : `Did you mean --${found}?`;
}

/** The only one that begins so: it was cut short. */
function beginning(word: string, options: readonly string[]): string | null {
  const found = options.filter((option) => word.length > 2 && option.startsWith(word));
  return found.length === 1 ? (found[0] ?? null) : null;
}

/** Commands that list what operands of these names may be. */
const LISTING: Readonly<Record<string, string>> = {
  job: 'weft jobs',
  batch: 'weft batch list',
  node: 'weft node list',
  pool: 'weft pool list',
};

/** A missing operand is told with what it is, and the command that lists what there is. */
export function tellOperands(command: Command): void {
  const missingArgument = (name: string): never => {
    const { description = '' } =
      command.registeredArguments.find((one) => one.name() === name) ?? {};
    const what = description === '' ? '' : `: ${description}`;
    const list = Object.hasOwn(LISTING, name) ? `. \`${LISTING[name]}\` shows what there is` : '';
    return command.error(`error: missing required argument '${name}'${what}${list}`, {
      code: 'commander.missingArgument',
    });
  };
  Object.assign(command, { missingArgument });
}

/** Words that are no command of `command` end in a usage failure that says which was meant. */
export function proposeCommands(command: Command, meant: Meaning = () => null): void {
  command.on('command:*', ([word = '']: readonly string[]) => {
    throw unknownCommand(word, command, meant);
  });
}

function unknownCommand(word: string, command: Command, meant: Meaning) {
  const names = command.commands.map((one) => one.name());
  const path = pathOf(command);
  const found = meantWithin(word, path) ?? meant(word) ?? nearCommand(word, names, path);
  const several = path === 'weft' && Object.hasOwn(SEVERAL, word) ? SEVERAL[word] : undefined;
  const help = several ?? `\`${path} --help\` lists them.`;
  const question = found === null ? help : `Did you mean '${found}'?`;
  return usage(`unknown command '${word}'. ${question}`);
}

function meantWithin(word: string, program: string): string | null {
  const inner = Object.hasOwn(MEANT_WITHIN, program) ? MEANT_WITHIN[program] : undefined;
  return inner !== undefined && Object.hasOwn(inner, word) ? `${program} ${inner[word]}` : null;
}

function nearCommand(word: string, names: readonly string[], path: string): string | null {
  const proposed = UNLIKE.has(word) ? [] : names.filter((name) => !DESTRUCTIVE.has(name));
  const found = nearest(word, proposed);
  return found === null ? null : `${path} ${found}`;
}

function pathOf(command: Command): string {
  return command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`;
}

/** Long and short names of theirs by ours, of options that are not about a job that is new. */
const OTHERS: Readonly<Record<string, string>> = {
  '--dry-run': '--test-only',
  '--mine': '--me',
  '--state': '--states --filter',
  '--since': '--starttime -S',
  '--until': '--endtime -E',
};

const OURS = new Map(
  [...ROWS.map((row) => [flagOf(row), theirsOf(row)] as const), ...Object.entries(OTHERS)].flatMap(
    ([ours, theirs]) => theirs.split(' ').map((one) => [one, ours]),
  ),
);

function theirsOf({ sbatch, theirs }: OptionRow): string {
  return [sbatch, theirs].filter(Boolean).join(' ');
}

/** What must be said in other words here. */
const OTHERWISE: Readonly<Record<string, string>> = {
  '--ntasks': 'Say nodes, and processes on each: --nodes 2 --procs 4.',
  '--wrap': 'Give the command to weft run, in quotes if it is a line for the shell.',
};

/** `It is --cpus here.`; null: nothing is known of it, or this command has no such option. */
function optionHint(command: Command, flag: string): string | null {
  if (Object.hasOwn(OTHERWISE, flag)) return OTHERWISE[flag] ?? null;
  const ours = OURS.get(flag);
  const has = command.options.some(({ long }) => long === ours);
  return ours !== undefined && has ? `It is ${ours} here.` : null;
}
