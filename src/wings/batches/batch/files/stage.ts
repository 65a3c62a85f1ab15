// A copy of every file that a batch names, made once at its start: all jobs are given the same,
// whatever its owner changes meanwhile.

import { createHash } from 'node:crypto';
import { lstatSync, type Stats, statSync } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { refuse } from '../../../../kernel/model/errors.ts';
import { failure } from '../../../../kernel/model/failure.ts';
import type { BatchFile, BatchJob, StagedFile, Variables } from '../../core/batch.ts';
import type { BatchReading } from '../read/read-batch.ts';
import { copyTree } from './copy.ts';
import { fingerprint } from './hash.ts';

export class Stage {
  readonly #places: ReadonlyMap<string, string>;
  readonly #prints: ReadonlyMap<string, string>;

  private constructor(places: ReadonlyMap<string, string>, prints: ReadonlyMap<string, string>) {
    this.#places = places;
    this.#prints = prints;
  }

  /** Copies and hashes; the file of an image is only hashed, for it is read and never written. */
  static async make({ batch, files, folder }: BatchReading, into: string): Promise<Stage> {
    const places = new Map<string, string>();
    const prints = new Map<string, string>();
    await mkdir(into, { recursive: true });
    for (const [index, { path: file, isFolder }] of files.entries()) {
      const source = path.resolve(folder, file);
      const isImage = imageOf(batch) === file;
      const place = isImage ? source : path.join(into, String(index));
      const before = statSync(source);
      if (!isImage) await copyFollowed(source, place);
      prints.set(file, await fingerprint(place, isFolder ? 'folder' : 'file'));
      if (isOther(before, statSync(source))) throw changed(file);
      places.set(file, place);
    }
    return new Stage(places, prints);
  }

  /** Where the copy of a file of the batch is. */
  placeOf(file: string): string {
    const place = this.#places.get(file);
    if (place === undefined) throw new Error(`${file} was not staged`);
    return place;
  }

  printOf(file: string): string {
    return this.#prints.get(file) ?? '';
  }

  /** Lays files under their names into a folder; a later one takes the place of an earlier. */
  async lay(files: readonly StagedFile[], folder: string): Promise<void> {
    await mkdir(folder, { recursive: true });
    for (const { path: file, as } of files) {
      const target = path.join(folder, as);
      await rm(target, { recursive: true, force: true });
      await copyTree(this.placeOf(file), target);
    }
  }
}

/** Stands for all that a job's results come from: another one would be another job. */
export function inputsDigest(batch: BatchFile, job: BatchJob, stage: Stage): string {
  const printed = ({ path: file, as }: StagedFile) => [as, stage.printOf(file)];
  const { solver } = batch;
  const image = imageOf(batch);
  return digestOf({
    solver:
      solver === null
        ? null
        : solver.kind === 'build'
          ? printed(solver.build)
          : [solver.kind, image === null ? solver.image : stage.printOf(image), solver.mounts],
    gpu: solver?.gpu ?? false,
    files: batch.files.map(printed),
    own: job.files.map(printed),
    run: job.run === null ? null : printed(job.run),
    args: job.args,
    ...givenOf({ ...batch.env, ...job.env }),
    outputs: batch.outputs,
  });
}

export function digestOf(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('hex');
}

/** Absent without any, as in results of before there were some. */
function givenOf(env: Variables): { readonly env?: Variables } {
  return Object.keys(env).length === 0 ? {} : { env };
}

function imageOf({ solver }: BatchFile): string | null {
  return solver !== null && solver.kind !== 'build' && solver.isFile ? solver.image : null;
}

/** A link that the batch names is followed; those inside of folders stay links. */
async function copyFollowed(source: string, place: string): Promise<void> {
  const isLink = lstatSync(source).isSymbolicLink();
  const { realpath } = await import('node:fs/promises');
  await copyTree(isLink ? await realpath(source) : source, place);
}

function isOther(before: Stats, after: Stats): boolean {
  return before.mtimeMs !== after.mtimeMs || before.size !== after.size || before.ino !== after.ino;
}

function changed(file: string) {
  const hint = 'Wait until it is written, then try again.';
  return failure(refuse('batch.file_changed', { file }, hint));
}
