// One job of a local run: a fresh work directory over what the build has left, its program, its place in
// the archive.

import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { JobArchive } from '../../../batch/archive/job-archive.ts';
import { copyTree } from '../../../batch/files/copy.ts';
import { removeTree } from '../../../batch/files/remove.ts';
import type { BatchJob, ContainerSolver } from '../../../core/batch/batch.ts';
import { apptainerArgv, engineArgv, engineEndArgv } from '../../../core/batch/containers.ts';
import type { Glob } from '../../../core/batch/glob.ts';
import type { JobOutcome, Manifest } from '../../../core/batch/manifest.ts';
import { fillCpus } from '../../../core/batch/placeholders.ts';
import {
  bindFolder,
  INPUT_FOLDER,
  programArgv,
  SAVE_FOLDER,
} from '../../../core/batch/programs.ts';
import type { Built } from './build.ts';
import type { ChildEnd } from './child.ts';
import type { Workshop } from './workshop.ts';

export interface JobOrder {
  readonly job: BatchJob;
  readonly cpuCount: number;
  readonly built: Built;
  /** Stands for all that goes in. */
  readonly inputs: string;
  readonly globs: readonly Glob[];
  /** The batch's, in the archive. */
  readonly batchFolder: string;
}

/** Runs a job until it completes, is told to end, or has failed as often as it may. */
export async function runJob(workshop: Workshop, order: JobOrder): Promise<Manifest> {
  const { job } = order;
  for (let epoch = 1; ; epoch += 1) {
    const manifest = await attempt(workshop, order, epoch);
    const isOver = manifest.outcome === 'completed' || manifest.outcome === 'cancelled';
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
    const startedAt = Date.now();
    const end = await start(workshop, order, { work, archive });
    const facts = {
      ...{ namespace: batch.namespace, batch: batch.name, job: job.name },
      ...outcomeOf(end),
      ...{ node, epoch, startedAt, endedAt: Date.now(), inputs },
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
  const { job, cpuCount } = order;
  const { solver } = workshop.batch;
  const input = path.join(work, INPUT_FOLDER);
  const save = path.join(work, SAVE_FOLDER);
  const isContainer = solver !== null && solver.kind !== 'build';
  const args = fillCpus(job.args, cpuCount);
  const argv = isContainer
    ? containerArgv(workshop, order, { solver, work, args })
    : programArgv(job.run ?? { as: '' }, args);
  const { stdout, stderr } = archive;
  const { name, walltimeMs } = job;
  const end = await workshop.run({
    ...{ name, argv, cwd: work, input, save, cpuCount, walltimeMs, stdout, stderr },
  });
  if (end.endedBy !== 'itself' && isContainer) endContainer(workshop, solver, name);
  return end;
}

function containerArgv(
  workshop: Workshop,
  { job, built, cpuCount }: JobOrder,
  { solver, work, args }: { solver: ContainerSolver; work: string; args: readonly string[] },
): string[] {
  const binds = solver.mounts.map((_, at) => path.join(work, bindFolder(at)));
  for (const folder of binds) mkdirSync(folder);
  const common = {
    ...{ solver, image: built.image ?? solver.image, binds, args },
    input: path.join(work, INPUT_FOLDER),
    save: path.join(work, SAVE_FOLDER),
  };
  if (solver.kind === 'apptainer') return apptainerArgv(common);
  const uid = process.getuid?.() ?? 0;
  const user = uid === 0 || solver.kind === 'podman' ? null : `${uid}:${process.getgid?.() ?? 0}`;
  const name = workshop.containerName(job.name);
  // What a job says that it needs is also what it gets.
  const { memoryBytes } = job;
  return engineArgv({ ...common, name, user, memoryBytes, cpus: String(cpuCount) });
}

/** A container lives on when only its client is ended. */
function endContainer(workshop: Workshop, { kind }: ContainerSolver, job: string): void {
  if (kind === 'apptainer') return;
  const [program = '', ...args] = engineEndArgv(kind, workshop.containerName(job));
  // It says so when there is none any more, which is what is wanted.
  spawnSync(program, args, { stdio: 'ignore', timeout: 30_000 });
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
