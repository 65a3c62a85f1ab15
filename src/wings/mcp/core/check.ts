// Arguments of a tool against its schema: the words say what was wrong, where, and what was
// expected.

import { err, ok, type Result } from '../../../kernel/base/result.ts';
import type { Given, Schema } from './tools.ts';

export function checkArguments(
  { properties, required = [] }: Schema,
  given: Readonly<Record<string, unknown>>,
): Result<Given, string> {
  const checked: Record<string, string | number | boolean> = {};
  const missing = required.find((name) => given[name] == null);
  if (missing !== undefined) return err(`${missing} is missing`);
  for (const [name, value] of Object.entries(given)) {
    const property = Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (property === undefined) {
      return err(`${name} is unknown; there are ${Object.keys(properties).join(', ') || 'none'}`);
    }
    if (value === undefined || value === null) continue;
    const problem = problemOf(value, property);
    if (problem !== null) return err(`${name}: ${problem}`);
    checked[name] = value as string | number | boolean;
  }
  return ok(checked);
}

function problemOf(value: unknown, property: Readonly<Record<string, unknown>>): string | null {
  const { type } = property;
  if (type === 'boolean') return typeof value === 'boolean' ? null : 'expected true or false';
  if (type === 'integer') {
    const { minimum = 0, maximum = 0 } = property as { minimum?: number; maximum?: number };
    const isIn = Number.isInteger(value) && Number(value) >= minimum && Number(value) <= maximum;
    return isIn ? null : `expected a whole number from ${minimum} to ${maximum}`;
  }
  if (typeof value !== 'string') return 'expected text';
  const { minLength = 0, maxLength = 1000, pattern } = property as TextProperty;
  if (value.length < minLength) return 'expected some text';
  if (value.length > maxLength) return `expected at most ${maxLength} characters`;
  if (value.includes('\0')) return 'expected text without NUL';
  if (pattern === undefined || new RegExp(pattern).test(value)) return null;
  return String(property['description']);
}

interface TextProperty {
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
}
