// Writes a folder that a Slurm somewhere else can run. Written again it is brought up to date: what
// has changed is to be run again, results of the rest stay.

import { existsSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { chmod, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { refuse } from '../../../../kernel/model/errors.ts';
import { type Failure, failure } from '../../../../kernel/model/failure.ts';
import { type BatchFile, type BatchJob, batchTitle } from '../../core/batch.ts';
import {
  buildScript,
  type Inputs,
  jobScript,
  LAYOUT,
  submitScript,
  uploadScript,
} from '../../core/slurm/scripts.ts';
import { writeDurably } from '../archive/job-archive.ts';
import { copyTree } from '../files/copy.ts';
import { removeTree } from '../files/remove.ts';
import { digestOf, inputsDigest, Stage } from '../files/stage.ts';
import type { BatchReading } from '../read/read-batch.ts';

export interface ExportRequest {
  readonly folder: string;
  /** `user@host:folder`, for uploads without a word. */
  readonly destination: string | null;
}

export interface Exported {
  /** Jobs whose results are there, and would be the same again. */
  readonly kept: number;
}

/** What an export says of itself. */
interface Marker {
  readonly version: 1;
  readonly batch: string;
}

const MARKER = 'weft-export.json';
const STAGING = '.staging';

export async function exportSlurm(reading: BatchReading, wish: ExportRequest): Promise<Exported> {
  const { batch } = reading;
  checkFolder(batch, wish.folder);
  mkdirSync(wish.folder, { recursive: true });
  const staging = path.join(wish.folder, STAGING);
  await removeTree(staging);
  try {
    const stage = await Stage.make(reading, staging);
    return await new SlurmFolder(batch, stage, wish).write();
  } finally {
    await removeTree(staging);
  }
}

class SlurmFolder {
  readonly #batch: BatchFile;
  readonly #stage: Stage;
  readonly #wish: ExportRequest;

  constructor(batch: BatchFile, stage: Stage, wish: ExportRequest) {
    this.#batch = batch;
    this.#stage = stage;
    this.#wish = wish;
  }

  async write(): Promise<Exported> {
    const marker: Marker = { version: 1, batch: batchTitle(this.#batch) };
    await writeDurably(this.#at(MARKER), `${JSON.stringify(marker)}\n`);
    const inputs = this.#inputs();
    await this.#writeFiles();
    await this.#writeBuild(inputs.build);
    let kept = 0;
    for (const job of this.#batch.jobs) {
      const own = inputs.jobs.get(job.name) ?? '';
      await this.#writeJob(job, own);
      if (this.#isDone(job, own)) kept += 1;
    }
    const { destination } = this.#wish;
    await this.#writeProgram(submitScript(this.#batch, inputs), LAYOUT.submit);
    await this.#writeProgram(uploadScript(this.#batch, destination), LAYOUT.upload);
    return { kept };
  }

  #inputs(): Inputs {
    const { solver, files, jobs, env } = this.#batch;
    const build = solver?.kind === 'build' ? this.#stage.printOf(solver.build.path) : '';
    const given = files.map(({ path: file, as }) => [as, this.#stage.printOf(file)]);
    const each = jobs.map((job) => {
      return [job.name, inputsDigest(this.#batch, job, this.#stage)] as const;
    });
    return {
      build: digestOf(Object.keys(env).length === 0 ? [build, given] : [build, given, env]),
      jobs: new Map(each),
    };
  }

  #isDone(job: BatchJob, inputs: string): boolean {
    const read = (name: string): string => {
      const file = this.#at(LAYOUT.jobs, job.name, name);
      return existsSync(file) ? readFileSync(file, 'utf8').trim() : '';
    };
    return read(LAYOUT.inputs) === inputs && read(LAYOUT.exitCode) === '0';
  }

  async #writeFiles(): Promise<void> {
    const { solver, files } = this.#batch;
    await removeTree(this.#at(LAYOUT.files));
    await this.#stage.lay(files, this.#at(LAYOUT.files, 'input'));
    if (solver === null || solver.kind === 'build' || !solver.isFile) return;
    await copyTree(this.#stage.placeOf(solver.image), this.#at(LAYOUT.imageFile));
  }

  async #writeBuild(inputs: string): Promise<void> {
    const { solver } = this.#batch;
    const script = buildScript(this.#batch, inputs);
    if (script === null || solver?.kind !== 'build') return removeTree(this.#at(LAYOUT.build));
    const program = this.#at(LAYOUT.build, LAYOUT.own, 'program');
    await removeTree(program);
    await this.#stage.lay([solver.build], program);
    await this.#writeProgram(script, LAYOUT.build, LAYOUT.buildScript);
  }

  async #writeJob(job: BatchJob, inputs: string): Promise<void> {
    const own = this.#at(LAYOUT.jobs, job.name, LAYOUT.own);
    await removeTree(own);
    await this.#stage.lay(job.files, path.join(own, 'input'));
    if (job.run !== null) await this.#stage.lay([job.run], path.join(own, 'program'));
    const script = jobScript(this.#batch, job, inputs);
    await this.#writeProgram(script, LAYOUT.jobs, job.name, LAYOUT.script);
  }

  async #writeProgram(text: string, ...names: string[]): Promise<void> {
    await writeFile(this.#at(...names), text);
    await chmod(this.#at(...names), 0o755);
  }

  #at(...names: string[]): string {
    return path.join(this.#wish.folder, ...names);
  }
}

/** New, empty, or an export of this batch; anything else is refused. */
function checkFolder(batch: BatchFile, folder: string): void {
  if (!existsSync(folder)) return;
  if (!statSync(folder).isDirectory()) throw notAnExport(batch, folder);
  if (readdirSync(folder).length === 0) return;
  try {
    const text = readFileSync(path.join(folder, MARKER), 'utf8');
    const marker = JSON.parse(text) as Partial<Marker> | null;
    if (marker?.version === 1 && marker.batch === batchTitle(batch)) return;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'ENOENT' && !(error instanceof SyntaxError)) throw error;
  }
  throw notAnExport(batch, folder);
}

function notAnExport(batch: BatchFile, folder: string): Failure {
  return failure(refuse('batch.not_an_export', { folder, batch: batchTitle(batch) }));
}
