// `weft batch run --local`: a batch on this machine, with the same archive as on a cluster.

import { mkdirSync } from 'node:fs';
import { constants } from 'node:os';
import path from 'node:path';
import { plural } from '../../../kernel/base/plural.ts';
import type { Context } from '../../../kernel/cli/context.ts';
import { formatSpan } from '../../../kernel/cli/output/words.ts';
import { defineVerb } from '../../../kernel/cli/verb.ts';
import { takeLock } from '../../../kernel/connect/lock-file.ts';
import { type Manifest, STDERR_FILE } from '../../../kernel/files/manifest.ts';
import { outsideWords } from '../../../kernel/files/outside.ts';
import { refuse } from '../../../kernel/model/errors.ts';
import { failure, usage } from '../../../kernel/model/failure.ts';
import { readCount } from '../../replay/cli/options.ts';
import type { BatchReading } from '../batch/read/read-batch.ts';
import { type BatchFile, type BatchJob, batchTitle } from '../core/batch.ts';
import type { LocalEvents, LocalSummary } from './local/local-batch.ts';
import {
  type BatchPlace,
  checkAfter,
  placeOf,
  type RunFolderOptions,
  removeResults,
} from './local/place.ts';
import { Stopper } from './local/stopper.ts';
import { batchFileOf, defineBatchFile } from './operand.ts';
import { asWriteFailure } from './write-failure.ts';

interface Options {
  readonly local?: boolean;
  readonly atOnce?: string;
  readonly saveDir?: string;
  readonly resume?: boolean;
  readonly newVersion?: boolean;
  /** `distribute run --clean-save`: earlier results of the batch go first. */
  readonly clean?: boolean;
}

export const run = defineVerb<Options>({
  define(command) {
    defineBatchFile(command);
    command.option('--local', 'on this machine; it needs no cluster');
    command.option(
      '--at-once <count>',
      'jobs side by side (default: as many as there is room for)',
    );
    command.option('--save-dir <folder>', 'where results go, as NAMESPACE/NAME/JOB', 'archive');
    command.option('--resume', 'run only what did not complete');
    command.option('--new-version', 'begin beside the results that are there, as NAME@2');
  },
  async run({ context, args: [given], options }) {
    if (options.local !== true) throw usage('write --local: it runs the batch on this machine');
    const { readBatch } = await import('../batch/read/read-batch.ts');
    const reading = readBatch(batchFileOf(context, given));
    const atOnce = options.atOnce === undefined ? null : readCount('--at-once', options.atOnce);
    const saveFolder = path.resolve(context.cwd, options.saveDir ?? 'archive');
    const { batch } = reading;
    checkAfter(batch, saveFolder);
    tellUnheeded(context, batch);
    try {
      const wish = { saveFolder, resume: options.resume === true };
      const { newVersion = false, clean = false } = options;
      return await runLocked(context, reading, { ...wish, newVersion, clean, atOnce });
    } catch (error) {
      throw asWriteFailure(error, saveFolder);
    }
  },
});

interface Asked extends RunFolderOptions {
  readonly atOnce: number | null;
  readonly clean: boolean;
}

async function runLocked(context: Context, reading: BatchReading, asked: Asked): Promise<number> {
  const { batch } = reading;
  const release = lock(batch, asked.saveFolder);
  const stopper = new Stopper((line) => context.note(line));
  try {
    const { endLeftovers } = await import('./local/leftovers.ts');
    await endLeftovers(batch, asked.saveFolder, context.programs.endMarked);
    if (asked.clean) await removeResults(batch, asked.saveFolder);
    const place = placeOf(batch, asked);
    const { runLocalBatch } = await import('./local/local-batch.ts');
    const { cpuCount, memoryBytes, gpuCount } = await context.programs.detectMachine();
    const summary = await runLocalBatch({
      reading,
      place,
      atOnce: asked.atOnce,
      machine: { cpuCount, memoryBytes, gpuCount },
      environment: context.environment,
      stops: stopper.stops,
      on: new Telling(context, batch, place),
    });
    return conclude(context, place, { summary, signal: stopper.signal });
  } finally {
    stopper.close();
    release();
  }
}

