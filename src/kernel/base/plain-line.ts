// What a name or a reason may hold so that a reader sees all of it, on its one line.

/** Scripts in which the two joiners make other letters of those beside them. */
const JOINED = ['Arab', 'Syrc', 'Deva', 'Beng', 'Guru', 'Gujr', 'Orya', 'Taml', 'Telu', 'Knda']
  .concat(['Mlym', 'Sinh', 'Khmr', 'Mymr'])
  .map((script) => `\\p{scx=${script}}`)
  .join('');
const PICTURE = '\\p{Extended_Pictographic}';

/**
 * Controls, lone halves of a pair (no UTF-8), ends of lines and paragraphs, and whatever has no
 * form of its own: blanks of no width, marks that turn the direction in which the rest of the line
 * is read, fillers. Two names that differ in these alone look the same.
 */
const UNSEEN = '[\\p{Cc}\\p{Cf}\\p{Cs}\\p{Zl}\\p{Zp}\\p{DI}\\ufeff]';
/** Seen by what they make of the signs beside them: joiners, and the style of a picture. */
const SEEN = [
  `(?<=[${JOINED}])[\\u200c\\u200d]`,
  `(?<=[${PICTURE}\\p{EMod}\\ufe0f])\\u200d(?=${PICTURE})`,
  `(?<=${PICTURE})[\\ufe0e\\ufe0f]`,
].join('|');
const ASCII = /^[\x20-\x7e]*$/;

/** Made when a text needs it, which few do: it takes as long as a tenth of a short command. */
let hidden: RegExp | null = null;
function theHidden(): RegExp {
  hidden ??= new RegExp(`(?!${SEEN})${UNSEEN}`, 'gu');
  hidden.lastIndex = 0;
  return hidden;
}

/** True when all of it is seen. */
export function isPlainLine(text: string): boolean {
  return ASCII.test(text) || !theHidden().test(text);
}

/** The text without what is not seen, or with a sign in the place of each. */
export function toPlainLine(text: string, instead = ''): string {
  return ASCII.test(text) ? text : text.replace(theHidden(), instead);
}

/** The first sign that is not seen, `U+200B`; null: all are. */
export function hiddenIn(text: string): string | null {
  const code = ASCII.test(text) ? undefined : theHidden().exec(text)?.[0].codePointAt(0);
  return code === undefined ? null : `U+${code.toString(16).toUpperCase().padStart(4, '0')}`;
}
