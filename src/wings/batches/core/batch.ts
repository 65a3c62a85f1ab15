// A batch: jobs submitted together with their files and, where there is one, the solver that is
// prepared once per node. All that files of either kind say comes down to this.

import type { SlurmKey } from './written.ts';

/** A file or folder of the submitter, and the name that it gets where it is used. */
export interface StagedFile {
  /** Unchanged; relative to the folder of the batch file. */
  readonly path: string;
  readonly as: string;
}

interface SolverBase {
  readonly gpu: boolean;
}

/** A program that is run once per node; its work directory is where every job begins. */
export interface BuildSolver extends SolverBase {
  readonly kind: 'build';
  readonly build: StagedFile;
}

/** An image whose own program every job runs. */
export interface ContainerSolver extends SolverBase {
  readonly kind: 'apptainer' | 'docker' | 'podman';
  /** A file of the submitter, or a name and tag that the node's runtime knows. */
  readonly image: string;
  readonly isFile: boolean;
  /** Folders in the container that each job may write to. */
  readonly mounts: readonly string[];
}

export type Solver = BuildSolver | ContainerSolver;

/** The text of each field that was set. */
export type SlurmFields = Readonly<Partial<Record<SlurmKey, string>>>;

/** Variables of the environment, by name. */
export type Variables = Readonly<Record<string, string>>;

export interface BatchJob {
  readonly name: string;
  /** Brought along and run; null: the container's own program. */
  readonly run: StagedFile | null;
  /** `{{cpus}}` stands for the number of cpus, which is known at the start. */
  readonly args: readonly string[];
  readonly files: readonly StagedFile[];
  /** The job's own variables, over those of the batch. */
  readonly env: Variables;
  /** Names of jobs of the batch that have to complete before. */
  readonly after: readonly string[];
  /** Beside those of the batch. */
  readonly needs: readonly string[];
  /** Null: all cores of the node, as the seed does. */
  readonly cpuCount: number | null;
  /** Null when nothing was said of them; a job that has a whole node has all that are there. */
  readonly gpuCount: number | null;
  /** Null: any. */
  readonly gpuType: string | null;
  /**
   * What each of them has at least, and how much of each is the job's; null: any, and all of it.
   */
  readonly gpuMemoryBytes: number | null;
  readonly gpuShareBytes: number | null;
  /** Joined with each other so. Absent: however they are. */
  readonly gpuLinks?: 'nvlink';
  readonly memoryBytes: number | null;
  readonly walltimeMs: number | null;
  readonly retriesMax: number;
  /** Null: the one that the cluster gives to jobs that name none, as of `qos`. */
  readonly partition: string | null;
  readonly qos: string | null;
  /** Above 0 goes before others of its user, below 0 after them. */
  readonly priority: number;
  readonly slurm: SlurmFields;
}

export type Notice =
  | { readonly kind: 'matrix'; readonly user: string }
  | { readonly kind: 'webhook'; readonly url: string }
  | { readonly kind: 'command'; readonly command: string }
  | { readonly kind: 'mail'; readonly address: string };

export interface BatchFile {
  readonly namespace: string;
  readonly name: string;
  /** `distribute`: read from the seed's file, whose contract then holds to the letter. */
  readonly origin: 'weft' | 'distribute';
  readonly needs: readonly string[];
  /** Variables of the build and all jobs. */
  readonly env: Variables;
  readonly solver: Solver | null;
  /** How long a node may take to build it; absent: as long as the cluster lets it. */
  readonly buildMs?: number;
  /** For the build and all jobs. */
  readonly files: readonly StagedFile[];
  readonly jobs: readonly BatchJob[];
  /** Patterns on paths in the save folder; with `!` they take away. */
  readonly outputs: readonly string[];
  readonly after: readonly { readonly namespace: string; readonly name: string }[];
  readonly notices: readonly Notice[];
  /** Those of the whole batch; a job's own stand over them, field by field. */
  readonly slurm: SlurmFields;
}

/** `alice_wing/sweep_01`. */
export function batchTitle({ namespace, name }: Pick<BatchFile, 'namespace' | 'name'>): string {
  return `${namespace}/${name}`;
}
