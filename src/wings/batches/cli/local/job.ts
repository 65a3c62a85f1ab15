// One job of a local run: a fresh work directory over what the build has left, its program, its
// place in the archive.

import { lstatSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { SAVE_FOLDER } from '../../../../kernel/files/folders.ts';
import type { Glob } from '../../../../kernel/files/glob.ts';
import type { JobOutcome, Manifest } from '../../../../kernel/files/manifest.ts';
import { type Before, OutsideCount } from '../../../../kernel/files/outside.ts';
import type { Outside } from '../../../../kernel/model/staging.ts';
import { walk } from '../../../../kernel/transfer/walk.ts';
import { JobArchive } from '../../batch/archive/job-archive.ts';
import { copyTree } from '../../batch/files/copy.ts';
import { removeTree } from '../../batch/files/remove.ts';
import type { BatchJob, ContainerSolver } from '../../core/batch.ts';
import { apptainerArgv, isEngineSolver } from '../../core/containers.ts';
import { givenOf } from '../../core/engine-script.ts';
import { fillCpus } from '../../core/placeholders.ts';
import { bindFolder, INPUT_FOLDER, programArgv } from '../../core/programs.ts';
import type { Built } from './build.ts';
import type { ChildEnd } from './child.ts';
import { containerScript } from './container.ts';
import type { Start, Workshop } from './workshop.ts';

export interface JobOrder {
  readonly job: BatchJob;
  readonly cpuCount: number;
  readonly built: Built;
  /** Variables that say which gpus it has. */
  readonly gpus: Readonly<Record<string, string>>;
  /** Stands for all that goes in. */
  readonly inputs: string;
  readonly globs: readonly Glob[];
  /** The batch's, in the archive. */
  readonly batchFolder: string;
}

/** Runs a job until it has ended in another way than a failure, or failed as often as it may. */
export async function runJob(workshop: Workshop, order: JobOrder): Promise<Manifest> {
  const { job } = order;
  for (let epoch = 1; ; epoch += 1) {
    const manifest = await attempt(workshop, order, epoch);
    // As on a cluster: what was too slow, or cannot start, is so again.
    const isOver = manifest.outcome !== 'failed';
    if (isOver || epoch > job.retriesMax || workshop.stops.stop.aborted) return manifest;
  }
}

async function attempt(workshop: Workshop, order: JobOrder, epoch: number): Promise<Manifest> {
  const { job, batchFolder, globs, inputs } = order;
  const { batch, node } = workshop;
  const work = workshop.at('jobs', job.name);
  const save = path.join(work, SAVE_FOLDER);
  const archive = await JobArchive.begin(batchFolder, job.name);
  try {
    await prepare(workshop, order, work);
    const before = lookBefore(work, workshop.at('begun'));
    const startedAt = Date.now();
    const end = await start(workshop, order, { work, archive });
    const outside = lookAfter(work, before);
    const facts = {
      namespace: batch.namespace,
      batch: batch.name,
      job: job.name,
      ...outcomeOf(end),
      node,
      epoch,
      startedAt,
      endedAt: Date.now(),
      inputs,
      ...(outside === undefined ? {} : { outside }),
    };
    const withOutputText = batch.origin === 'distribute';
    return await archive.finish({ save, globs, facts, withOutputText });
  } catch (error) {
    await archive.abandon();
    throw error;
  } finally {
    await removeTree(work);
  }
}

async function prepare(workshop: Workshop, { job }: JobOrder, work: string): Promise<void> {
  const { batch, stage, products } = workshop;
  await removeTree(work);
  await copyTree(products, work);
  await stage.lay([...batch.files, ...job.files], path.join(work, INPUT_FOLDER));
  mkdirSync(path.join(work, SAVE_FOLDER));
  if (job.run !== null) await stage.lay([job.run], work);
}

async function start(
  workshop: Workshop,
  order: JobOrder,
  { work, archive }: { work: string; archive: JobArchive },
): Promise<ChildEnd> {
  const { job, cpuCount, gpus } = order;
  const { solver, env } = workshop.batch;
  const args = fillCpus(job.args, cpuCount);
  const program =
    solver === null || solver.kind === 'build'
      ? { argv: programArgv(job.run ?? { as: '' }, args) }
      : inContainer(workshop, order, { solver, work, args });
  const { name, walltimeMs } = job;
  const { stdout, stderr } = archive;
  const variables = { ...gpus, ...env, ...job.env };
  const its = { name, cwd: work, cpuCount, walltimeMs, stdout, stderr, variables };
  return workshop.run({ ...its, ...program });
}

function inContainer(
  workshop: Workshop,
  { job, built, cpuCount }: JobOrder,
  { solver, work, args }: { solver: ContainerSolver; work: string; args: readonly string[] },
): Pick<Start, 'argv' | 'container'> {
  const image = built.image ?? solver.image;
  if (isEngineSolver(solver)) {
    const container = { kind: solver.kind, name: workshop.containerName(job.name) };
    const { memoryBytes } = job;
    const of = { image, name: container.name, cpuCount, memoryBytes };
    const script = containerScript(solver, of, givenOf(workshop.batch));
    return { argv: ['sh', '-c', script, 'weft', ...args], container };
  }
  const binds = solver.mounts.map((_, at) => path.join(work, bindFolder(at)));
  for (const folder of binds) mkdirSync(folder);
  const folders = {
    input: path.join(work, INPUT_FOLDER),
    save: path.join(work, SAVE_FOLDER),
    binds,
  };
  const [program = '', ...words] = apptainerArgv({ solver, image, ...folders, args });
  const isOld = !workshop.hasProgram(program) && workshop.hasProgram('singularity');
  return { argv: [isOld ? 'singularity' : program, ...words] };
}

function outcomeOf({ exitCode, signal, error, endedBy }: ChildEnd): {
  outcome: JobOutcome;
  exitCode: number | null;
  signal: string | null;
  reason: string | null;
} {
  const rest = { exitCode, signal };
  if (error !== null) return { outcome: 'launch_failed', ...rest, reason: error };
  if (endedBy === 'timeout') return { outcome: 'timeout', ...rest, reason: 'its time limit' };
  if (endedBy === 'stop') return { outcome: 'cancelled', ...rest, reason: 'the run was stopped' };
  return { outcome: exitCode === 0 ? 'completed' : 'failed', ...rest, reason: null };
}

/** `mark`: a file of this run, by whose time what is made later is known. */
function lookBefore(work: string, mark: string): Before {
  const names = new Set(readdirSync(work));
  writeFileSync(mark, '');
  return { names, atNs: statSync(mark, { bigint: true }).mtimeNs };
}

/** Undefined: nothing. What nobody can read is no loss. */
function lookAfter(work: string, before: Before): Outside | undefined {
  const count = new OutsideCount(before);
  for (const { path: name, kind, full } of walk(work, () => undefined)) {
    if (kind !== 'file' && kind !== 'link') continue;
    const status = lstatSync(full, { bigint: true, throwIfNoEntry: false });
    if (status === undefined) continue;
    const { size, mtimeNs: modifiedNs, birthtimeNs: madeNs } = status;
    if (name.startsWith(`${SAVE_FOLDER}/`)) count.keep(name, Number(size), { modifiedNs });
    else count.add(name, Number(size), { modifiedNs, madeNs });
  }
  return count.sum;
}
