// Local runs of batches in a folder of a test: the command line in this process, and what it has
// made.

import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { runWeft } from '../../../../../src/kernel/cli/main.ts';
import { type Manifest, parseManifest } from '../../../../../src/kernel/files/manifest.ts';
import { CODES, type Code, KINDS } from '../../../../../src/kernel/model/errors.ts';
import { walk } from '../../../../../src/kernel/transfer/walk.ts';
import { capture, type Said } from '../../../kernel/cli/fake-head.ts';

export function runLocally(cwd: string, ...argv: string[]): Promise<Said> {
  return runWith(cwd, {}, ...argv);
}

export function runWith(
  cwd: string,
  environment: Readonly<Record<string, string>>,
  ...argv: string[]
): Promise<Said> {
  const PATH = process.env['PATH'] ?? '';
  return capture(
    cwd,
    {
      program: 'weft',
      argv: ['batch', 'run', '--local', ...argv],
      cwd,
      environment: { PATH, ...environment },
    },
    runWeft,
  );
}

export function manifestOf(folder: string): Manifest {
  const read = parseManifest(readFileSync(path.join(folder, '_weft', 'manifest.json'), 'utf8'));
  if (!read.ok) throw new Error(read.error);
  return read.value;
}

/** Everything below a folder but what the archive says itself; folders end in `/`. */
export function treeOf(folder: string): string[] {
  const found = existsSync(folder) ? [...walk(folder)] : [];
  const names = found.map(({ path: name, kind }) => (kind === 'folder' ? `${name}/` : name));
  return names.filter((name) => !name.includes('_weft/'));
}

export function textOf(...names: string[]): string {
  return readFileSync(path.join(...names), 'utf8');
}

/** Says it in the words of this code, and ends as its kind does. */
export function assertRefused({ code, error }: Said, refusal: Code): void {
  const words = CODES[refusal].text.split(/\{\w+\}/).map((part) => part.replace(/[()]/g, '\\$&'));
  assert.match(error, new RegExp(words.join('[^]*')));
  assert.equal(code, KINDS[CODES[refusal].kind].exit);
}
