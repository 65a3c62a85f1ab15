// Paths that a job names and that do not exist: known at submission when its nodes are here.

import { existsSync, statSync } from 'node:fs';
import path from 'node:path';
import { type Failure, usage } from '../../model/failure.ts';
import type { Submission } from '../../model/submission.ts';
import type { Context } from '../context.ts';
import { LocalPaths } from '../daemons/local-paths.ts';

/** Throws a usage failure for a directory or a standard input that no node can have. */
export async function checkPaths(context: Context, submission: Submission): Promise<void> {
  const wrong = wrongChdir(submission) ?? wrongStdin(submission);
  if (wrong !== null && (await runsHere(context))) throw wrong;
}

function wrongChdir({ directory }: Submission): Failure | null {
  if (directory?.kind !== 'shared' || isDirectory(directory.path)) return null;
  const what = existsSync(directory.path) ? 'is not a directory' : 'does not exist';
  return usage(`--chdir: ${directory.path} ${what}`);
}

function wrongStdin({ directory, files = {} }: Submission): Failure | null {
  const { stdin } = files;
  // A pattern names another file for each process; `-` is what comes with the command.
  if (stdin === undefined || stdin === '-' || stdin.includes('%')) return null;
  if (directory === undefined || directory.kind === 'private') return null;
  const file = path.resolve(directory.path, stdin);
  if (!existsSync(file)) return usage(`--stdin: ${file} does not exist`);
  return isDirectory(file) ? usage(`--stdin: ${file} is a directory`) : null;
}

function isDirectory(name: string): boolean {
  return existsSync(name) && statSync(name).isDirectory();
}

/** All nodes of the cluster are the ones that `weft up` has made on this machine. */
async function runsHere(context: Context): Promise<boolean> {
  const paths = new LocalPaths(context.directory);
  if (!existsSync(paths.cluster)) return false;
  const api = await context.api();
  if (api.address !== paths.socket) return false;
  const { nodes } = await api.call('listNodes');
  return nodes.length > 0 && nodes.every(({ name }) => existsSync(paths.nodeOptions(name)));
}
