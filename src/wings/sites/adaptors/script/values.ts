// Values that listings of programs have in common.

import { err, ok, type Result } from '../../../../kernel/base/result.ts';
import type { ExitStatus } from '../../../../kernel/model/job.ts';
import { NODES_PER_TASK_MAX, SITE_NODES_MAX } from '../../../../kernel/model/limits.ts';
import { TEXT_MAX } from './contract.ts';
import { line, list, orNull, record, type Shape, unexpected, whole } from './shape.ts';

const WORDS_MAX = 1000;
const NODE_NAME = /^[A-Za-z0-9](?:[A-Za-z0-9._-]{0,200}[A-Za-z0-9])?$/;

/** Bytes, or ms. */
export const amount = whole(0, Number.MAX_SAFE_INTEGER, 'a whole number');
/** Features, or queues. */
export const words = list(line(TEXT_MAX, 'a word', /^\S+$/), WORDS_MAX);
/** A host. */
export const nodeName = line(
  202,
  "a node's name: letters, digits, dots, dashes, underscores",
  NODE_NAME,
);
/** Those of one job. */
export const nodeNames = distinct(list(nodeName, NODES_PER_TASK_MAX), (name) => name);
/** Any of a site. */
export const anyNames = distinct(list(nodeName, SITE_NODES_MAX), (name) => name);
/** After 2000: seconds in the place of ms are a mistake that is easily made. */
export const instant = whole(946_684_800_000, 8_640_000_000_000_000, 'ms since 1970');

/** A code or a signal. */
export const exitStatus: Shape<ExitStatus> = (value, at) => {
  const read = record<{ code: number | null; signal: number | null }>({
    code: orNull(whole(0, 255, 'an exit code')),
    signal: orNull(whole(1, 64, "a signal's number")),
  })(value, at);
  if (!read.ok) return read;
  const { code, signal } = read.value;
  if (code !== null && signal === null) return ok({ code });
  return signal !== null && code === null
    ? ok({ signal })
    : unexpected(value, at, 'either a code or a signal');
};

/** Nothing at all is not asked for by an empty list. */
export function some<T>(shape: Shape<readonly T[]>): Shape<readonly T[]> {
  return (value, at) => {
    const read = shape(value, at);
    return read.ok && read.value.length === 0 ? unexpected(value, at, 'at least one') : read;
  };
}

/** Which of two of the same name would be believed? */
export function distinct<T>(
  shape: Shape<readonly T[]>,
  nameOf: (one: T) => string,
): Shape<readonly T[]> {
  return (value, at): Result<readonly T[], string> => {
    const read = shape(value, at);
    if (!read.ok) return read;
    const names = new Set<string>();
    for (const [index, one] of read.value.entries()) {
      const name = nameOf(one);
      if (names.has(name)) return err(`${at}[${index}] is '${name}' again; expected each once`);
      names.add(name);
    }
    return read;
  };
}
