// Words and numbers as the tools of drivers print them.

/** `00000000:0A:00.0` and `0a:00.0` as the kernel writes them: `0000:0a:00.0`. */
export function plainBusId(text: string): string {
  const parts = /^(?:([0-9a-f]+):)?([0-9a-f]{2}:[0-9a-f]{2}\.\d)$/i.exec(text.trim());
  if (parts === null) return text.trim().toLowerCase();
  const domain = (parts[1] ?? '0').slice(-4).padStart(4, '0');
  return `${domain}:${parts[2]}`.toLowerCase();
}

/**
 * A number, with or without its unit, or nothing: every word for "not known" is one that somebody
 * will add to.
 */
export function numberOf(text: string | number | undefined): number | null {
  if (typeof text === 'number') return Number.isFinite(text) ? text : null;
  const found = /^\s*(-?\d+(?:\.\d+)?)\s*[a-z%]*\s*$/i.exec(text ?? '');
  return found === null ? null : Number(found[1]);
}

/** What a card draws and how warm it is, as far as both are numbers. */
export function warmth(
  watts: number | null,
  celsius: number | null,
): { readonly watts?: number; readonly celsius?: number } {
  return { ...(watts === null ? {} : { watts }), ...(celsius === null ? {} : { celsius }) };
}

/** The errors that a card has corrected, as far as they are a number. */
export function corrected(errors: number | null): { readonly correctedErrors?: number } {
  return errors === null ? {} : { correctedErrors: errors };
}

/** More than any line that a tool is known to print. */
const LINE_LENGTH_MAX = 4000;

/** Lines, without those that can only be nonsense: patterns may take long over them. */
export function linesOf(text: string): string[] {
  return text.split('\n').filter(({ length }) => length <= LINE_LENGTH_MAX);
}

/** The first line that says something, short enough for a table. */
export function firstLine(text: string): string {
  const line = text.split('\n').find((one) => one.trim() !== '') ?? '';
  return line
    .slice(0, LINE_LENGTH_MAX)
    .replaceAll(/[^\x20-\x7e]/g, '?')
    .trim()
    .slice(0, 200);
}
