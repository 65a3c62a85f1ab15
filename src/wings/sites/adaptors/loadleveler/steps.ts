// Job steps as `llq -l` lists them: a heading for each, `Name: value` lines below it, and behind all
// of them a line that says how many there are.

import { ok, type Result } from '../../../../kernel/base/result.ts';
import type { SiteOutput, SiteProblem } from '../adaptor.ts';
import { unreadable } from '../read.ts';
import { failure } from './failure.ts';

export interface Step {
  readonly id: string;
  /** By their names; of those that are there again, as in what follows on its nodes, the first. */
  readonly fields: ReadonlyMap<string, string>;
  readonly hosts: readonly string[];
}

const HEADING = /^=+ Job Step (\S+) =+$/;
const TOTAL = /^(\d+) job step\(s\) in query, .*\bpreempted\s*$/m;
const NOTHING = /^llq: There is currently no job status to report\.?$/;

export function stepsIn(output: SiteOutput): Result<readonly Step[], SiteProblem> {
  if (output.code !== 0) return failure('llq', output);
  const text = output.stdout.trim();
  if (NOTHING.test(text) || (text === '' && NOTHING.test(output.stderr.trim()))) return ok([]);
  const total = TOTAL.exec(output.stdout)?.[1];
  if (total === undefined) return unreadable('llq', 'its answer has no line with a total');
  const steps: Step[] = [];
  for (const lines of partsOf(output.stdout.split('\n'))) steps.push(stepOf(lines));
  if (steps.length === Number(total)) return ok(steps);
  return unreadable('llq', `it has ${steps.length} steps and says ${total}`);
}

function partsOf(lines: readonly string[]): string[][] {
  const parts: string[][] = [];
  for (const line of lines) {
    if (HEADING.test(line)) parts.push([line]);
    else parts.at(-1)?.push(line);
  }
  return parts;
}

function stepOf(lines: readonly string[]): Step {
  const fields = new Map<string, string>();
  const hosts = new Set<string>();
  let isHosts = false;
  for (const line of lines) {
    const [, name, value = ''] = /^ *([A-Za-z][\w./ ]*?) *: ?(.*?) *$/.exec(line) ?? [];
    if (name !== undefined && !fields.has(name)) fields.set(name, value);
    if (name === 'Allocated Host' && /^\S+$/.test(value)) hosts.add(value);
    // The first is behind its name, each other in a line of its own.
    isHosts = name === 'Allocated Hosts' || (isHosts && /^ *\+ /.test(line));
    const [, host] = isHosts ? (/(?:: |\+ )([^\s:]+)::/.exec(line) ?? []) : [];
    if (host !== undefined) hosts.add(host);
  }
  const [, id = ''] = HEADING.exec(lines[0] ?? '') ?? [];
  return { id, fields, hosts: [...hosts] };
}
