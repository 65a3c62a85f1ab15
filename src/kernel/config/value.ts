// One configuration value: from text to what the programs use, and back for people.

import { DURATION_FORMS, formatDuration, parseDuration } from '../base/duration.ts';
import { err, ok, type Result } from '../base/result.ts';
import { formatSize, parseSize, SIZE_FORMS } from '../base/size.ts';
import { parseHours } from '../model/hours.ts';
import { isExpression, parseLabels } from '../model/labels.ts';
import { parseNodeNames } from '../model/node-names.ts';
import type { Key } from './key.ts';
import type { SeedKey } from './keys.ts';

export interface Address {
  readonly host: string;
  readonly port: number;
}

/** Sizes are bytes, durations ms; null is `none`. */
export type Value = string | number | boolean | readonly string[] | Address | null;

/** Reads the text of a value. Lists are separated by commas. */
export function parseValue(key: Key, text: string): Result<Value, string> {
  const read = READERS[key.type](text.trim(), key);
  const wrong = read.ok ? wrongForm(key, read.value) : null;
  if (wrong !== null) return err(wrong);
  if (!read.ok || typeof read.value !== 'number') return read;
  const { min = 0, max = Number.POSITIVE_INFINITY } = key;
  if (read.value < min)
    return err(`'${text}' is too small; it must be at least ${formatValue(key, min)}`);
  if (read.value > max)
    return err(`'${text}' is too large; it must be at most ${formatValue(key, max)}`);
  return read;
}

function wrongForm({ form }: Key, value: Value): string | null {
  if (form === undefined) return null;
  const texts = Array.isArray(value) ? value : [value];
  const bad = texts.find((text) => typeof text === 'string' && !form.is.test(text));
  if (bad !== undefined) return `'${bad}' is not ${form.expected}`;
  const names = form.nameOf === undefined ? [] : texts.map((text) => form.nameOf?.(`${text}`));
  const twice = names.find((name, index) => names.indexOf(name) < index);
  return twice === undefined ? null : `'${twice}' is named twice`;
}

/** The value in a form that `parseValue` reads. */
export function formatValue(key: Key, value: Value): string {
  if (value === null) return 'none';
  if (key.type === 'size') return formatSize(value as number);
  if (key.type === 'duration') return formatDuration(value as number);
  if (key.type === 'address') return formatAddress(value as Address);
  return Array.isArray(value) ? value.join(',') : String(value);
}

export function formatAddress({ host, port }: Address): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/** The seed wrote bare numbers; this adds the unit that each of its keys has. */
export function parseSeedValue(
  key: Key,
  { unit, least }: SeedKey,
  text: string,
): Result<Value, string> {
  if (!/^\d+(\.\d+)?$/.test(text)) return err(`'${text}' is not a number (${UNIT_WORDS[unit]})`);
  if (unit === 'port') return parseValue(key, `127.0.0.1:${text}`);
  // The seed's time limit below 1 means none.
  if (unit === 'h' && Number(text) < 1) return ok(null);
  const number = Number(text) < least ? String(least) : text;
  return parseValue(key, unit === 'count' ? number : `${number}${unit}`);
}

const UNIT_WORDS = {
  ms: 'of milliseconds',
  s: 'of seconds',
  h: 'of hours',
  M: 'of megabytes',
  count: 'of things',
  port: 'of a port',
};

const READERS: Record<Key['type'], (text: string, key: Key) => Result<Value, string>> = {
  text: (text) => (text === '' ? err('is empty') : ok(text)),
  texts: (text) =>
    ok(
      text
        .split(',')
        .map((part) => part.trim())
        .filter(Boolean),
    ),
  count: (text) =>
    /^\d{1,12}$/.test(text) ? ok(Number(text)) : err(`'${text}' is not a whole number`),
  integer: (text) =>
    /^-?\d{1,12}$/.test(text) ? ok(Number(text)) : err(`'${text}' is not a whole number`),
  number: (text) =>
    /^-?\d{1,12}(\.\d{1,12})?$/.test(text) ? ok(Number(text)) : err(`'${text}' is not a number`),
  nodes: parseNodeNames,
  labels: parseLabelList,
  hours: (text) => {
    const hours = parseHours(text);
    return hours.ok ? ok(hours.value.text) : hours;
  },
  size: (text) =>
    /^\d+$/.test(text) && text !== '0'
      ? err(`'${text}' has no unit; write ${SIZE_FORMS.split(' or ')[0]}`)
      : parseSize(text),
  duration: (text) =>
    text === 'none' || text === '0'
      ? ok(null)
      : /^\d+$/.test(text)
        ? err(`'${text}' has no unit; write ${DURATION_FORMS}`)
        : parseDuration(text),
  flag: (text) =>
    text === 'true' || text === 'false'
      ? ok(text === 'true')
      : err(`'${text}' is not true or false`),
  address: (text) => (text === 'none' ? ok(null) : parseAddress(text)),
  choice: (text, { choices = [] }) =>
    choices.includes(text) ? ok(text) : err(`'${text}' is not one of ${choices.join(', ')}`),
};

/** Labels or expressions, all of which a node must meet. */
function parseLabelList(text: string): Result<Value, string> {
  const labels = text.split(',').map((part) => part.trim());
  for (const label of labels) {
    const parsed = parseLabels(label);
    if (!parsed.ok && label !== '') {
      const where = isExpression(label) ? `, column ${parsed.error.column}` : '';
      return err(`'${label}'${where}: ${parsed.error.what}`);
    }
  }
  return ok(labels.filter(Boolean));
}

export function parseAddress(text: string): Result<Address, string> {
  const match = /^(?:\[([0-9a-fA-F:]+)\]|([^\s:[\]]+)):(\d{1,5})$/.exec(text);
  const port = Number(match?.[3]);
  if (match === null || port > 65_535) return err(`'${text}' is not an address; write host:port`);
  return ok({ host: match[1] ?? match[2] ?? '', port });
}
