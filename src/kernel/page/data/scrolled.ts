// How far down tables were scrolled, with each entry of the browser's history: whoever comes back
// by it finds them so, and whoever comes by a link sees their beginning.

const NAME = 'scrolled';

export function noteScrolled(table: string, top: number): void {
  const before = noted();
  if ((before[table] ?? 0) === top) return;
  history.replaceState({ [NAME]: { ...before, [table]: top } }, '');
}

/** In pixels; 0: its beginning. */
export function scrolledTo(table: string): number {
  const top = noted()[table];
  return typeof top === 'number' ? top : 0;
}

function noted(): Readonly<Record<string, unknown>> {
  const { state } = history as { readonly state: Readonly<Record<string, unknown>> | null };
  const of = state?.[NAME];
  return typeof of === 'object' && of !== null ? (of as Record<string, unknown>) : {};
}
