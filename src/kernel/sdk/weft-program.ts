// The command line, run for a program: it starts and stops what no connection can.

import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { WeftError } from './errors.ts';

/** The `weft` program, at the same place in the package and in its sources. */
const PROGRAM = fileURLToPath(new URL('../../../bin/weft.mjs', import.meta.url));

/** Words for the command line; none for what is not given. */
export function optionOf(flag: string, value: string | number | undefined): string[] {
  return value === undefined ? [] : [flag, String(value)];
}

/** What it says of a failure, whole, is short. */
const WORDS_MAX = 4000;

/**
 * Runs the command line; its standard output. Rejects with this code and what it says of a failure.
 */
export function weft(code: string, args: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const stdio = ['ignore', 'pipe', 'pipe'] as const;
    const child = spawn(process.execPath, [PROGRAM, ...args], { stdio: [...stdio] });
    let words = '';
    let said = '';
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      said += text;
    });
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      words = `${words}${text}`.slice(-WORDS_MAX);
    });
    child.once('error', reject);
    child.once('close', (exitCode) => {
      if (exitCode === 0) return resolve(said);
      const message = words.trim() || `\`weft ${args[0]}\` ended with ${exitCode}.`;
      const details = { exitCode: String(exitCode) };
      reject(new WeftError({ code, kind: 'failed_precondition', message, details }));
    });
  });
}
