// What a schema says against a value, in our words: every problem with its place. What is wrong is
// replaced by something right, so that all the rest can be judged as well.

import { z } from 'zod';
import { didYouMean } from '../base/nearest-word.ts';
import { type Problem, type ProblemPath, UNKNOWN_KEY } from '../files/problem.ts';

type Issue = z.core.$ZodIssue;

export interface Shaped<T> {
  /** Fits the schema; at the places of the problems something that stands in. */
  readonly value: T;
  readonly problems: readonly Problem[];
}

/** Repairs make nothing worse, but what they put in may lack keys itself. */
const ROUNDS_MAX = 20;

/** Reads a value by a schema; `value` is changed where it is wrong. */
export function shapeBy<T>(schema: z.ZodType<T>, value: unknown): Shaped<T> {
  const problems: Problem[] = [];
  const root = { value };
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    const parsed = schema.safeParse(root.value, { reportInput: true });
    if (parsed.success) return { value: parsed.data, problems };
    for (const issue of parsed.error.issues.flatMap(unfold)) {
      const isOwn = problems.some(({ at }) => isWithin(issue.path as ProblemPath, at));
      if (!isOwn) problems.push(...problemsOf(issue, schema));
      repair(root, issue, schema);
    }
  }
  throw new Error(
    `a value that cannot be repaired: ${z.prettifyError(schema.safeParse(root.value).error as z.ZodError)}`,
  );
}

/** Problems of a shape and of what is in it: what is said of a stand-in is nothing. */
export function together(shapes: readonly Problem[], inside: readonly Problem[]): Problem[] {
  const wrong = shapes.filter(({ what }) => !what.startsWith(UNKNOWN_KEY));
  return [...shapes, ...inside.filter(({ at }) => !wrong.some((one) => isWithin(at, one.at)))];
}

/** Whether the place is that one or inside of it. */
function isWithin(place: ProblemPath, outer: ProblemPath): boolean {
  return outer.every((part, at) => place[at] === part);
}

/** The part of a union that the value was meant to be: for a mapping the one with keys. */
function unfold(issue: Issue): Issue[] {
  if (issue.code !== 'invalid_union') return [issue];
  const meant = issue.errors.find((inner) => inner.length > 0 && !inner.some(isOfOtherType));
  if (meant === undefined) return [issue];
  return meant.flatMap((inner) => unfold({ ...inner, path: [...issue.path, ...inner.path] }));
}

function isOfOtherType({ code, path }: Issue): boolean {
  return code === 'invalid_type' && path.length === 0;
}

function problemsOf(issue: Issue, schema: z.ZodType): Problem[] {
  const at = issue.path as ProblemPath;
  if (issue.code === 'unrecognized_keys') {
    const known = Object.keys(shapeAt(schema, at) ?? {});
    return issue.keys.map((key) => {
      const hint = elsewhere(schema, key) || didYouMean(key, known);
      const what = `${UNKNOWN_KEY} '${key}'.${hint}`;
      return { at: [...at, key], what, isKey: true };
    });
  }
  const key = at.at(-1);
  if (issue.input === undefined && typeof key === 'string') {
    return [{ at, what: 'is missing, or has no value' }];
  }
  return [{ at, what: issue.message }];
}

/** Where a key of this name does stand: at the top, or one mapping below. */
function elsewhere(schema: z.ZodType, key: string): string {
  const shape = shapeOf(unwrapped(schema));
  if (shape === undefined) return '';
  const places = Object.entries(shape).flatMap(([name, value]) => {
    const inner = unwrapped(value as z.ZodType);
    const isList = inner instanceof z.ZodArray;
    const of = isList ? shapeOf(unwrapped(inner.element as z.ZodType)) : shapeOf(inner);
    if (of === undefined || !Object.hasOwn(of, key)) return [];
    return [isList ? `in an entry of ${name}` : `in ${name}`];
  });
  const all = Object.hasOwn(shape, key) ? ['at the top', ...places] : [...places];
  const last = all.pop();
  if (last === undefined) return '';
  return ` It stands ${all.length === 0 ? last : `${all.join(', ')} or ${last}`}.`;
}

function repair(root: { value: unknown }, issue: Issue, schema: z.ZodType): void {
  const at = ['value', ...(issue.path as ProblemPath)];
  if (issue.code === 'unrecognized_keys') {
    const owner = at.reduce<unknown>(inside, root) as Record<string, unknown>;
    for (const key of issue.keys) delete owner[key];
    return;
  }
  const owner = at.slice(0, -1).reduce<unknown>(inside, root) as Record<string | number, unknown>;
  const last = at.at(-1) as string | number;
  owner[last] = standIn(schemaAt(schema, issue.path as ProblemPath));
}

function inside(value: unknown, part: string | number): unknown {
  return (value as Record<string | number, unknown> | undefined)?.[part];
}

function shapeAt(schema: z.ZodType, at: ProblemPath): z.core.$ZodShape | undefined {
  const found = schemaAt(schema, at);
  if (!(found instanceof z.ZodUnion)) return shapeOf(found);
  return (found.options as readonly z.ZodType[]).map(shapeOf).find((shape) => shape);
}

function shapeOf(schema: z.ZodType | undefined): z.core.$ZodShape | undefined {
  return schema instanceof z.ZodObject ? schema.shape : undefined;
}

function schemaAt(schema: z.ZodType, at: ProblemPath): z.ZodType | undefined {
  return at.reduce<z.ZodType | undefined>(
    (found, part) => unwrapped(step(found, part)),
    unwrapped(schema),
  );
}

function step(schema: z.ZodType | undefined, part: string | number): z.ZodType | undefined {
  if (schema instanceof z.ZodObject) return schema.shape[part] as z.ZodType | undefined;
  if (schema instanceof z.ZodArray) return schema.element as z.ZodType;
  if (schema instanceof z.ZodRecord) return schema.valueType as z.ZodType;
  if (!(schema instanceof z.ZodUnion)) return undefined;
  const options = schema.options as readonly z.ZodType[];
  return options.map((option) => step(unwrapped(option), part)).find((found) => found);
}

function unwrapped(schema: z.ZodType | undefined): z.ZodType | undefined {
  const isWrapped = schema instanceof z.ZodOptional || schema instanceof z.ZodExactOptional;
  return isWrapped ? unwrapped(schema.unwrap() as z.ZodType) : schema;
}

/** Fits, and is like nothing else. */
function standIn(schema: z.ZodType | undefined): unknown {
  if (schema instanceof z.ZodUnion) return standIn(unwrapped(schema.options[0] as z.ZodType));
  if (schema instanceof z.ZodObject || schema instanceof z.ZodRecord) return {};
  if (schema instanceof z.ZodArray) return [];
  if (schema instanceof z.ZodNumber) return 1;
  return schema instanceof z.ZodBoolean ? false : 'x';
}
