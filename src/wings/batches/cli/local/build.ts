// Prepares the solver of a local run, once: runs its build program, or lets the container runtime
// load its image.

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { SAVE_FOLDER } from '../../../../kernel/files/folders.ts';
import { refuse } from '../../../../kernel/model/errors.ts';
import { type Failure, failure } from '../../../../kernel/model/failure.ts';
import { removeTree } from '../../batch/files/remove.ts';
import { type BuildSolver, batchTitle } from '../../core/batch.ts';
import { type EngineSolver, isEngineSolver } from '../../core/containers.ts';
import { APPTAINER_CHECK } from '../../core/engine-script.ts';
import { INITIAL_FOLDER, INPUT_FOLDER, programArgv } from '../../core/programs.ts';
import type { ChildEnd } from './child.ts';
import { imageScript } from './container.ts';
import type { Start, Workshop } from './workshop.ts';

/** The end of the log that is shown when a build has failed. */
const LINES_SHOWN = 20;

export interface Built {
  /** What the runtime is told; null where there is no container. */
  readonly image: string | null;
}

/** Rejects with `batch.build_failed`, which names the log. */
export async function build(workshop: Workshop, log: string, cpuCount: number): Promise<Built> {
  const { solver } = workshop.batch;
  mkdirSync(workshop.products, { recursive: true });
  if (solver === null) return { image: null };
  mkdirSync(path.dirname(log), { recursive: true });
  writeFileSync(log, '');
  if (solver.kind === 'build') {
    await runBuild(workshop, solver, { log, cpuCount });
    return { image: null };
  }
  if (isEngineSolver(solver)) return { image: await imageOf(workshop, solver, log) };
  await checkApptainer(workshop, log);
  return { image: solver.isFile ? workshop.stage.placeOf(solver.image) : solver.image };
}

async function runBuild(
  workshop: Workshop,
  { build: program }: BuildSolver,
  { log, cpuCount }: { log: string; cpuCount: number },
): Promise<void> {
  const { batch, stage, products } = workshop;
  const input = path.join(products, INPUT_FOLDER);
  const save = path.join(products, SAVE_FOLDER);
  await stage.lay(batch.files, input);
  if (batch.origin === 'distribute') {
    await stage.lay(batch.files, path.join(products, INITIAL_FOLDER));
  }
  mkdirSync(save);
  await stage.lay([program], products);
  await run(workshop, programArgv(program, []), log, { cpuCount, variables: batch.env });
  // Every job has its own.
  for (const folder of [input, save]) await removeTree(folder);
}

/** Where it is missing, each of the jobs would fail by itself. */
async function checkApptainer(workshop: Workshop, log: string): Promise<void> {
  await run(workshop, ['sh', '-c', APPTAINER_CHECK], log);
}

/** The image's id: its name may come to be that of another image meanwhile. */
async function imageOf(workshop: Workshop, solver: EngineSolver, log: string): Promise<string> {
  const store = workshop.at('image');
  mkdirSync(store);
  const archive = solver.isFile ? workshop.stage.placeOf(solver.image) : null;
  await run(workshop, ['sh', '-c', imageScript(solver, { store, archive })], log);
  return readFileSync(path.join(store, 'image'), 'utf8').trim();
}

/** Runs a part of the build where its products are. Throws when it does not end well. */
async function run(
  workshop: Workshop,
  argv: readonly string[],
  log: string,
  its: Partial<Start> = {},
): Promise<void> {
  const walltimeMs = workshop.batch.buildMs ?? null;
  const plain = { name: '_build', cpuCount: 1, variables: {}, walltimeMs };
  const where = { cwd: workshop.products, stdout: log, stderr: log };
  const end = await workshop.run({ ...plain, argv, ...where, ...its });
  const isGood = end.exitCode === 0 && end.endedBy === 'itself';
  if (!isGood) throw buildFailure(workshop, end, log);
}

function buildFailure({ batch }: Workshop, end: ChildEnd, log: string): Failure {
  const { exitCode, signal, error, endedBy } = end;
  const ended = error ?? (signal === null ? `exit code ${exitCode}` : `ended by ${signal}`);
  const why = { stop: 'it was stopped', timeout: 'its time limit', itself: ended }[endedBy];
  const lines = readFileSync(log, 'utf8').trimEnd().split('\n').slice(-LINES_SHOWN);
  const said = lines.join('\n') === '' ? '' : `\n${lines.join('\n')}`;
  return failure(refuse('batch.build_failed', { batch: batchTitle(batch), why, log, said }));
}
