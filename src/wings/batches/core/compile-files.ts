// Files and the solver of a written batch: what they are called where they are used.

import type { FileUse, Findings } from '../../../kernel/files/findings.ts';
import {
  baseName,
  fileNameProblem,
  pathProblem,
  programNameProblem,
} from '../../../kernel/files/names.ts';
import type { ProblemPath } from '../../../kernel/files/problem.ts';
import { isImageName } from '../../../kernel/model/container-engine.ts';
import type { Solver, StagedFile } from './batch.ts';
import type { WrittenFile, WrittenSolver } from './written.ts';

const SOLVERS = ['build', 'image', 'docker', 'podman'] as const;
const SAID = 'build, image (of apptainer), docker or podman';
const IMAGE_FILE = /\.tar(\.(gz|xz|zst|bz2))?$|\.tgz$/;
/** Runtimes separate with these what they bind. */
const MOUNT = /^\/[^\0,:\n]{1,1000}$/;

/** One file that is laid under its name into a folder of a job. */
export function compileFile(
  written: WrittenFile,
  at: ProblemPath,
  { must, fill, findings }: FileReading,
): StagedFile {
  const isText = typeof written === 'string';
  const pathAt = isText ? at : [...at, 'path'];
  const path = fill(isText ? written : written.path, pathAt);
  const given = isText || written.as === undefined ? null : fill(written.as, [...at, 'as']);
  const as = given ?? baseName(path);
  const wrongPath = pathProblem(path);
  findings.problem(pathAt, wrongPath);
  if (wrongPath === null) findings.use({ path, at: pathAt, must });
  const wrongName = must === 'program' ? programNameProblem(as) : fileNameProblem(as);
  if (given !== null) findings.problem([...at, 'as'], wrongName);
  else if (wrongPath === null && as === '') {
    findings.problem(pathAt, `'${path}' has no name of its own; give it one with 'as'`);
  } else if (wrongPath === null) findings.problem(pathAt, wrongName);
  return { path, as };
}

export interface FileReading {
  readonly must: FileUse['must'];
  /** Puts the values of a sweep in. */
  readonly fill: (text: string, at: ProblemPath) => string;
  readonly findings: Findings;
}

/** Files that lie in one folder together: no two of one name. */
export function compileFiles(
  written: readonly WrittenFile[],
  at: ProblemPath,
  reading: FileReading,
): StagedFile[] {
  const names = new Map<string, number>();
  return written.map((one, index) => {
    const file = compileFile(one, [...at, index], reading);
    const other = names.get(file.as);
    if (other !== undefined && file.as !== '') {
      const what = `'${file.as}' is the name of file ${other + 1} of this list already; give one another name with 'as'`;
      reading.findings.problem([...at, index], what);
    }
    names.set(file.as, index);
    return file;
  });
}

/** Exactly one kind; null when there is none, and the jobs run their own programs. */
export function compileSolver(
  written: WrittenSolver | undefined,
  reading: FileReading,
): Solver | null {
  if (written === undefined) return null;
  const { findings } = reading;
  const at: ProblemPath = ['solver'];
  const kinds = SOLVERS.filter((kind) => written[kind] !== undefined);
  const [kind, ...others] = kinds;
  if (kind === undefined) findings.problem(at, `needs one of ${SAID}`);
  for (const other of others) {
    const what = `'${kind}' is there already; a batch has one solver: ${SAID}`;
    findings.problem([...at, other], what, 'key');
  }
  const mounts = compileMounts(written.mounts ?? [], findings);
  const gpu = written.gpu ?? false;
  if (written.build !== undefined) {
    if (mounts.length > 0 && others.length === 0) {
      findings.problem([...at, 'mounts'], 'only a container has mounts', 'key');
    }
    const build = compileFile(written.build, [...at, 'build'], { ...reading, must: 'program' });
    return { kind: 'build', build, gpu };
  }
  if (kind === undefined || kind === 'build') return null;
  const image = written[kind] ?? '';
  const isFile = kind === 'image' || IMAGE_FILE.test(image);
  checkImage(image, isFile, { at: [...at, kind], findings });
  return { kind: kind === 'image' ? 'apptainer' : kind, image, isFile, mounts, gpu };
}

function checkImage(
  image: string,
  isFile: boolean,
  { at, findings }: { at: ProblemPath; findings: Findings },
): void {
  const wrong = pathProblem(image);
  findings.problem(at, wrong);
  if (wrong !== null) return;
  if (isFile) findings.use({ path: image, at, must: 'file' });
  else if (!isImageName(image)) {
    const what = `'${image}' is neither an archive (.tar) nor the name of an image, as debian:12`;
    findings.problem(at, what);
  }
}

function compileMounts(mounts: readonly string[], findings: Findings): readonly string[] {
  const taken = new Set(['/input', '/distribute_save']);
  for (const [index, mount] of mounts.entries()) {
    const at = ['solver', 'mounts', index];
    if (!MOUNT.test(mount) || mount.split('/').includes('..')) {
      const form =
        "expected a path in the container that begins with / and has no ':', ',' or '..'";
      findings.problem(at, `'${mount}': ${form}`);
    } else if (taken.has(mount)) findings.problem(at, `'${mount}' is mounted already`);
    taken.add(mount);
  }
  return mounts;
}
