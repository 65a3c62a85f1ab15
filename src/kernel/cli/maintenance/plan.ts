// From the options of `weft maint node-off` to what is asked of the head.

import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { Body } from '../../api/routes.ts';
import { didYouMean } from '../../base/nearest-word.ts';
import { fileProblem } from '../../config/file-problem.ts';
import { usage } from '../../model/failure.ts';
import { parseNodeName } from '../../model/ids.ts';
import { SCRIPT_BYTES_MAX } from '../../model/limits.ts';
import { RUNNING_POLICIES, type RunningPolicy } from '../../model/maintenance.ts';
import { parseNeed, parseSignal } from '../../model/submission-values.ts';
import { listed, read, readAll, readInstant, readLength, readWindow } from '../submit/read.ts';

/** The options as commander leaves them. */
export interface PlanOptions {
  readonly needs?: readonly string[];
  readonly at?: string;
  readonly within?: string;
  readonly now?: boolean;
  readonly duration?: string;
  readonly running?: string;
  readonly warn?: string;
  readonly signal?: string;
  readonly program?: string;
  readonly script?: string;
  readonly as?: string;
  readonly restarts?: boolean;
  readonly reason?: string;
}

interface Here {
  readonly now: number;
  readonly cwd: string;
}

type PlanProgram = NonNullable<Body<'planMaintenance'>['program']>;

type Time =
  | { kind: 'now' }
  | { kind: 'fixed'; from: number }
  | { kind: 'flexible'; notBefore: number; until: number };

/** The request; throws a usage failure that names the option. */
export function makePlan(
  names: readonly string[],
  options: PlanOptions,
  here: Here,
): Body<'planMaintenance'> {
  const nodes = names.flatMap((text) => listed(text) ?? []);
  const labels = readAll('--needs', options.needs, parseNeed) ?? [];
  if (nodes.length + labels.length === 0)
    throw usage('name the nodes, or choose them with --needs');
  return {
    nodes: readAll('the nodes', nodes, parseNodeName) ?? [],
    labels,
    time: readTime(options, here.now),
    durationMs: readLength('--duration', options.duration ?? ''),
    running: readPolicy(options.running ?? 'wait'),
    warning: readWarning(options),
    program: readProgram(options, here.cwd),
    reason: readReason(options.reason ?? 'maintenance'),
  };
}

function readTime({ at, within, now: isNow }: PlanOptions, now: number): Time {
  const given = [at, within, isNow].filter((one) => one !== undefined);
  if (given.length !== 1) throw usage('say when it starts, with one of --at, --within and --now');
  if (at !== undefined) return { kind: 'fixed', from: readInstant('--at', at, now) };
  if (within === undefined) return { kind: 'now' };
  return { kind: 'flexible', ...readWindow('--within', within, now) };
}

function readReason(text: string): string {
  if (text.trim() === '')
    throw usage('--reason: give a reason; users who wait for the nodes see it');
  return text;
}

function readPolicy(text: string): RunningPolicy {
  const policy = RUNNING_POLICIES.find((one) => one === text);
  if (policy !== undefined) return policy;
  const words = `'${text}' is not one of ${RUNNING_POLICIES.join(', ')}.`;
  throw usage(`--running: ${words}${didYouMean(text, RUNNING_POLICIES)}`);
}

function readWarning({ warn, signal }: PlanOptions) {
  if (warn === undefined) {
    if (signal !== undefined)
      throw usage('--signal needs --warn, which says how long before the start');
    return null;
  }
  return {
    leadMs: readLength('--warn', warn),
    signal: read('--signal', signal ?? 'TERM', parseSignal),
  };
}

function readProgram(
  { program: line, script, as, restarts }: PlanOptions,
  cwd: string,
): PlanProgram | null {
  if (line !== undefined && script !== undefined) {
    throw usage('--program and --script exclude each other');
  }
  if (line === undefined && script === undefined) {
    if (as === undefined && restarts !== true) return null;
    throw usage('--as and --restarts need --program or --script');
  }
  if (line?.trim() === '') throw usage('--program: the command is empty');
  const program: PlanProgram['program'] =
    script === undefined ? { kind: 'shell', line: line ?? '' } : readScript(script, cwd);
  return { program, restarts: restarts === true, account: as };
}

function readScript(file: string, cwd: string): PlanProgram['program'] {
  try {
    const text = readFileSync(path.resolve(cwd, file), 'utf8');
    if (text.trim() === '') throw usage(`--script: ${file} is empty`);
    if (text.length > SCRIPT_BYTES_MAX) throw usage(`--script: ${file} is too large`);
    return { kind: 'script', text, args: [] };
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === undefined) throw cause;
    throw usage(`--script: cannot read ${file}: ${fileProblem(cause)}`);
  }
}
