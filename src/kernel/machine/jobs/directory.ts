// Where a job runs and where its output goes, as its nodes and its shape allow.

import { refuse } from '../../model/errors.ts';
import {
  type ArraySpec,
  ATTACHED_STDIN,
  CLIENT_STDIN,
  type OutputFiles,
  type ResourceRequest,
  type WorkDirectory,
} from '../../model/job.ts';
import { filesThatStay, separateFiles } from '../../model/output-patterns.ts';
import type { DirectoryChoice, Submission } from '../../model/submission.ts';
import { sharedLabel } from '../nodes/view.ts';
import { Wrong, wrong } from './wrong.ts';

/** Where the job runs; files of its own make it a private directory unless another is named. */
export function wantedDirectory({ directory, staging }: Submission): DirectoryChoice | undefined {
  const isStaged = staging?.inputs !== undefined || (staging?.outputs ?? []).length > 0;
  if (!isStaged || directory === undefined || directory.kind === 'private') return directory;
  if (directory.kind === 'auto') return { kind: 'private' };
  const { path } = directory;
  return wrong(
    `files are brought to a private directory and kept from there, not from ${path}; ` +
      'leave --in and --out out, or the directory',
  );
}

/** Directories that nodes share with the machines users submit from. */
export interface SharedPaths {
  /** Those of the nodes that the job may have by its labels. */
  readonly able: ReadonlySet<string>;
  /** Those of all nodes. */
  readonly all: ReadonlySet<string>;
}

/** The directory, and the label of the nodes that have it. */
export function resolveDirectory(
  wish: DirectoryChoice | undefined,
  shared: SharedPaths,
): { directory: WorkDirectory; labels: readonly string[] } {
  if (wish === undefined || wish.kind === 'private') {
    return { directory: { kind: 'private' }, labels: [] };
  }
  const { path } = wish;
  if (!path.startsWith('/') || path.includes('\0')) wrong(`'${path}' is not an absolute path`);
  if (path.split('/').includes('..')) wrong(`'${path}' has a '..'; write the path without it`);
  if ([...shared.able].some((root) => isInside(path, root))) {
    return { directory: { kind: 'shared', path }, labels: [sharedLabel(needed(path, shared.all))] };
  }
  if (wish.kind === 'auto') return { directory: { kind: 'private' }, labels: [] };
  throw new Wrong(refuse('directory.not_shared', { path }));
}

/**
 * What must be shared, so that exactly the nodes that have the path have it: the least of the
 * directories around it that anybody shares. Not the path itself, by which each directory would be
 * a kind of job of its own; and less than everything, which a node that joins later may not share.
 */
function needed(path: string, roots: ReadonlySet<string>): string {
  const around = [...roots].filter((root) => isInside(path, root));
  const least = around.reduce((a, b) => (b.length > a.length ? b : a), '/');
  return least === '/' ? (/^\/[^/]*/.exec(path)?.[0] ?? path) : least;
}

export function isInside(path: string, root: string): boolean {
  return path === root || path.startsWith(root.endsWith('/') ? root : `${root}/`);
}

export function outputFiles(
  { files = {}, directory: wanted }: Submission,
  directory: WorkDirectory,
  array: ArraySpec | null,
): OutputFiles {
  const isMoved = wanted?.kind === 'auto' && directory.kind === 'private';
  const kept = isMoved ? filesThatStay(files) : files;
  return array === null ? kept : separateFiles(kept);
}

/** The bytes that a client sends are there once: who of several should read them? */
export function checkStdin(
  stdin: string | undefined,
  request: ResourceRequest,
  array: ArraySpec | null,
): void {
  const isAttached = stdin === ATTACHED_STDIN;
  if (stdin !== CLIENT_STDIN && !isAttached) return;
  const processes = request.nodeCount * request.processesPerNode;
  // To one task of an array somebody can attach.
  if (isAttached && processes === 1) return;
  if (processes === 1 && array === null) return;
  const whom = array === null || isAttached ? `${processes} processes` : 'an array';
  wrong(`standard input goes to one process, not to ${whom}; use --stdin FILE, which all can read`);
}
