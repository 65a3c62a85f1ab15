// The seed's `distribute-jobs.yaml` as a batch of ours: the same data under other keys, with the
// way back from our keys to those that the reader of the file wrote.

import type { ProblemPath } from '../../../kernel/files/problem.ts';
import { APPTAINER_NEED } from './needs.ts';
import type { WrittenBatch, WrittenFile, WrittenSlurm } from './written.ts';

export type SeedFile = string | { readonly path: string; readonly alias?: string };

export interface SeedJob {
  readonly name: string | number;
  readonly file?: SeedFile;
  readonly required_files?: readonly SeedFile[];
  readonly slurm?: WrittenSlurm;
}

interface SeedPart<Initialize> {
  readonly initialize: Initialize & { readonly required_files?: readonly SeedFile[] };
  readonly jobs: readonly SeedJob[];
}

type SeedImage = SeedPart<{
  readonly sif: SeedFile;
  readonly required_mounts?: readonly string[];
}>;

export interface SeedJobs {
  readonly meta: {
    readonly batch_name: string | number;
    readonly namespace: string | number;
    readonly matrix?: string;
    readonly capabilities: readonly string[];
  };
  readonly python?: SeedPart<{ readonly build_file: SeedFile }>;
  readonly apptainer?: SeedImage;
  /** Name of apptainer in its older files. */
  readonly singularity?: SeedImage;
  readonly docker?: SeedPart<{
    readonly image: string;
    readonly required_mounts?: readonly string[];
  }>;
  readonly slurm?: WrittenSlurm;
}

export const SEED_KINDS = ['python', 'apptainer', 'singularity', 'docker'] as const;

/** The name that programs of the seed have where they are run. */
const PROGRAM = 'run.py';

/** The first kind that is there; that there is one alone, is checked before. */
export function fromSeedJobs(seed: SeedJobs): WrittenBatch {
  const { meta, python, docker, slurm } = seed;
  const apptainer = seed.apptainer ?? seed.singularity;
  const part = python ?? apptainer ?? docker;
  return {
    namespace: meta.namespace,
    name: meta.batch_name,
    needs: apptainer ? meta.capabilities.map(withoutProgram) : meta.capabilities,
    ...(meta.matrix === undefined ? {} : { notify: [{ matrix: meta.matrix }] }),
    ...(slurm === undefined ? {} : { slurm }),
    solver: {
      ...(python && { build: asProgram(python.initialize.build_file) }),
      ...(!python && apptainer && { image: pathOf(apptainer.initialize.sif) }),
      ...(!python && !apptainer && docker && { docker: docker.initialize.image }),
      gpu: meta.capabilities.includes('gpu'),
      ...(python ? {} : { mounts: (apptainer ?? docker)?.initialize.required_mounts ?? [] }),
    },
    files: (part?.initialize.required_files ?? []).map(fromSeedFile),
    jobs: (part?.jobs ?? []).map((job) => ({
      name: job.name,
      ...(job.file === undefined ? {} : { run: asProgram(job.file) }),
      files: (job.required_files ?? []).map(fromSeedFile),
      ...(job.slurm === undefined ? {} : { slurm: job.slurm }),
    })),
  };
}

/** Which of the two names its program has on a node is no matter. */
function withoutProgram(capability: string): string {
  return ['apptainer', 'singularity'].includes(capability) ? APPTAINER_NEED : capability;
}

/**
 * Where in the seed's file a place of ours is; `at` as in a written batch, `seed` its value there.
 */
export function seedPlace(at: ProblemPath, seed: SeedJobs): ProblemPath {
  const kind = SEED_KINDS.find((one) => seed[one] !== undefined) ?? 'python';
  const initialize = [kind, 'initialize'];
  const [first, second, third, ...rest] = at;
  const place = (path: ProblemPath, more: ProblemPath) => fileKeys([...path, ...more]);
  if (first === 'namespace') return ['meta', 'namespace'];
  if (first === 'name') return ['meta', 'batch_name'];
  if (first === 'needs') return place(['meta', 'capabilities'], at.slice(1));
  if (first === 'notify') return ['meta', 'matrix'];
  if (first === 'files') return place([...initialize, 'required_files'], at.slice(1));
  if (first === 'solver') {
    const own = SOLVER_KEYS[second ?? ''];
    if (own === undefined) return initialize;
    const isText = second === 'build' && typeof seed.python?.initialize.build_file === 'string';
    return isText ? [...initialize, own] : place([...initialize, own], at.slice(2));
  }
  if (first !== 'jobs' || second === undefined) return first === 'jobs' ? [kind, 'jobs'] : at;
  const job = [kind, 'jobs', second];
  if (third === 'run') {
    const file = seed[kind]?.jobs[Number(second)]?.file;
    return typeof file === 'object' ? place([...job, 'file'], rest) : [...job, 'file'];
  }
  if (third === 'files') return place([...job, 'required_files'], rest);
  return third === undefined ? job : [...job, third, ...rest];
}

const SOLVER_KEYS: Readonly<Record<string, string>> = {
  build: 'build_file',
  image: 'sif',
  docker: 'image',
  mounts: 'required_mounts',
};

function fileKeys(at: ProblemPath): ProblemPath {
  return at.map((part) => (part === 'as' ? 'alias' : part));
}

function fromSeedFile(file: SeedFile): WrittenFile {
  if (typeof file === 'string') return file;
  return file.alias === undefined ? file.path : { path: file.path, as: file.alias };
}

function asProgram(file: SeedFile): WrittenFile {
  return { path: pathOf(file), as: PROGRAM };
}

function pathOf(file: SeedFile): string {
  return typeof file === 'string' ? file : file.path;
}
