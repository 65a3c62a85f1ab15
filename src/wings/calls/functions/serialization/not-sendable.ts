// The refusal of a value or function that cannot be sent to another process.

/** Thrown before anything is sent: names where in the value the obstacle is, and why. */
export class NotSendable extends Error {
  override readonly name = 'NotSendable';
  /** Like `args[0].db.socket`, or `client.socket (captured by simulate)`. */
  readonly path: string;
  readonly reason: string;

  constructor(path: string, reason: string, options?: ErrorOptions) {
    super(`Cannot send ${path}: ${reason}.`, options);
    this.path = path;
    this.reason = reason;
  }
}

/** Steps from a root to a value, the last one first: cheap to extend while walking. */
export interface Trail {
  readonly step: string;
  readonly up: Trail | null;
}

/** Words for a trail. Captures (steps that end with `»`) are told after what they hold. */
export function trailTextOf(trail: Trail): string {
  const steps: string[] = [];
  for (let at: Trail | null = trail; at !== null; at = at.up) steps.unshift(at.step);
  const parts = steps.join('').split(CAPTURED);
  const last = parts.pop() ?? '';
  const by = parts.reverse().map((name) => `captured by ${name}`);
  return by.length === 0 ? last : `${last} (${by.join(', ')})`;
}

/** Ends the part of a trail that names a function; what it captured follows. */
export const CAPTURED = '\u00bb';

/** The step to a property of an object or an element of an array. */
export function stepTo(key: string | number): string {
  if (typeof key === 'number') return `[${key}]`;
  return /^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u.test(key)
    ? `.${key}`
    : `[${JSON.stringify(key)}]`;
}
