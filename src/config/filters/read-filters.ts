// Reads the file of a site's filters strictly: every problem at once, each with its line.

import { readFileSync } from 'node:fs';
import path from 'node:path';
import { isNode } from 'yaml';
import { z } from 'zod';
import { parseDuration } from '../../core/base/duration.ts';
import { didYouMean } from '../../core/base/nearest-word.ts';
import { usage } from '../../core/model/failure.ts';
import type { FilterRule, FilterSource, SiteFilters } from '../../core/model/filter-rule.ts';
import { parseLabels } from '../../core/model/labels.ts';
import { badAddress } from '../address.ts';
import { fileProblem } from '../file-problem.ts';
import { fileFailure, type Problem, YamlText } from '../yaml-text.ts';

const RULES_MAX = 200;
const SOURCES_MAX = 20;

const NAME = /^[A-Za-z][A-Za-z0-9._-]{0,62}$/;
const name = z.string().regex(NAME, { error: 'a letter, then letters, digits and . _ -' });
const LABEL = /^[A-Za-z0-9][A-Za-z0-9._=/-]{0,62}$/;
const label = z.string().regex(LABEL, { error: 'letters, digits and . _ = / -' });

const condition = z.string().transform((text, context) => {
  const read = parseLabels(text);
  if (read.ok) return text;
  context.addIssue({ code: 'custom', message: `column ${read.error.column}: ${read.error.what}` });
  return z.NEVER;
});

/** One, or several. */
function oneOrMore<T extends z.ZodType>(shape: T) {
  return z.union([shape.transform((one) => [one]), z.array(shape)]);
}

const rule = z
  .strictObject({
    over: z.enum(['nodes', 'jobs', 'queues']).default('nodes'),
    when: oneOrMore(condition).default([]),
    data: name.optional(),
    hide: z.boolean().default(false),
    add: oneOrMore(label).default([]),
    set: z.strictObject({ queue: label.optional(), partition: name.optional() }).default({}),
    rename: label.optional(),
  })
  .superRefine((written, context) => {
    const what = badRule(written);
    if (what !== null) context.addIssue({ code: 'custom', message: what });
  });

type Written = Pick<FilterRule, 'over' | 'hide' | 'add'> & {
  readonly data?: string | undefined;
  readonly rename?: string | undefined;
  readonly set: { readonly queue?: string | undefined; readonly partition?: string | undefined };
};

/** Null: nothing is wrong. */
function badRule({ over, hide, add, data, rename, set }: Written): string | null {
  const does = hide || add.length > 0 || data !== undefined || rename !== undefined;
  if (!does && set.queue === undefined && set.partition === undefined) {
    return 'does nothing; give hide, add, data, set or rename';
  }
  if (rename !== undefined && over !== 'queues') return 'rename is for queues only';
  if (over !== 'jobs' && set.partition !== undefined) return 'set.partition is for jobs only';
  return over !== 'jobs' && set.queue !== undefined ? 'set.queue is for jobs only' : null;
}

function duration(otherwise: number, least: number) {
  return z
    .string()
    .transform((text, context) => {
      const read = parseDuration(text);
      if (read.ok && read.value >= least) return read.value;
      context.addIssue({ code: 'custom', message: `'${text}' is no duration, or too short` });
      return z.NEVER;
    })
    .default(otherwise);
}

const address = z.url({ protocol: /^https?$/, abort: true }).superRefine((written, context) => {
  const bad = badAddress(written);
  if (bad !== null) context.addIssue({ code: 'custom', message: bad });
});

const source = z
  .strictObject({
    file: z.string().min(1).optional(),
    command: z.array(z.string().min(1)).min(1).optional(),
    url: address.optional(),
    every: duration(60_000, 1000),
    timeout: duration(10_000, 100),
  })
  .refine(
    ({ file, command, url }) =>
      [file, command, url].filter((one) => one !== undefined).length === 1,
    { error: 'give one of file, command and url' },
  );

const text = z.strictObject({
  sources: z
    .record(name, source)
    .refine((all) => Object.keys(all).length <= SOURCES_MAX, {
      error: `at most ${SOURCES_MAX} sources`,
    })
    .default({}),
  rules: z
    .record(name, rule)
    .refine((all) => Object.keys(all).length <= RULES_MAX, { error: `at most ${RULES_MAX} rules` })
    .default({}),
});

