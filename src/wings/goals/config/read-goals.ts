// Reads a goal file strictly: every problem at once, each with its line.

import { z } from 'zod';
import { parseDuration } from '../../../kernel/base/duration.ts';
import { parseSize } from '../../../kernel/base/size.ts';
import { parseStrictly, readStrictly } from '../../../kernel/config/strict-yaml.ts';
import type { Problem } from '../../../kernel/config/yaml-text.ts';
import { parseLabels } from '../../../kernel/model/labels.ts';
import { RUNNING_POLICIES } from '../../../kernel/model/maintenance.ts';
import { parseNodeNames } from '../../../kernel/model/node-names.ts';
import { GOAL_FACTS, type Goal, type GoalClass } from '../core/goal.ts';

/** Goals of a class; each is looked at with every check. */
const GOALS_MAX = 100;
const LINE_MAX = 4096;

const line = z.string().min(1).max(LINE_MAX);

const duration = z.string().transform((text, context) => {
  const read = parseDuration(text);
  if (read.ok && read.value >= 1000) return read.value;
  context.addIssue({
    code: 'custom',
    message: `'${text}' is not a duration of 1s or more, like 30m`,
  });
  return z.NEVER;
});

const scalar = z.union([z.string(), z.number()]);

const goal = z
  .strictObject({
    fact: z.enum(GOAL_FACTS).optional(),
    is: scalar.optional(),
    at_least: scalar.optional(),
    check: line.optional(),
    expect: scalar.optional(),
    repair: line.optional(),
  })
  .transform((written, context): Omit<Goal, 'name'> => {
    const read = testOf(written);
    if (typeof read !== 'string') return { test: read, repair: written.repair ?? null };
    context.addIssue({ code: 'custom', message: read });
    return z.NEVER;
  });

interface Written {
  readonly fact?: (typeof GOAL_FACTS)[number] | undefined;
  readonly is?: string | number | undefined;
  readonly at_least?: string | number | undefined;
  readonly check?: string | undefined;
  readonly expect?: string | number | undefined;
}

/** Words when it is none. */
function testOf({ fact, is, at_least: least, check, expect }: Written): Goal['test'] | string {
  if ((fact === undefined) === (check === undefined)) return 'give either fact or check';
  if (check !== undefined) {
    if (is !== undefined || least !== undefined) return 'a check has expect, not is or at_least';
    return { kind: 'check', line: check, expect: expect === undefined ? null : oneLine(expect) };
  }
  if (expect !== undefined) return 'a fact has is or at_least, not expect';
  if ((is === undefined) === (least === undefined)) return 'give either is or at_least';
  if (is !== undefined) return { kind: 'fact', fact: fact as Fact, is: String(is) };
  const amount = typeof least === 'number' ? least : sizeOf(String(least));
  if (amount === null) return `at_least: '${least}' is neither a number nor a size, like 10G`;
  return { kind: 'fact', fact: fact as Fact, atLeast: amount };
}

type Fact = (typeof GOAL_FACTS)[number];

/** The same as the scripts make of what a check says. */
function oneLine(text: string | number): string {
  return String(text)
    .replace(/[\n\r\t]/g, ' ')
    .trim();
}

function sizeOf(text: string): number | null {
  const read = parseSize(text);
  return read.ok ? read.value : null;
}

const NAME = /^[A-Za-z][A-Za-z0-9._-]{0,62}$/;
const name = z.string().regex(NAME, { error: 'a letter, then letters, digits and . _ -' });

const nodes = z.string().transform((text, context) => {
  const read = parseNodeNames(text);
  if (read.ok) return read.value as readonly string[];
  context.addIssue({ code: 'custom', message: read.error });
  return z.NEVER;
});

const labels = z.string().transform((text, context) => {
  const read = parseLabels(text);
  if (read.ok) return [text];
  context.addIssue({ code: 'custom', message: `column ${read.error.column}: ${read.error.what}` });
  return z.NEVER;
});

const goalClass = z.strictObject({
  nodes: nodes.optional(),
  labels: labels.optional(),
  at_once: z.int().min(1).default(1),
  within: duration.default(24 * 3_600_000),
  duration: duration.default(30 * 60_000),
  running: z.enum(RUNNING_POLICIES).default('wait'),
  restarts: z.boolean().default(false),
  goals: z.record(name, goal).refine((all) => Object.keys(all).length <= GOALS_MAX, {
    error: `at most ${GOALS_MAX} goals`,
  }),
});

const file = z.strictObject({ classes: z.record(name, goalClass) });

/** The classes of a file; throws one failure that lists all problems. */
export function readGoalFile(path: string): GoalClass[] {
  return readStrictly(path, parseGoals, 'docs/maintenance.md').classes;
}

const KEYS = [
  ...['classes', 'nodes', 'labels', 'at_once', 'within', 'duration', 'running', 'restarts'],
  ...['goals', 'fact', 'is', 'at_least', 'check', 'expect', 'repair'],
];

/** `path` is for messages only. */
export function parseGoals(
  text: string,
  path: string,
): { readonly classes: GoalClass[]; readonly problems: readonly Problem[] } {
  const { value, problems } = parseStrictly(text, path, { shape: file, keys: KEYS });
  if (value === null) return { classes: [], problems };
  const classes = Object.entries(value.classes).map(([title, written]): GoalClass => {
    const { at_once: atOnce, within, duration: durationMs, goals, ...rest } = written;
    return {
      name: title,
      nodes: rest.nodes ?? null,
      labels: rest.labels ?? [],
      running: rest.running,
      restarts: rest.restarts,
      atOnce,
      withinMs: within,
      durationMs,
      goals: Object.entries(goals).map(([one, what]) => ({ name: one, ...what })),
    };
  });
  return { classes, problems: [] };
}