/** One run at a time works on a batch; the lock lies beside its folder, which may be made anew. */
function lock(batch: BatchFile, saveFolder: string): () => void {
  const folder = path.join(saveFolder, batch.namespace);
  mkdirSync(folder, { recursive: true });
  const taken = takeLock(path.join(folder, `.${batch.name}.lock`), 'user');
  if (taken.ok) return taken.release;
  const holder = taken.holder === null ? '' : ` (process ${taken.holder.pid})`;
  throw failure(refuse('batch.busy', { batch: batchTitle(batch), folder, holder }));
}

function tellUnheeded(context: Context, { needs: common, notices, jobs }: BatchFile): void {
  const needs = [...new Set([...common, ...jobs.flatMap((job) => job.needs)])];
  if (needs.length > 0)
    context.note(`needs (${needs.join(', ')}) are for nodes; not looked at here`);
  if (jobs.some(saysWhichGpus))
    context.note(
      'gpuMemory, gpuShare and gpuLinks are for a cluster; jobs have whole gpus of any kind here',
    );
  const ofQueue = QUEUE_KEYS.filter((key) =>
    jobs.some((job) => job[key] !== null && job[key] !== 0),
  );
  if (ofQueue.length > 0) {
    const are = ofQueue.length === 1 ? 'is' : 'are';
    context.note(`${ofQueue.join(', ')} ${are} for the queue of a cluster; not looked at here`);
  }
  if (notices.length > 0) context.note('notify is for a cluster; nobody is notified here');
}

const QUEUE_KEYS = ['partition', 'qos', 'priority'] as const;

class Telling implements LocalEvents {
  readonly #context: Context;
  readonly #title: string;
  readonly #place: BatchPlace;
  #pending = 0;
  #ended = 0;

  constructor(context: Context, { namespace }: BatchFile, place: BatchPlace) {
    this.#context = context;
    this.#title = `${namespace}/${place.name}`;
    this.#place = place;
  }

  doubt(text: string): void {
    this.#context.note(text);
  }

  begun(pending: number, done: number): void {
    this.#pending = pending;
    const before = done === 0 ? '' : `, ${done} completed before`;
    this.#context.print(`${this.#title}: ${plural(pending, 'job')} to run${before}`);
  }

  building(log: string): void {
    this.#context.print(`preparing the solver; log: ${shown(this.#context, log)}`);
  }

  skipped(job: string, after: string): void {
    this.#ended += 1;
    const count = `[${this.#ended}/${this.#pending}]`;
    this.#context.print(
      `${count} ${job} not started: it comes after ${after}, which did not complete`,
    );
  }

  ended(manifest: Manifest): void {
    this.#ended += 1;
    const { job, outcome, startedAt, endedAt, outside } = manifest;
    const took = formatSpan(endedAt - startedAt);
    const count = `[${this.#ended}/${this.#pending}]`;
    this.#context.print(`${count} ${job} ${endWords(manifest)} after ${took}`);
    if (outside !== undefined) this.#context.print(`  ${outsideWords(outside)}`);
    if (outcome === 'completed' || outcome === 'cancelled') return;
    this.#context.print(
      `  see ${shown(this.#context, path.join(this.#place.folder, job, STDERR_FILE))}`,
    );
  }
}

/** From where the command was typed, when it is below. */
function shown({ cwd }: Context, file: string): string {
  const relative = path.relative(cwd, file);
  return relative.startsWith('..') ? file : relative;
}

function endWords({ outcome, exitCode, signal, reason, epoch }: Manifest): string {
  const again = epoch > 1 ? ` at start ${epoch}` : '';
  if (outcome === 'failed') {
    return `failed${again} with ${signal === null ? `exit code ${exitCode}` : signal}`;
  }
  const words = outcome === 'launch_failed' ? `could not start: ${reason}` : outcome;
  return `${outcome === 'timeout' ? 'ran into its time limit' : words}${again}`;
}

/** The last line, and the exit code: 0 when every job of the batch is completed. */
function conclude(
  context: Context,
  { folder }: BatchPlace,
  { summary, signal }: { summary: LocalSummary; signal: NodeJS.Signals | null },
): number {
  const { done, jobs } = summary;
  context.print(`${done} of ${plural(jobs, 'job')} completed; results: ${shown(context, folder)}`);
  if (done === jobs) return 0;
  context.print('`--resume` runs the others again.');
  return signal === null ? 1 : 128 + constants.signals[signal];
}

function saysWhichGpus({ gpuMemoryBytes, gpuShareBytes, gpuLinks }: BatchJob): boolean {
  return gpuMemoryBytes !== null || gpuShareBytes !== null || gpuLinks !== undefined;
}
