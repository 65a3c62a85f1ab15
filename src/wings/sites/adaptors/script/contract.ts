// The contract with programs that drive a site (docs/adaptors.md): what they are asked, and how
// their answers are read.

import { err, ok, type Result } from '../../../../kernel/base/result.ts';
import type { SiteCommand, SiteOutput, SiteProblem, SiteQuery } from '../adaptor.ts';
import { isRecord, saidBy, siteProblem, unreadable } from '../read.ts';
import { type Field, flag, line, list, oneOf, record, type Shape, unexpected } from './shape.ts';

/** Number of the contract, in each question and each answer; another number is another contract. */
const CONTRACT = 1;

export const OPERATIONS = [
  ...(['capabilities', 'jobs', 'nodes', 'queues', 'submit', 'named', 'cancel'] as const),
  ...(['end', 'known', 'set-node', 'start', 'take-back'] as const),
] as const;
export type Operation = (typeof OPERATIONS)[number];

type Value = string | number | null | readonly string[];
/** What an operation is asked with: flat, so that each value can be a variable, too. */
export type Question = Readonly<Record<string, Value>>;

export const TEXT_MAX = 1000;
const REQUIREMENTS_MAX = 100;

export const text = line(TEXT_MAX, `a line of at most ${TEXT_MAX} characters`);
/** Safe in files, and as people may write it behind the name of a site, `hpc/4711`. */
export const jobId = line(
  100,
  'the id of a job: letters, digits, dots, dashes and underscores, 100 at most',
  /^[A-Za-z0-9][A-Za-z0-9._-]*$/,
);

/** @param program its words, to which the operation is added */
export function commandOf(
  program: readonly string[],
  operation: Operation,
  question: Question = {},
): SiteCommand {
  const variables = Object.entries(question).map(([name, value]) => [variableOf(name), say(value)]);
  return {
    argv: [...program, operation],
    input: `${JSON.stringify({ contract: CONTRACT, operation, ...question })}\n`,
    environment: Object.fromEntries(variables),
  };
}

/** `walltimeMs` is `SITE_WALLTIME_MS`. */
function variableOf(name: string): string {
  return `SITE_${name.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()}`;
}

/** What is null is empty; each entry of a list has a line. */
function say(value: Value): string {
  return typeof value === 'object' ? (value ?? []).join('\n') : String(value);
}

/** @param fields what the answer holds beside the number of the contract */
export function queryOf<T extends object>(
  command: SiteCommand,
  operation: Operation,
  fields: { readonly [K in keyof T]-?: Field<T[K]> },
): SiteQuery<T> {
  const shape = answerOf(fields);
  return { command, read: (output) => readAnswer(output, operation, shape) };
}

/** For operations of which it is enough that they were done. */
export function readDone(output: SiteOutput, operation: string): Result<null, SiteProblem> {
  const answer = readAnswer(output, operation, answerOf({}));
  return answer.ok ? ok(null) : answer;
}

const isContract: Shape<typeof CONTRACT> = (value, at) =>
  value === CONTRACT ? ok(CONTRACT) : unexpected(value, at, String(CONTRACT));

function answerOf<T extends object>(
  fields: {
    readonly [K in keyof T]-?: Field<T[K]>;
  },
): Shape<T> {
  return record({ contract: { shape: isContract }, ...fields }) as unknown as Shape<T>;
}

interface ReportedProblem {
  readonly kind: 'away' | 'refused' | 'no_such_job';
  readonly text: string;
}

const PROBLEM = answerOf<{ problem: ReportedProblem }>({
  problem: {
    shape: record<ReportedProblem>({
      kind: { shape: oneOf('away', 'refused', 'no_such_job') },
      text: { shape: text },
    }),
  },
});

/**
 * A program that ends with another code than 0 has failed in the middle of something: nothing is
 * known, not even that it refused.
 */
function readAnswer<T>(
  output: SiteOutput,
  operation: string,
  shape: Shape<T>,
): Result<T, SiteProblem> {
  if (output.code !== 0) return siteProblem('away', `${operation}: ${saidBy(output)}`);
  const document = parse(output.stdout);
  if (!document.ok) return unreadable(operation, `its answer is no JSON: ${document.error}`);
  if (isRecord(document.value) && 'problem' in document.value) {
    const said = PROBLEM(document.value, '$');
    if (!said.ok) return unreadable(operation, said.error);
    const { kind, text: words } = said.value.problem;
    return siteProblem(kind, `${operation}: ${words}`);
  }
  const read = shape(document.value, '$');
  return read.ok ? read : unreadable(operation, read.error);
}

function parse(answer: string): Result<unknown, string> {
  try {
    return ok(JSON.parse(answer));
  } catch (error) {
    return err((error as Error).message);
  }
}

export interface Capabilities {
  /** What else the program needs of its system to be steered, and whether it is so. */
  readonly requirements: readonly { what: string; met: boolean; remedy: string }[];
  readonly operations: readonly Operation[];
}

export function capabilitiesOf(program: readonly string[]): SiteQuery<Capabilities> {
  const operation = 'capabilities';
  const requirement = record<Capabilities['requirements'][number]>({
    what: { shape: text },
    met: { shape: flag },
    remedy: { shape: text },
  });
  return queryOf<Capabilities>(commandOf(program, operation), operation, {
    operations: { shape: list(oneOf(...OPERATIONS), OPERATIONS.length) },
    requirements: { shape: list(requirement, REQUIREMENTS_MAX), otherwise: [] },
  });
}
