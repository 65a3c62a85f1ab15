// Sets Python up for the clients of examples/python: a virtual environment below .build with the
// generator and httpx, pinned. Run by the test of the clients; made once.

import { spawnSync } from 'node:child_process';
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { ROOT } from './tree.ts';

/** What the venv gets; the last release that was tried. */
const REQUIREMENTS = ['openapi-python-client==0.29.1', 'httpx==0.28.1'];
const FOLDER = path.join(ROOT, '.build', 'python');
const SETUP_MS_MAX = 300_000;

export interface PythonSetup {
  /** The folder of its programs; null when it could not be made. */
  readonly bin: string | null;
  /** Why not. */
  readonly reason: string;
}

/** The environment, made when it is not there yet. */
export function setUpPython(): PythonSetup {
  const bin = path.join(FOLDER, 'bin');
  const mark = path.join(FOLDER, `ready-${REQUIREMENTS.join('-')}`);
  if (existsSync(mark)) return { bin, reason: '' };
  rmSync(FOLDER, { recursive: true, force: true });
  const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check'];
  const reason =
    attempt('python3', ['-m', 'venv', FOLDER]) ??
    attempt(path.join(bin, 'python'), [...pip, ...REQUIREMENTS]);
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
