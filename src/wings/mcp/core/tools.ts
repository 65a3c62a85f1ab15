// The tools: what each takes, and the command line that it is. What a tool does is so what the
// command does, with the rights of whoever started this, and the same checks.

/** JSON Schema 2020-12 of a tool's arguments. */
export interface Schema {
  readonly type: 'object';
  readonly properties: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  readonly required?: readonly string[];
  readonly additionalProperties: false;
}

export type Given = Readonly<Record<string, string | number | boolean>>;

export interface Said {
  readonly code: number;
  readonly text: string;
}

export interface Tool {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly input: Schema;
  /** The tool changes nothing. */
  readonly readOnly: boolean;
  /** The exit code may be a job's: whether this is what was said of one. */
  readonly isAnswer?: (said: Said, given: Given) => boolean;
  /** What it changes cannot be taken back. */
  readonly destructive?: boolean;
  /** What is also said when the command ends with this code. */
  readonly afterwards?: { readonly code: number; argv(given: Given): readonly string[] };
  /** Checked arguments as a command line of `weft`, or several, whose outputs follow each other. */
  argv(given: Given): readonly (readonly string[])[];
}

const text = (description: string, more: object = {}) => ({ type: 'string', description, ...more });
const count = (description: string, minimum: number, maximum: number) => ({
  type: 'integer',
  description,
  minimum,
  maximum,
});
/** What an answer holds, with a line on how much is before that: output may fill a disk. */
export const LOGS_LAST = '--last=18K';
/** `weft wait` ends so when its time is over first. A job may end so, too: it is explained. */
const WAIT_ENDED = 8;
const JOB = text('A job, 42, or one task of an array, 42[7].', {
  pattern: '^\\d{1,15}(\\[\\d{1,9}\\])?$',
});

/** What a job may ask for; the same words as the options of `weft run`. */
const ASKED = {
  command: text('One line for the shell, run on a node. {name} stands for a value of a sweep.', {
    minLength: 1,
    maxLength: 100_000,
  }),
  name: text('Name of the job.', { maxLength: 200 }),
  cpus: count('Cpus on each node.', 1, 100_000),
  memory: text('Memory on each node: 512M, 8G.', { maxLength: 20 }),
  gpus: text('Gpus on each node: 2.', { maxLength: 100 }),
  nodes: count('Nodes.', 1, 100_000),
  time: text('Time limit: 90s, 2h, 1-12:00:00.', { maxLength: 40 }),
  partition: text('Partition.', { maxLength: 64 }),
  array: text('One task per index, WEFT_ARRAY_INDEX: 0-99, 0-99%10 for ten at once.', {
    maxLength: 1000,
  }),
  directory: text(
    'Where it runs: a folder that the nodes share. Default: where this server runs.',
    {
      maxLength: 4000,
    },
  ),
} as const;

const FLAG: Readonly<Record<string, string>> = {
  name: '--name',
  cpus: '--cpus',
  memory: '--memory',
  gpus: '--gpus',
  nodes: '--nodes',
  time: '--time',
  partition: '--partition',
  array: '--array',
  directory: '--chdir',
  key: '--key',
  sweep: '--sweep',
  user: '--user',
  since: '--since',
  limit: '--limit',
};

/** `--name=value`, so that no value is ever taken for an option. */
function flags(given: Given, ...names: string[]): string[] {
  return names.flatMap((name) => {
    const value = given[name];
    return value === undefined ? [] : [`${FLAG[name]}=${value}`];
  });
}

const WANTED = Object.keys(ASKED).filter((name) => name !== 'command');
const run = (given: Given, ...options: string[]): string[] => [
  'run',
  ...options,
  ...flags({ name: nameOf(given), ...given }, ...WANTED, 'key', 'sweep'),
  '--',
  // Always the shell's: a line without blanks would be the name of a program.
  ...['sh', '-c', String(given['command'])],
];

/** The command's first word, as `weft run` has it. */
function nameOf({ command }: Given): string {
  const [word = 'sh'] = /[\w./+-]+/.exec(String(command)) ?? [];
  return word.split('/').at(-1)?.slice(0, 100) || 'sh';
}

function schema(properties: Schema['properties'], ...required: string[]): Schema {
  return { type: 'object', properties, required, additionalProperties: false };
}

const SWEEP = text('Values by name, all combinations: lr=0.1,0.2 seed=0:4. Each is {lr}, {seed}.', {
  minLength: 1,
  maxLength: 10_000,
});
const KEY = text('The same key gives the same job, however often it is sent.', { maxLength: 200 });

