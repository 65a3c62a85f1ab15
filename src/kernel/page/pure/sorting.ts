// The order of a table's rows as it stands in an address: `name`, or `-id` for the other way round.

export interface Sorting<Key extends string> {
  readonly key: Key;
  readonly down: boolean;
}

/** What no table knows is by the first of its keys. */
export function sortingOf<Key extends string>(text: string, keys: readonly Key[]): Sorting<Key> {
  const name = text.replace(/^-/, '');
  const key = keys.find((one) => one === name) ?? (keys[0] as Key);
  return { key, down: text.startsWith('-') };
}

export function bySorting({ key, down }: Sorting<string>): string {
  return down ? `-${key}` : key;
}
