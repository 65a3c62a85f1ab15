// Goal state against actual state: one node, by facts and by what its checks said.

import { formatSize } from '../../../kernel/base/size.ts';
import type { Difference, Facts, Goal, GoalFact } from './goal.ts';

/** What a check line came to. */
export interface CheckResult {
  readonly code: number;
  /** The test's output in one line, without blanks around it. */
  readonly said: string;
}

const SIZES: ReadonlySet<GoalFact> = new Set(['memory', 'disk']);

/** What differs. Unknown facts and checks that have not run are none: no repair on a guess. */
export function compareGoals(
  goals: readonly Goal[],
  facts: Facts,
  checks: ReadonlyMap<string, CheckResult>,
): Difference[] {
  return goals.flatMap((goal) => {
    const wrong = wrongOf(goal, facts, checks.get(goal.name));
    return wrong === null ? [] : [{ goal: goal.name, ...wrong, canRepair: goal.repair !== null }];
  });
}

type Wrong = Pick<Difference, 'actual' | 'expected'> | null;

function wrongOf({ test }: Goal, facts: Facts, result: CheckResult | undefined): Wrong {
  if (test.kind === 'check') return result === undefined ? null : wrongCheck(test.expect, result);
  const actual = facts[test.fact];
  if (actual === null) return null;
  if ('is' in test) {
    if (meetsPattern(String(actual), test.is)) return null;
    return { actual: String(actual), expected: test.is };
  }
  if (Number(actual) >= test.atLeast) return null;
  const words = (value: number): string =>
    SIZES.has(test.fact) ? formatSize(value) : String(value);
  return { actual: words(Number(actual)), expected: `at least ${words(test.atLeast)}` };
}

function wrongCheck(expect: string | null, { code, said }: CheckResult): Wrong {
  if (expect === null) {
    return code === 0
      ? null
      : { actual: saidOr(said, `exit code ${code}`), expected: 'exit code 0' };
  }
  if (meetsPattern(said, expect)) return null;
  return { actual: saidOr(said, `nothing (exit code ${code})`), expected: expect };
}

function saidOr(said: string, otherwise: string): string {
  return said === '' ? otherwise : `'${said}'`;
}

/** `*` stands for anything; nothing else is special. */
export function meetsPattern(text: string, pattern: string): boolean {
  const [first = '', ...rest] = pattern.split('*');
  if (rest.length === 0) return text === pattern;
  if (!text.startsWith(first)) return false;
  let at = first.length;
  const last = rest.pop() ?? '';
  for (const part of rest) {
    const found = text.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return text.length - last.length >= at && text.endsWith(last);
}
