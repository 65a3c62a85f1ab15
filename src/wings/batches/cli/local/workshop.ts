// What builds and jobs of a local run have in common: the folders that they work in, how they are
// started, and how they are told to end.

import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { CARRIED_PREFIX } from '../../../../kernel/config/carried.ts';
import type { Environment } from '../../../../kernel/config/config.ts';
import { folderOf, writeMark } from '../../../../kernel/connect/process-file.ts';
import { SAVE_FOLDER } from '../../../../kernel/files/folders.ts';
import { digestOf, type Stage } from '../../batch/files/stage.ts';
import { type BatchFile, batchTitle } from '../../core/batch.ts';
import { INPUT_FOLDER } from '../../core/programs.ts';
import { type ChildEnd, runChild } from './child.ts';
import { type ContainerName, endContainer } from './container.ts';

export interface Stops {
  /** Aborted at the first wish to end: what runs is asked to, and what it has made is kept. */
  readonly stop: AbortSignal;
  /** Aborted at the second: at once. */
  readonly kill: AbortSignal;
}

export interface WorkshopParts {
  readonly batch: BatchFile;
  readonly stage: Stage;
  /** This run's own; goes when it is over. */
  readonly folder: string;
  readonly node: string;
  readonly environment: Environment;
  readonly stops: Stops;
}

/** Where what is started says which process it is. */
export const PIDS_FOLDER = 'pids';
/** Names the variable that all carry that this run has started. */
export const CARRIED_FILE = 'carried';
/** A file for each container that may be there, by engine. */
export const CONTAINERS_FOLDER = 'containers';

export interface Start {
  /** Names the build or the job in files and containers. */
  readonly name: string;
  readonly argv: readonly string[];
  /** What is given to it, and what is kept of it, have their folders there. */
  readonly cwd: string;
  readonly cpuCount: number;
  /** Variables of the batch and the job, over those of whoever runs it. */
  readonly variables: Readonly<Record<string, string>>;
  readonly walltimeMs: number | null;
  readonly stdout: string;
  readonly stderr: string;
  /** The one that it starts; absent: none. */
  readonly container?: ContainerName;
}

export class Workshop {
  readonly batch: BatchFile;
  readonly stage: Stage;
  readonly folder: string;
  readonly node: string;
  readonly stops: Stops;
  readonly #environment: Environment;
  readonly #carried = `${CARRIED_PREFIX}${randomBytes(8).toString('hex')}`;

  constructor(parts: WorkshopParts) {
    this.batch = parts.batch;
    this.stage = parts.stage;
    this.folder = parts.folder;
    this.node = parts.node;
    this.stops = parts.stops;
    this.#environment = parts.environment;
    mkdirSync(this.at(PIDS_FOLDER), { recursive: true });
    // Before anything is started: a run may be killed before it has noted the process.
    const file = this.at(CARRIED_FILE);
    writeFileSync(file, JSON.stringify({ variable: this.#carried, folder: folderOf(file) }));
  }

  at(...names: string[]): string {
    return path.join(this.folder, ...names);
  }

  /** What a build has left; where there is none, an empty folder. */
  get products(): string {
    return this.at('build');
  }

  async run(start: Start): Promise<ChildEnd> {
    const { name, argv, cwd, walltimeMs, stdout, stderr, container } = start;
    const mark = this.at(PIDS_FOLDER, digestOf(name));
    if (container !== undefined) this.#noteContainer(container);
    const end = await runChild({
      argv,
      cwd,
      walltimeMs,
      stdout,
      stderr,
      isTethered: container !== undefined,
      environment: this.#environmentOf(start),
      ...this.stops,
      onProcess: (pid) => {
        if (pid === null) rmSync(mark, { force: true });
        else writeMark(mark, pid);
      },
    });
    if (container !== undefined) await this.#overContainer(container, end);
    return end;
  }

  /** Before it can be there. */
  #noteContainer({ kind, name }: ContainerName): void {
    mkdirSync(this.at(CONTAINERS_FOLDER, kind), { recursive: true });
    const note = this.at(CONTAINERS_FOLDER, kind, name);
    writeFileSync(note, folderOf(note));
  }

  /** What was ended in the middle may have left its container. */
  async #overContainer(container: ContainerName, { endedBy, signal }: ChildEnd): Promise<void> {
    if (endedBy !== 'itself' || signal !== null) await endContainer(container);
    rmSync(this.at(CONTAINERS_FOLDER, container.kind, container.name), { force: true });
  }

  /** Whether what is started finds it. */
  hasProgram(name: string): boolean {
    const folders = this.#environment['PATH']?.split(':') ?? [];
    return folders.some((folder) => existsSync(path.join(folder, name)));
  }

  /** The same whenever this job of this folder is started. */
  containerName(job: string): string {
    return `weft-${digestOf([this.folder, job]).slice(0, 16)}`;
  }

  #environmentOf(start: Start): Record<string, string | undefined> {
    const { name, cwd, variables } = start;
    const cpus = String(start.cpuCount);
    return {
      OMP_NUM_THREADS: cpus,
      ...this.#environment,
      ...variables,
      WEFT_BATCH: batchTitle(this.batch),
      WEFT_JOB_NAME: name,
      WEFT_CPUS: cpus,
      WEFT_INPUT: path.join(cwd, INPUT_FOLDER),
      WEFT_SAVE: path.join(cwd, SAVE_FOLDER),
      [this.#carried]: '1',
    };
  }
}
