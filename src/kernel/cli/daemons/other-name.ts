// A name in the configuration that the node of this machine has not: it has the one with which it
// joined.

import type { Config } from '../../config/config.ts';

/** Words for people; null where `node.name` is not set, or is the name of the node. */
export function otherNameWords(config: Pick<Config, 'text'>, joinedAs: string): string | null {
  const name = config.text('node.name');
  if (name === null || name === joinedAs) return null;
  return `node.name is ${name}, but this machine joined as ${joinedAs} and stays that until it joins anew`;
}
