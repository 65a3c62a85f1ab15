// What a configuration key is: a name, a type, a default and what it is for.

export type KeyType =
  | 'text'
  | 'texts'
  | 'count'
  | 'integer'
  | 'number'
  | 'size'
  | 'duration'
  | 'flag'
  | 'address'
  | 'choice'
  /** A list of nodes, `n1, n[2-4]`. */
  | 'nodes'
  /** Labels, or expressions over them. */
  | 'labels'
  /** Hours of the week, `Mon-Fri 08:00-18:00`. */
  | 'hours';

export interface Key {
  readonly name: string;
  readonly type: KeyType;
  /** The default as one would write it; null = none, or found out on the machine. */
  readonly default: string | null;
  readonly text: string;
  readonly choices?: readonly string[];
  readonly min?: number;
  readonly max?: number;
  /** What a text, or each of a list, must look like. */
  readonly form?: {
    readonly is: RegExp;
    readonly expected: string;
    /** What each of a list is about: said once. */
    readonly nameOf?: (text: string) => string;
  };
}

export const key = (
  name: string,
  type: KeyType,
  value: string | null,
  text: string,
  more: Partial<Key> = {},
): Key => ({ name, type, default: value, text, ...more });

/** `h100:2`: a type of gpus, and how many of it, up to `CAP_MAX`; each type once. */
export const CAPPED_TYPE = {
  form: {
    is: /^[a-z][a-z0-9._-]{0,39}:(?:\d{1,7}|10000000)$/,
    expected: 'a type and a number up to 10000000, as h100:2',
    nameOf: (text: string): string => text.split(':', 1)[0] ?? '',
  },
};