/** What a file says; throws one failure that lists all problems. */
export function readFilterFile(file: string): SiteFilters {
  const { filters, problems } = parseFilters(readText(file), file);
  if (problems.length === 0) return filters;
  throw fileFailure('config.invalid', problems, 'docs/sites.md explains every key.');
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    throw usage(`${file} cannot be read: ${fileProblem(cause)}`);
  }
}

/** `file` is for messages, and where files of sources lie that are not absolute. */
export function parseFilters(
  written: string,
  file: string,
): { readonly filters: SiteFilters; readonly problems: readonly Problem[] } {
  const none = { rules: [], sources: [] };
  const yaml = new YamlText(written, file);
  const wrong: Problem[] = yaml.syntaxProblems();
  if (wrong.length > 0) return { filters: none, problems: wrong };
  const read = text.safeParse(yaml.document.toJS() ?? {});
  if (!read.success) {
    const problems = read.error.issues.map((issue) => problemOf(yaml, issue));
    return { filters: none, problems };
  }
  const { sources, rules } = read.data;
  const unknown = Object.entries(rules).flatMap(([title, { data }]) => {
    if (data === undefined || data in sources) return [];
    const what = `rules.${title}.data: there is no source '${data}'.${didYouMean(data, Object.keys(sources))}`;
    return [yaml.problem(offsetOf(yaml, ['rules', title, 'data']), what)];
  });
  return {
    filters: {
      rules: Object.entries(rules).map(([title, one]) => ruleOf(title, one)),
      sources: Object.entries(sources).map(([title, one]) => sourceOf(title, one, file)),
    },
    problems: unknown,
  };
}

function ruleOf(title: string, { set, data, rename, ...rest }: z.output<typeof rule>): FilterRule {
  return {
    ...{ name: title, ...rest, queue: set.queue ?? null },
    ...(set.partition === undefined ? {} : { partition: set.partition }),
    ...(data === undefined ? {} : { data }),
    ...(rename === undefined ? {} : { rename }),
  };
}

function sourceOf(title: string, written: z.output<typeof source>, beside: string): FilterSource {
  const { file, command, url, every: everyMs, timeout: timeoutMs } = written;
  const own = { name: title, everyMs, timeoutMs };
  if (command !== undefined) return { ...own, from: { kind: 'command', argv: command } };
  if (url !== undefined) return { ...own, from: { kind: 'url', url } };
  const from = { kind: 'file', path: path.resolve(path.dirname(beside), file ?? '') } as const;
  return { ...own, from };
}

const KNOWN = [
  ...['sources', 'rules', 'file', 'command', 'url', 'every', 'timeout'],
  ...['over', 'when', 'data', 'hide', 'add', 'set', 'queue', 'partition', 'rename'],
];

function problemOf(yaml: YamlText, issue: z.core.$ZodIssue): Problem {
  const [unknown] = issue.code === 'unrecognized_keys' ? issue.keys : [];
  const where = [...issue.path, ...(unknown === undefined ? [] : [unknown])];
  const title = where.join('.');
  const what =
    unknown === undefined
      ? `${title === '' ? 'the file' : title}: ${messageOf(issue)}`
      : `unknown key '${title}'.${didYouMean(unknown, KNOWN)}`;
  return yaml.problem(offsetOf(yaml, where), what);
}

/** The innermost reason: a value that may be of several kinds is none of them. */
function messageOf(issue: z.core.$ZodIssue): string {
  if (issue.code === 'invalid_key') return issue.issues.map(({ message }) => message).join('; ');
  if (issue.code !== 'invalid_union') return issue.message;
  const reasons = issue.errors.flat().map(({ message }) => message);
  return reasons.find((one) => !one.startsWith('Invalid input')) ?? reasons[0] ?? issue.message;
}

/** Place of the innermost thing that is there. */
function offsetOf(yaml: YamlText, where: readonly PropertyKey[]): number {
  for (let depth = where.length; depth > 0; depth -= 1) {
    const node = yaml.document.getIn(where.slice(0, depth), true);
    if (isNode(node) && node.range) return node.range[0];
  }
  return 0;
}
