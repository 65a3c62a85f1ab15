// Schemas of the batch file, and of the two files of the seed that are read as they are. Shapes
// only: what values mean is checked by src/wings/batches/core. docs/schema/weft.batch.schema.json
// is made
// from this.

import { z } from 'zod';
import { BATCH_ROWS, type BatchOption } from '../../../kernel/model/options/table.ts';
import type { SeedJobs } from '../core/seed-jobs.ts';
import { SLURM_KEYS, type SlurmKey, type WrittenAsk, type WrittenBatch } from '../core/written.ts';

const TEXT = 'expected a text';
const text = z.string({ error: TEXT });
const flag = z.boolean({ error: 'expected true or false' });
const whole = z.number({ error: 'expected a whole number' });
const word = z.union([z.string(), z.number(), z.boolean()], { error: TEXT });
const name = z.union([z.string(), z.number()], { error: TEXT });

const described = <T extends z.ZodType>(schema: T, description: string): T =>
  schema.meta({ description }) as T;

function list<T extends z.ZodType>(item: T) {
  return z.array(item, { error: 'expected a list' });
}

function mapping<T extends z.ZodRawShape>(shape: T) {
  return z.strictObject(shape, { error: issueText });
}

/** Unknown keys are told one by one by whoever reads the issues. */
function issueText({ code }: { readonly code: string | undefined }): string | undefined {
  return code === 'invalid_type' ? 'expected a mapping of keys to values' : undefined;
}

/** Exactly one of these keys, for editors; the core says it in words. */
function exactlyOne(keys: readonly string[]) {
  return { oneOf: keys.map((key) => ({ required: [key] })) };
}

const file = described(
  z.union([text, mapping({ path: text, as: text.exactOptional() })], {
    error: 'expected a path, or {path: …, as: …}',
  }),
  'A path, relative to this file, or a path and the name that the file gets.',
);

const slurmValue = z.union([z.string(), z.number()], { error: 'expected a text or a number' });
const slurm = described(
  mapping(
    Object.fromEntries(SLURM_KEYS.map((key) => [key, slurmValue.exactOptional()])) as Record<
      SlurmKey,
      z.ZodExactOptional<typeof slurmValue>
    >,
  ),
  'Header fields of `weft batch export slurm`.',
);

const solver = described(
  mapping({
    build: described(file, 'A program that runs once per node; python3 runs *.py.').exactOptional(),
    image: described(text, 'An image file of apptainer (.sif).').exactOptional(),
    docker: described(text, 'An image: name:tag, or a .tar of docker save.').exactOptional(),
    podman: described(text, 'An image: name:tag, or a .tar of podman save.').exactOptional(),
    mounts: described(
      list(text),
      'Folders in the container that a job may write to, besides /distribute_save.',
    ).exactOptional(),
    gpu: described(flag, 'Whether the jobs use the gpus of their node.').exactOptional(),
    time: described(
      word,
      'How long a node may take to build it or to fetch its image: 20m.',
    ).exactOptional(),
  }).meta(exactlyOne(['build', 'image', 'docker', 'podman'])),
  'What is prepared once per node; without it each job runs its own program.',
);

type OptionKeys = {
  [N in BatchOption]: z.ZodExactOptional<z.ZodType<NonNullable<WrittenAsk[N]>>>;
};

/** Keys that are options of a job. */
const ofOptions = Object.fromEntries<z.ZodType>(
  BATCH_ROWS.map(({ name, type, batch }) => {
    const form = type.program === 'number' ? whole : type.program === 'string' ? text : word;
    return [name, described(form, batch.words).exactOptional()];
  }),
) as OptionKeys;

const limits = {
  ...ofOptions,
  priority: described(
    whole,
    'From -100 to 100: higher goes first among your own jobs; default: 0.',
  ).exactOptional(),
};
const env = (description: string) =>
  described(
    z.record(z.string(), word, { error: 'expected names of variables with their values' }),
    description,
  ).exactOptional();
const needs = described(list(text), 'Labels that a node must have.').exactOptional();
const program = {
  run: described(file, 'The program of the job; python3 runs *.py.').exactOptional(),
  args: described(
    list(word),
    'Its arguments; {{cpus}} is the number of cpus, and the only one where none are given.',
  ).exactOptional(),
};

