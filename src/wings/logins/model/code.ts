// The code of a login: read aloud, typed by somebody else, and never a word.

const LETTERS = 'BCDFGHJKLMNPQRSTVWXZ';
const LENGTH = 8;
/** Bytes from here on would make some letters likelier. */
const EVEN = 256 - (256 % LETTERS.length);

/** Returns null when these bytes were not enough; draw again. */
export function codeFrom(bytes: Uint8Array): string | null {
  const letters = [...bytes].filter((byte) => byte < EVEN).slice(0, LENGTH);
  if (letters.length < LENGTH) return null;
  const code = letters.map((byte) => LETTERS[byte % LETTERS.length]).join('');
  return `${code.slice(0, 4)}-${code.slice(4)}`;
}

/** The form in which it is kept, however it was typed; null: it is no code. */
export function parseCode(text: string): string | null {
  const letters = text.toUpperCase().replace(/[\s-]/g, '');
  const isCode = letters.length === LENGTH && [...letters].every((one) => LETTERS.includes(one));
  return isCode ? `${letters.slice(0, 4)}-${letters.slice(4)}` : null;
}