export const TOOLS: readonly Tool[] = [
  {
    name: 'cluster',
    title: 'The cluster now',
    description: 'Nodes, what is in use, notices, and what waits.',
    input: schema({}),
    readOnly: true,
    argv: () => [['info'], ['partition', 'list']],
  },
  {
    name: 'preview',
    title: 'When and where would it start?',
    description:
      'Checks a job and submits nothing: when and where it would start, why not at once, and which smaller request would start now.',
    input: schema({ ...ASKED, sweep: SWEEP }, 'command'),
    readOnly: true,
    argv: (given) => [run(given, '--dry-run')],
  },
  {
    name: 'submit',
    title: 'Submit a job',
    description: 'Submits a job and says its id. Look first with preview.',
    input: schema({ ...ASKED, key: KEY }, 'command'),
    readOnly: false,
    argv: (given) => [run(given)],
  },
  {
    name: 'sweep',
    title: 'Submit a sweep',
    description: 'Submits one job with a task for each combination of values, and says its id.',
    input: schema({ ...ASKED, sweep: SWEEP, key: KEY }, 'command', 'sweep'),
    readOnly: false,
    argv: (given) => [run(given)],
  },
  {
    name: 'jobs',
    title: 'Jobs',
    description: 'Jobs that wait or run, or with all also those that are done; the newest last.',
    input: schema({
      all: { type: 'boolean', description: 'Also those that are done.' },
      user: text("Only this user's.", { maxLength: 64 }),
      limit: count('At most this many.', 1, 200),
    }),
    readOnly: true,
    argv: (given) => [
      [
        'jobs',
        ...(given['all'] === true ? ['--all'] : []),
        ...flags({ limit: 50, ...given }, 'user', 'limit'),
      ],
    ],
  },
  {
    name: 'why',
    title: 'Why is it where it is?',
    description: 'Why a job waits and when it would start, where it runs, or how it ended.',
    input: schema({ job: JOB }, 'job'),
    readOnly: true,
    argv: ({ job }) => [['why', '--', String(job)]],
  },
  {
    name: 'triage',
    title: 'What went wrong?',
    description:
      'How a job ended: what failed, its last lines of output, and what it used against what it asked for.',
    input: schema({ job: JOB }, 'job'),
    readOnly: true,
    argv: ({ job }) => [
      ['why', '--', String(job)],
      ['job', '--', String(job)],
      ['history', '--tasks', '--failed', '--limit=20', '--', String(job).replace(/\[.*/, '')],
    ],
  },
  {
    name: 'logs',
    title: 'Output of a job',
    description:
      'What a job has written; of much of it what came last, and how much is before that.',
    input: schema(
      {
        job: JOB,
        failed: { type: 'boolean', description: 'Of an array, only what tasks wrote that failed.' },
      },
      'job',
    ),
    readOnly: true,
    argv: ({ job, failed }) => [
      ['logs', LOGS_LAST, ...(failed === true ? ['--failed'] : []), '--', String(job)],
    ],
  },
  {
    name: 'wait',
    title: 'Wait for a job',
    description:
      'Waits until a job is done, for at most this many seconds; then says where it is. Ask again where it is not done.',
    input: schema(
      { job: JOB, seconds: count('Seconds to wait at most; default 30.', 1, 300) },
      'job',
    ),
    readOnly: true,
    // What was said of the job begins with its number; an error may have any other line.
    isAnswer: ({ code, text }, { job }) =>
      code === WAIT_ENDED || text.split('\n').some((line) => line.startsWith(`${job} `)),
    argv: ({ job, seconds = 30 }) => [['wait', `--timeout=${seconds}s`, '--', String(job)]],
    afterwards: { code: WAIT_ENDED, argv: ({ job }) => ['why', '--', String(job)] },
  },
  {
    name: 'cancel',
    title: 'Cancel a job',
    description:
      'Ends a job. Without confirm it only says what it would end: show that to the person you work for, and ask.',
    input: schema(
      { job: JOB, confirm: { type: 'boolean', description: 'The person has said yes.' } },
      'job',
    ),
    readOnly: false,
    destructive: true,
    argv: ({ job, confirm }) => [
      ['cancel', ...(confirm === true ? [] : ['--dry-run']), '--', String(job)],
    ],
  },
  {
    name: 'usage',
    title: 'Who used how much',
    description: 'Cpu hours, waiting times and outcomes by user.',
    input: schema({ since: text('12h, 30d, 2026-01-31.', { maxLength: 40 }) }),
    readOnly: true,
    argv: (given) => [['usage', ...flags({ since: '30d', ...given }, 'since')]],
  },
];
