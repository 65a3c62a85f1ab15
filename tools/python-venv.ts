// Virtual environments of Python below .build, with pinned packages from PyPI, for tests against
// foreign programs. Each is made once.

import { spawnSync } from 'node:child_process';
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { ROOT } from './tree.ts';

const SETUP_MS_MAX = 300_000;

export interface PythonSetup {
  /** The folder of its programs; null when it could not be made. */
  readonly bin: string | null;
  /** Why not. */
  readonly reason: string;
}

/** The environment with these packages, made by this Python when it is not there yet. */
export function setUpVenv(
  name: string,
  requirements: readonly string[],
  python = 'python3',
): PythonSetup {
  const folder = path.join(ROOT, '.build', name);
  const bin = path.join(folder, 'bin');
  const mark = path.join(folder, `ready-${requirements.join('-')}`);
  if (existsSync(mark)) return { bin, reason: '' };
  rmSync(folder, { recursive: true, force: true });
  // What is imported is compiled then: compiling all of it takes a third of the time.
  const options = ['--quiet', '--disable-pip-version-check', '--no-compile'];
  const reason =
    attempt(python, ['-m', 'venv', folder]) ??
    attempt(path.join(bin, 'python'), ['-m', 'pip', 'install', ...options, ...requirements]);
  if (reason !== null) return { bin: null, reason };
  writeFileSync(mark, '');
  return { bin, reason: '' };
}

/** Null when it went well. */
function attempt(program: string, args: readonly string[]): string | null {
  const done = spawnSync(program, args, { encoding: 'utf8', timeout: SETUP_MS_MAX });
  if (done.status === 0) return null;
  return `${program} ${args.join(' ')}: ${done.error?.message ?? done.stderr + done.stdout}`;
}
