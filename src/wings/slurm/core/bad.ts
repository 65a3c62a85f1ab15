// What is wrong with an option that was typed, thrown by whoever reads it. Nobody but
// `requestOf` catches it.

export class Bad extends Error {}

export function bad(what: string): never {
  throw new Bad(what);
}

export function whole(name: string, text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) bad(`Invalid numeric value "${text}" for --${name}.`);
  return Number(text);
}
