// Reads the file of a site's filters strictly: every problem at once, each with its line.

import path from 'node:path';
import { z } from 'zod';
import { parseDuration } from '../../../kernel/base/duration.ts';
import { didYouMean } from '../../../kernel/base/nearest-word.ts';
import { badAddress } from '../../../kernel/config/address.ts';
import { offsetOf, parseStrictly, readStrictly } from '../../../kernel/config/strict-yaml.ts';
import type { Problem } from '../../../kernel/config/yaml-text.ts';
import {
  type FilterRule,
  type FilterSource,
  NO_FILTERS,
  type Rename,
  type SiteFilters,
} from '../../../kernel/model/filter-rule.ts';
import { parseNodeName } from '../../../kernel/model/ids.ts';
import { parseLabels } from '../../../kernel/model/labels.ts';

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

const form = z.string().regex(/^(?=.{1,63}$)[A-Za-z0-9._=/-]*\*?[A-Za-z0-9._=/-]*$/, {
  error: 'letters, digits and . _ = / -, and at most one *',
});

/** A name alone is for whatever has another one. */
const rename = z.union([
  form.transform((to) => ({ from: '*', to })),
  z.strictObject({ from: form, to: form }),
]);

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
    rename: rename.optional(),
  })
  .superRefine((written, context) => {
    const what = badRule(written);
    if (what !== null) context.addIssue({ code: 'custom', message: what });
  });

type Written = Pick<FilterRule, 'over' | 'hide' | 'add'> & {
  readonly data?: string | undefined;
  readonly rename?: Rename | undefined;
  readonly set: { readonly queue?: string | undefined; readonly partition?: string | undefined };
};

/** Returns null when nothing is wrong. */
function badRule({ over, hide, add, data, rename, set }: Written): string | null {
  const does = hide || add.length > 0 || data !== undefined || rename !== undefined;
  if (!does && set.queue === undefined && set.partition === undefined) {
    return 'does nothing; give hide, add, data, set or rename';
  }
  const wrong = rename === undefined ? null : badRename(over, rename);
  if (wrong !== null) return wrong;
  if (over !== 'jobs' && set.partition !== undefined) return 'set.partition is for jobs only';
  return over !== 'jobs' && set.queue !== undefined ? 'set.queue is for jobs only' : null;
}

function badRename(over: FilterRule['over'], { from, to }: Rename): string | null {
  if (over === 'jobs') return 'rename is for nodes and queues only';
  if (to.includes('*') && !from.includes('*')) return 'rename: to has a *, and from has none';
  const name = over === 'nodes' ? parseNodeName(to.replace('*', 'n')) : null;
  return name === null || name.ok ? null : `rename: ${name.error}`;
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
  return readStrictly(file, parseFilters, 'docs/sites.md').filters;
}

const KEYS = [
  ...['sources', 'rules', 'file', 'command', 'url', 'every', 'timeout'],
  ...['over', 'when', 'data', 'hide', 'add', 'set', 'queue', 'partition', 'rename', 'from', 'to'],
];

/** `file` is for messages, and where files of sources lie that are not absolute. */
export function parseFilters(
  written: string,
  file: string,
): { readonly filters: SiteFilters; readonly problems: readonly Problem[] } {
  const { value, problems, yaml } = parseStrictly(written, file, { shape: text, keys: KEYS });
  if (value === null) return { filters: NO_FILTERS, problems };
  const { sources, rules } = value;
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
    name: title,
    ...rest,
    queue: set.queue ?? null,
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
