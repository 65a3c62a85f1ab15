// How long a text is for the system, which counts bytes.

/** Bytes of the text as UTF-8; a lone half of a pair counts as U+FFFD, which replaces it. */
export function utf8Length(text: string): number {
  if (!BEYOND_ASCII.test(text)) return text.length;
  let bytes = 0;
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0;
    bytes += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x1_0000 ? 3 : 4;
  }
  return bytes;
}

const BEYOND_ASCII = /[^\u0000-\u007f]/;
