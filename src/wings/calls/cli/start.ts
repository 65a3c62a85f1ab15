// `weft pool start`: what each worker gets is said as of a job.

import { Option } from 'commander';
import { parseSize } from '../../../kernel/base/size.ts';
import { submitterHere } from '../../../kernel/cli/jobs/send.ts';
import { withFiles } from '../../../kernel/cli/jobs/send-with-files.ts';
import {
  definePoolOptions,
  makeSubmission,
  type SubmitOptions,
  type Submitter,
} from '../../../kernel/cli/submit/options.ts';
import { dropUndefined, read } from '../../../kernel/cli/submit/read.ts';
import { inputsOf } from '../../../kernel/cli/submit/staged-files.ts';
import { defineVerb } from '../../../kernel/cli/verb.ts';
import { freshKey } from '../../../kernel/connect/fresh-key.ts';
import {
  type ContainerImage,
  ENGINES,
  type Engine,
  isImageName,
} from '../../../kernel/model/container-engine.ts';
import { usage } from '../../../kernel/model/failure.ts';
import { parseCount } from '../../../kernel/model/submission-values.ts';
import {
  INTERPRETER_FORM,
  isInterpreter,
  WORKER_PROGRAM,
  type WorkerRequest,
} from '../model/pool.ts';
import { rangeWords } from './columns.ts';
import { defineRange, type RangeOptions, readRange } from './range.ts';

interface Options extends Omit<SubmitOptions, 'output'>, RangeOptions {
  readonly recycleAfter?: string;
  readonly recycleAbove?: string;
  readonly image?: string;
  readonly engine?: Engine;
  readonly python?: string;
  readonly output?: string;
}

export const start = defineVerb<Options>({
  define(command) {
    command.option('--name <name>', 'name by which your programs find the pool');
    defineRange(command);
    command.option(
      '--recycle-after <calls>',
      'start a new process for functions after this many calls',
    );
    command.option(
      '--recycle-above <size>',
      'start one also after a call that leaves more memory in use',
    );
    command.option(
      '--image <image>',
      'workers run in a container of this image, which has Node 24',
    );
    command.addOption(
      new Option('--engine <engine>', 'container engine (default: docker)').choices(ENGINES),
    );
    command.option(
      '--python <interpreter>',
      'its functions are those of Python programs, run by this: python3, or a path',
    );
    definePoolOptions(command);
  },
  async run({ context, options }) {
    const { max, min = 0, ...idle } = readRange(options);
    if (max === undefined) throw usage('say how many workers: -n COUNT, or --max COUNT');
    const { name } = options;
    const worker = workerRequest(options, submitterHere(context));
    const recycle = recycleOf(options);
    const body = dropUndefined({
      ...worker,
      name,
      min,
      max,
      ...idle,
      recycle,
      image: imageOf(options),
      python: pythonOf(options),
    });
    const api = await context.api();
    const key = freshKey();
    const { jobId } = await withFiles(context, inputsOf(options, WORKER_PROGRAM), (inputs) => {
      const staging = inputs === undefined ? {} : { staging: { ...worker.staging, inputs } };
      return api.call('startPool', { body: { ...body, ...staging }, key });
    });
    const title = name === undefined ? `${jobId}` : `${jobId} (${name})`;
    context.print(`Pool ${title} is started: ${rangeWords({ min, max })}.`);
    return 0;
  },
});

function imageOf({ image, engine }: Options): ContainerImage | undefined {
  if (image === undefined) {
    if (engine !== undefined) throw usage('--engine says what runs an image; add --image IMAGE');
    return undefined;
  }
  if (!isImageName(image)) {
    throw usage(`--image: '${image}' is not the name of an image, as debian:12`);
  }
  return { kind: engine ?? 'docker', name: image };
}

function pythonOf({ python }: Options): string | undefined {
  if (python === undefined || isInterpreter(python)) return python;
  throw usage(`--python: '${python}' is no interpreter; write ${INTERPRETER_FORM}`);
}

function recycleOf({ recycleAfter, recycleAbove }: Options) {
  const most = Number.MAX_SAFE_INTEGER;
  const calls = read('--recycle-after', recycleAfter, (text) => parseCount(text, 1, most));
  const bytes = read('--recycle-above', recycleAbove, parseSize);
  return calls === undefined && bytes === undefined ? undefined : dropUndefined({ calls, bytes });
}

/** The wish that they make; throws a usage failure that names the option. */
function workerRequest(options: SubmitOptions, submitter: Submitter): WorkerRequest {
  const { program: _, name: __, ...wish } = makeSubmission(WORKER_PROGRAM, options, submitter);
  return wish;
}
