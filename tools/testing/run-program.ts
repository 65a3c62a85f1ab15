// Runs a stage that is a program of its own and reads what it came to.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { ROOT } from '../tree.ts';
import { COMPILED_ONCE } from './compiled-once.ts';
import type { StageResult } from './result.ts';
import type { ProgramStage } from './stages.ts';

/** Served when no other process wants a processor. */
const LAST = ['nice', '-n', '19'] as const;
const SUMMARY = /^(\d+) passed, (\d+) failed$/;

/** The compiler is a program in Go, and would spend half its time on collecting garbage. */
export const SPARING = { GOGC: '400' } as const;

/** Runs the program, prints what it prints but its summary, and counts. */
export async function runProgram(stage: ProgramStage): Promise<StageResult> {
  const [script, ...args] = stage.command;
  const before = stage.isPatient === true ? LAST : [];
  const [program, ...rest] = [...before, process.execPath, path.join(ROOT, script), ...args];
  const child = spawn(program, rest, {
    cwd: ROOT,
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, ...COMPILED_ONCE, ...SPARING },
  });
  const ended = once(child, 'close');
  let summary: string | undefined;
  for await (const line of createInterface({ input: child.stdout })) {
    // The whole run has one summary line, its last: whoever reads it must find no other.
    if (SUMMARY.test(line)) summary = line;
    else console.log(line);
  }
  const [code, signal] = await ended;
  if (code !== 0) console.log(`${script} ended with ${signal ?? code}`);
  return readSummary(summary, code);
}

/**
 * Counts from a summary, else the program is one check. The exit code has the last word: a program
 * that did not succeed is at least one failure, whatever it says.
 */
export function readSummary(summary: string | undefined, exitCode: number | null): StageResult {
  const succeeded = exitCode === 0;
  const counts = SUMMARY.exec(summary ?? '');
  const passed = counts ? Number(counts[1]) : Number(succeeded);
  const failed = counts ? Number(counts[2]) : 0;
  return { passed, failed: succeeded ? failed : Math.max(failed, 1), skipped: 0, tests: [] };
}
