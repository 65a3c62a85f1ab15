// Texts as cells of comma separated tables, which people open in spreadsheets.

/**
 * What spreadsheets read as a formula, or as one after they have trimmed it: the first characters
 * that OWASP names under "CSV injection", and their full-width forms.
 */
const FORMULA = /^[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/;
const NUMBER = /^[+-]?\d+(\.\d+)?(e[+-]?\d+)?$/i;

/** A text as one cell by RFC 4180. One that would run as a formula has an apostrophe before it. */
export function csvCell(text: string): string {
  const cell = FORMULA.test(text) && !NUMBER.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
}
