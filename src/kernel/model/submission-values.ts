// Fields of a submission read from text, as options and programs write them.

import { parseDuration } from '../base/duration.ts';
import { IntervalSet } from '../base/interval-set.ts';
import { didYouMean } from '../base/nearest-word.ts';
import { err, ok, type Result } from '../base/result.ts';
import { parseSize } from '../base/size.ts';
import { parseTaskId } from './ids.ts';
import type { ArraySpec, Dependency, OnNodeLoss, Warning } from './job.ts';
import { isExpression, parseLabels } from './labels.ts';
import { ARRAY_INDEX_MAX } from './limits.ts';
import { formatTarget, parseTarget } from './notification.ts';
import { unknownField } from './output-patterns.ts';
import { SIGNALS } from './signals.ts';

/** `matrix:@ann:lab` and the like. */
export function parseNotify(text: string): Result<string, string> {
  const target = parseTarget(text);
  return target.ok ? ok(formatTarget(target.value)) : target;
}

/** Any text but an empty one. */
export function parseText(text: string): Result<string, string> {
  return text === '' ? err('may not be empty') : ok(text);
}

/** A file for output: a field that nobody fills in would be part of its name. */
export function parseOutputFile(text: string): Result<string, string> {
  const unknown = unknownField(text);
  if (unknown === null) return parseText(text);
  const fields =
    '%j job, %a index, %t task, %e start, %N node, %n its rank, %p process, %x name, %u user';
  return err(`'${unknown}' stands for nothing; there are ${fields}; %% is a per cent sign`);
}

/** What can stand in an HTTP header, as the head takes it. */
export function parseKey(text: string): Result<string, string> {
  if (/^[\x20-\x7e]{1,200}$/.test(text) && text.trim() === text) return ok(text);
  return err(`'${text}' is not a key; use 1 to 200 printable ASCII characters`);
}

/** `0-99%10`: indices, a step as in `0-99:3`, and how many at once. */
export function parseArray(text: string): Result<ArraySpec, string> {
  const [indices = '', atOnce, ...rest] = text.split('%');
  const form = `'${text}' is not an array; write 0-99, 1,5,7, 0-99:2 or 0-99%10`;
  if (rest.length > 0 || (atOnce !== undefined && !/^[1-9]\d{0,8}$/.test(atOnce))) return err(form);
  const set = new IntervalSet();
  for (const part of indices.split(',')) {
    const match = /^(\d{1,9})(?:-(\d{1,9})(?::(\d{1,9}))?)?$/.exec(part.trim());
    if (match === null) return err(form);
    const from = Number(match[1]);
    const to = Number(match[2] ?? from);
    const step = Number(match[3] ?? 1);
    if (to < from || step < 1 || to > ARRAY_INDEX_MAX) return err(form);
    if (step === 1) set.addRange(from, to);
    else for (let index = from; index <= to; index += step) set.add(index);
  }
  const array = { indices: set.toString() };
  return ok(atOnce === undefined ? array : { ...array, runningMax: Number(atOnce) });
}

/** `42` or `42:ok|any|fail|each|start`, or `42:start+10m`. */
export function parseDependency(text: string): Result<Dependency, string> {
  const [id = '', said = 'ok', ...rest] = text.split(':');
  const [condition = '', delay] = said.split(/\+(.*)/s);
  const place = parseTaskId(id);
  const known = isCondition(condition);
  if (!place.ok || place.value.index !== null || !known || rest.length > 0) {
    return err(
      `'${text}' is not a dependency; write 42, 42:ok, 42:any, 42:fail, 42:each or 42:start`,
    );
  }
  const { jobId } = place.value;
  if (delay === undefined) return ok({ jobId, condition });
  const delayMs = parseDuration(delay);
  if (condition !== 'start') return err(`'${text}': only start has a time behind it, 42:start+10m`);
  return delayMs.ok ? ok({ jobId, condition, delayMs: delayMs.value }) : delayMs;
}

function isCondition(text: string): text is Dependency['condition'] {
  return ['ok', 'any', 'fail', 'each', 'start'].includes(text);
}

