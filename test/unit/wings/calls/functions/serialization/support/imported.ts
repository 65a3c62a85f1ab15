// A function of another file, with a variable of its own.

const factor = 7;

export function scaled(x: number): number {
  return x * factor;
}
