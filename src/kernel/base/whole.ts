// Whole numbers within bounds.

/** Whether it is a whole number from `min` to `max`, both included. */
export function isWhole(value: unknown, min: number, max: number): boolean {
  return Number.isSafeInteger(value) && (value as number) >= min && (value as number) <= max;
}