const job = mapping({
  name: described(
    name,
    'The folder of its results; with a sweep it may be left out.',
  ).exactOptional(),
  ...program,
  files: described(list(file), 'Files for this job alone.').exactOptional(),
  env: env('Variables of this job, over those of the batch.'),
  needs,
  after: described(
    list(word),
    'Names of jobs of this batch that have to complete before it starts.',
  ).exactOptional(),
  ...limits,
  slurm: slurm.exactOptional(),
});

const notice = mapping({
  matrix: text.exactOptional(),
  webhook: text.exactOptional(),
  command: text.exactOptional(),
  mail: text.exactOptional(),
}).meta(exactlyOne(['matrix', 'webhook', 'command', 'mail']));

/** `weft.batch.yaml`. */
export const batchFile = mapping({
  namespace: described(name, 'The folder of several batches, as of one person or project.'),
  name: described(name, 'The name of this batch.'),
  needs,
  env: env('Variables of the build and all jobs.'),
  solver: solver.exactOptional(),
  files: described(list(file), 'Files and folders for the build and all jobs.').exactOptional(),
  defaults: described(
    mapping({ ...program, ...limits }),
    'For every job that does not say it itself.',
  ).exactOptional(),
  // What one writes first where all jobs are alike: the same as in `defaults`.
  ...limits,
  sweep: described(
    z.record(z.string(), list(word), { error: 'expected keys with lists of values' }),
    'Each job once for every combination; {{key}} in names, args and files.',
  ).exactOptional(),
  jobs: described(list(job), 'The jobs, or what the sweep makes jobs of.').exactOptional(),
  outputs: described(
    list(text),
    'Patterns: what of the save folder is kept; with ! what is not.',
  ).exactOptional(),
  after: described(
    list(text),
    'Batches that have to be done before: NAMESPACE/NAME.',
  ).exactOptional(),
  notify: described(list(notice), 'Who is notified when the batch is done.').exactOptional(),
  slurm: slurm.exactOptional(),
}) satisfies z.ZodType<WrittenBatch>;

const seedFile = z.union([text, mapping({ path: text, alias: text.exactOptional() })], {
  error: 'expected a path, or {path: …, alias: …}',
});
const seedFiles = list(seedFile).exactOptional();
const seedMounts = list(text).exactOptional();

const seedJob = { name, required_files: seedFiles, slurm: slurm.exactOptional() };
const seedContainerJobs = list(mapping(seedJob));

const seedImage = mapping({
  initialize: mapping({ sif: seedFile, required_files: seedFiles, required_mounts: seedMounts }),
  jobs: seedContainerJobs,
});

/** `distribute-jobs.yaml`. */
export const seedJobsFile = mapping({
  meta: mapping({
    batch_name: name,
    namespace: name,
    matrix: text.exactOptional(),
    capabilities: list(text),
  }),
  python: mapping({
    initialize: mapping({ build_file: seedFile, required_files: seedFiles }),
    jobs: list(mapping({ ...seedJob, file: seedFile })),
  }).exactOptional(),
  apptainer: seedImage.exactOptional(),
  singularity: seedImage.exactOptional(),
  docker: mapping({
    initialize: mapping({ image: text, required_files: seedFiles, required_mounts: seedMounts }),
    jobs: seedContainerJobs,
  }).exactOptional(),
  slurm: slurm.exactOptional(),
}) satisfies z.ZodType<SeedJobs>;

const port = z.int({ error: 'expected a port, from 1 to 65535' }).min(1).max(65_535);

/** `distribute-nodes.yaml`. */
export const seedNodesFile = mapping({
  nodes: list(
    mapping({
      ip: described(text, 'An address or a host name.'),
      name: name,
      capabilities: list(text),
      transport_port: port.exactOptional(),
      keepalive_port: port.exactOptional(),
      cancel_port: port.exactOptional(),
    }),
  ),
});

/** The schema that editors complete batch files by. */
export function batchFileJsonSchema(): Record<string, unknown> {
  const { $schema, ...rest } = z.toJSONSchema(batchFile, { io: 'input', target: 'draft-2020-12' });
  return { $schema, title: 'weft.batch.yaml', ...rest };
}
