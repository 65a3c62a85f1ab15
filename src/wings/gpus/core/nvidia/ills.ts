// When a card of NVIDIA should get no new work, by what its driver says.

/** Words of the driver that are no action. */
const NO_ACTION = /^(none|\[?n\/a\]?|\[not supported\]|)$/i;
const NEEDS_RESET = /requires reset/i;

/** In words; empty: it is well. Cells that hold no answer say nothing. */
export function illsOf(row: ReadonlyMap<string, string>): string[] {
  const cell = (field: string): string => row.get(field)?.trim() ?? '';
  const found: string[] = [];
  if ([...row.values()].some((one) => NEEDS_RESET.test(one))) found.push('GPU requires reset');
  const action = cell('gpu_recovery_action');
  if (isWord(action) && !NO_ACTION.test(action)) found.push(`recovery action: ${action}`);
  if (cell('compute_mode') === 'Prohibited')
    found.push('compute mode Prohibited lets no program use it');
  const errors = Number(cell('ecc.errors.uncorrected.volatile.total'));
  if (errors > 0) found.push(`${errors} uncorrected memory errors since the driver was loaded`);
  if (isYes(cell('remapped_rows.failure'))) found.push('remapping of a memory row has failed');
  if (isYes(cell('remapped_rows.pending')))
    found.push('a memory row is remapped at the next reset');
  if (isYes(cell('retired_pages.pending')))
    found.push('a memory page is retired at the next reset');
  return found;
}

function isYes(text: string): boolean {
  return text.toLowerCase() === 'yes';
}

/** What stands in brackets is said in place of an answer. */
function isWord(text: string): boolean {
  return !text.startsWith('[') && text !== 'ERR!';
}
