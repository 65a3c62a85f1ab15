// Names in a line of words: a cluster may have thousands.

const NAMES_MAX = 8;

/** `n1, n2`; of more than fit the first ones, and how many they are: `n1, …, n8, … (12 nodes)`. */
export function shortList(nodes: readonly string[]): string {
  if (nodes.length <= NAMES_MAX) return nodes.join(', ');
  return `${nodes.slice(0, NAMES_MAX).join(', ')}, … (${nodes.length} nodes)`;
}

/** `n1, n2 or n3`. */
export function shortChoice(nodes: readonly string[], word: 'and' | 'or'): string {
  if (nodes.length < 2 || nodes.length > NAMES_MAX) return shortList(nodes);
  return `${nodes.slice(0, -1).join(', ')} ${word} ${nodes.at(-1)}`;
}
