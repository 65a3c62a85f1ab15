// A program that drives a site (docs/adaptors.md), run over commands that say what a test gives
// them.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { SiteOutput } from '../../src/wings/sites/adaptors/adaptor.ts';

/** Pieces of shell, by the names of the commands that they stand for. */
export type Commands = Readonly<Record<string, string>>;
type Variables = Readonly<Record<string, string>>;

/** Whatever it is called with, a command gives this output. */
export function printing({ stdout, stderr, code }: SiteOutput): string {
  const say = (text: string) => `printf %s '${text.replaceAll("'", "'\\''")}'`;
  return `cat >/dev/null\n${say(stdout)}\n${say(stderr)} >&2\nexit ${code ?? 1}`;
}

/** @param words the program's, to which the operation is added */
export function answerOf(
  words: readonly string[],
  operation: string,
  commands: Commands,
  asked: Variables = {},
): SiteOutput {
  const bin = mkdtempSync(join(tmpdir(), 'weft-site-program-'));
  try {
    for (const [name, text] of Object.entries(commands)) {
      writeFileSync(join(bin, name), `#!/bin/sh\n${text}\n`, { mode: 0o755 });
    }
    mkdirSync(join(bin, 'tmp'));
    const env = { ...process.env, ...asked };
    env.PATH = `${bin}:${process.env.PATH}`;
    env.TMPDIR = join(bin, 'tmp');
    const [program = '', ...others] = [...words, operation];
    const { stdout, stderr, status } = spawnSync(program, others, {
      env,
      encoding: 'utf8',
      input: '{}',
    });
    assert.notEqual(status, null, `${program} ${operation}: ${stderr}`);
    return { stdout, stderr, code: status };
  } finally {
    rmSync(bin, { recursive: true });
  }
}
