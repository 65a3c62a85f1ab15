// Amounts as small whole numbers: steps of a logarithm, fine enough for curves and means (0.8 %).

const STEPS_PER_OCTAVE = 48;
/** Nobody looked. */
export const NOTHING = 0;
const ZERO = 1;
const ONE = 2;

/** The code of an amount; of less than 1 nothing is left. */
export function codeOf(amount: number): number {
  return amount >= 1 ? ONE + Math.round(Math.log2(amount) * STEPS_PER_OCTAVE) : ZERO;
}

/** Returns null when nobody looked. */
export function amountOf(code: number): number | null {
  if (code === NOTHING) return null;
  return code === ZERO ? 0 : 2 ** ((code - ONE) / STEPS_PER_OCTAVE);
}
