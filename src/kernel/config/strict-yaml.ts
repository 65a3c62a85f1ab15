// A YAML file of one shape, read strictly: every problem at once, each with its line.

import { readFileSync } from 'node:fs';
import { isNode } from 'yaml';
import type { z } from 'zod';
import { didYouMean } from '../base/nearest-word.ts';
import { usage } from '../model/failure.ts';
import { fileProblem } from './file-problem.ts';
import { fileFailure, type Problem, YamlText } from './yaml-text.ts';

interface Parsed {
  readonly problems: readonly Problem[];
}

/**
 * What `parse` makes of a file; throws one failure that lists all problems.
 * @param page the document that explains every key
 */
export function readStrictly<T extends Parsed>(
  file: string,
  parse: (text: string, file: string) => T,
  page: string,
): T {
  const parsed = parse(readText(file), file);
  if (parsed.problems.length === 0) return parsed;
  throw fileFailure('config.invalid', parsed.problems, `${page} explains every key.`);
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    throw usage(`${file} cannot be read: ${fileProblem(cause)}`);
  }
}

interface Shape<T extends z.ZodType> {
  readonly shape: T;
  /** All keys that there are, proposed in the place of unknown ones. */
  readonly keys: readonly string[];
}

/** What a text says; null with what is wrong. `file` is for messages only. */
export function parseStrictly<T extends z.ZodType>(
  text: string,
  file: string,
  { shape, keys }: Shape<T>,
): Parsed & { readonly value: z.output<T> | null; readonly yaml: YamlText } {
  const yaml = new YamlText(text, file);
  const wrong = yaml.syntaxProblems();
  if (wrong.length > 0) return { value: null, problems: wrong, yaml };
  const read = shape.safeParse(yaml.document.toJS() ?? {});
  if (read.success) return { value: read.data, problems: [], yaml };
  const problems = read.error.issues.map((issue) => problemOf(yaml, issue, keys));
  return { value: null, problems, yaml };
}

function problemOf(yaml: YamlText, issue: z.core.$ZodIssue, keys: readonly string[]): Problem {
  const [unknown] = issue.code === 'unrecognized_keys' ? issue.keys : [];
  const where = [...issue.path, ...(unknown === undefined ? [] : [unknown])];
  const title = where.join('.');
  const what =
    unknown === undefined
      ? `${title === '' ? 'the file' : title}: ${messageOf(issue)}`
      : `unknown key '${title}'.${didYouMean(unknown, keys)}`;
  return yaml.problem(offsetOf(yaml, where), what);
}

/** The innermost reason: a name that is none, or a value that is of none of several kinds. */
function messageOf(issue: z.core.$ZodIssue): string {
  if (issue.code === 'invalid_key') return issue.issues.map(({ message }) => message).join('; ');
  if (issue.code !== 'invalid_union') return issue.message;
  const reasons = issue.errors.flat().map(({ message }) => message);
  return reasons.find((one) => !one.startsWith('Invalid input')) ?? reasons[0] ?? issue.message;
}

/** Place of the innermost thing that is there. */
export function offsetOf(yaml: YamlText, where: readonly PropertyKey[]): number {
  for (let depth = where.length; depth > 0; depth -= 1) {
    const node = yaml.document.getIn(where.slice(0, depth), true);
    if (isNode(node) && node.range) return node.range[0];
  }
  return 0;
}
