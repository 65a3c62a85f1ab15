// Signals, as the shells of sites' nodes have them.

/** By Linux' numbers, as told to sites: those that would end a shell, but for its own faults. */
const TRAPPED = '1 2 3 5 6 10 12 13 14 15 16 24 25 26 27 29 30 31';
/** Not every shell knows them; the C library keeps the two before them for itself. */
const TRAPPED_REALTIME = Array.from({ length: 31 }, (_, at) => 34 + at).join(' ');

/**
 * Lines of a shell after which no signal ends it.
 * @param action `:` what the shell starts has them as ever; `''`: what it starts is deaf to them
 */
export function trapAll(action: ':' | "''"): string {
  return `trap ${action} ${TRAPPED}
(trap ${action} ${TRAPPED_REALTIME}) 2>/dev/null && trap ${action} ${TRAPPED_REALTIME}
`;
}