/** `requeue`, `wait` or `lease=30m`. */
export function parseOnNodeLoss(text: string): Result<OnNodeLoss, string> {
  if (text === 'requeue' || text === 'wait') return ok({ kind: text });
  const lease = /^lease=(.+)$/.exec(text)?.[1];
  if (lease === undefined) {
    return err(`'${text}' is not a policy for node loss; write requeue, wait or lease=30m`);
  }
  const duration = parseDuration(lease);
  if (!duration.ok) return duration;
  if (duration.value < 1000) return err('a lease must be at least 1s');
  return ok({ kind: 'lease', leaseMs: duration.value });
}

/** A walltime: a duration, or `none`. */
export function parseWalltime(text: string): Result<number | null, string> {
  if (text === 'none' || text === 'unlimited') return ok(null);
  const duration = parseDuration(text);
  return duration.ok && duration.value === 0
    ? err('the time limit is 0; write none for no limit')
    : duration;
}

const WARNING_LEAD_MS = 60_000;

/** `USR2@90`, in seconds as others have it, or `USR2@5m`; without a time a minute. */
export function parseWarning(text: string): Result<Warning, string> {
  const [name = '', lead, ...rest] = text.split('@');
  const signal = parseSignal(name);
  if (!signal.ok || rest.length > 0) {
    return err(`'${text}' is not a signal and a time; write USR2@90 or TERM@5m`);
  }
  if (lead === undefined) return ok({ signal: signal.value, leadMs: WARNING_LEAD_MS });
  const leadMs = /^\d{1,9}$/.test(lead) ? ok(Number(lead) * 1000) : parseDuration(lead);
  if (!leadMs.ok) return leadMs;
  if (leadMs.value === 0) return err(`'${text}' would arrive at the time limit, not before it`);
  return ok({ signal: signal.value, leadMs: leadMs.value });
}

/** `USR1`, `SIGUSR1`, `usr1` or a number. */
export function parseSignal(text: string): Result<number, string> {
  const name = text.toUpperCase().replace(/^SIG/, '');
  const number = SIGNALS[name] ?? (/^\d{1,2}$/.test(name) ? Number(name) : 0);
  if (number >= 1 && number <= 64) return ok(number);
  return err(`'${text}' is not a signal.${didYouMean(name, Object.keys(SIGNALS))}`);
}

/** A whole number within bounds, both included. */
export function parseCount(text: string, from: number, to: number): Result<number, string> {
  if (!/^-?\d+$/.test(text)) return err(`'${text}' is not a whole number`);
  if (Number(text) > to) return err(`'${text}' is more than ${to}`);
  return Number(text) < from ? err(`'${text}' is less than ${from}`) : ok(Number(text));
}

/** A size with its unit: a bare number above 0 would be a guess. */
export function parseMemory(text: string): Result<number, string> {
  if (/^[1-9]\d*$/.test(text)) return err(`'${text}' has no unit; write ${text}M or ${text}G`);
  return parseSize(text);
}

/** A label or an expression over labels; which there are, the head knows. */
export function parseNeed(text: string): Result<string, string> {
  if (text === '') return err('names no label; `weft node list -o wide` shows them');
  const parsed = isExpression(text) ? parseLabels(text) : ok(null);
  return parsed.ok
    ? ok(text)
    : err(`'${text}', column ${parsed.error.column}: ${parsed.error.what}`);
}

/** Octal, as umask(1). */
export function parseUmask(text: string): Result<number, string> {
  if (!/^0?[0-7]{1,3}$/.test(text)) return err(`'${text}' is not a umask; write 022`);
  return ok(Number.parseInt(text, 8));
}

/** `name=count`. */
export function parseCounted(text: string): Result<readonly [string, number], string> {
  const match = /^([^=\s]+)=(\d{1,12})$/.exec(text);
  if (match === null) return err(`'${text}' is not a resource; write name=count`);
  return ok([match[1] ?? '', Number(match[2])]);
}
