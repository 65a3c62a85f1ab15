// A batch as somebody wrote it, in a file or by a builder: keys and types are right, nothing else
// is checked yet. The schema in src/wings/batches/api/batch-file.ts has the same shape.

import type { WrittenOptions } from '../../../kernel/model/options/table.ts';

export type WrittenFile = string | { readonly path: string; readonly as?: string };
/** Numbers and flags stand for their text. */
export type WrittenWord = string | number | boolean;

/** The header fields of Slurm that the batch file knows, as in the seed. */
export const SLURM_KEYS = [
  'job_name',
  'output',
  'nodes',
  'ntasks',
  'cpus_per_task',
  'mem_per_cpu',
  'hint',
  'time',
  'partition',
  'account',
  'mail_user',
  'mail_type',
] as const;
export type SlurmKey = (typeof SLURM_KEYS)[number];
export type WrittenSlurm = { readonly [key in SlurmKey]?: string | number };

export interface WrittenSolver {
  readonly build?: WrittenFile;
  readonly image?: string;
  readonly docker?: string;
  readonly podman?: string;
  readonly mounts?: readonly string[];
  readonly gpu?: boolean;
  readonly time?: WrittenWord;
}

/** What a job asks of a node and of the cluster. */
export interface WrittenAsk extends WrittenOptions<WrittenWord> {
  /** The other way round than `nice`. */
  readonly priority?: number;
}

export type WrittenEnvironment = { readonly [name: string]: WrittenWord };

export interface WrittenDefaults extends WrittenAsk {
  readonly run?: WrittenFile;
  readonly args?: readonly WrittenWord[];
}

export interface WrittenJob extends WrittenDefaults {
  readonly name?: WrittenWord;
  readonly files?: readonly WrittenFile[];
  readonly env?: WrittenEnvironment;
  readonly needs?: readonly string[];
  readonly after?: readonly WrittenWord[];
  readonly slurm?: WrittenSlurm;
}

/** Exactly one of them. */
export interface WrittenNotice {
  readonly matrix?: string;
  readonly webhook?: string;
  readonly command?: string;
  readonly mail?: string;
}

/** What a job asks for stands for all jobs, as in `defaults`. */
export interface WrittenBatch extends WrittenAsk {
  readonly namespace: WrittenWord;
  readonly name: WrittenWord;
  readonly needs?: readonly string[];
  readonly env?: WrittenEnvironment;
  readonly solver?: WrittenSolver;
  readonly files?: readonly WrittenFile[];
  readonly defaults?: WrittenDefaults;
  readonly sweep?: { readonly [key: string]: readonly WrittenWord[] };
  readonly jobs?: readonly WrittenJob[];
  readonly outputs?: readonly string[];
  readonly after?: readonly string[];
  readonly notify?: readonly WrittenNotice[];
  readonly slurm?: WrittenSlurm;
}
