// Input that a client sends to a site's job while it runs, as files of a folder: each has a piece,
// and is called by how many bytes came before it. The last one, which is empty, says how many there
// are in all.

export const PIECE = /^\d{1,16}$/;

/** Before the number of all bytes. */
export const END = 'end-';

/** @param bytes of all input */
export function endName(bytes: number): string {
  return `${END}${bytes}`;
}
