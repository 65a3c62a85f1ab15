// What a shell has exported since its allocation began, as far as a step may say so much.

import { type Said, tooMuchSaid } from '../../steps/core/size.ts';

type Variables = Readonly<Record<string, string>>;

export interface SaidVariables {
  readonly environment: Variables;
  /** Words why what was exported is not among them; null: it is. */
  readonly leftOut: string | null;
}

/**
 * `said`: the step without them, whose own variables go first; `places`: a node for each process.
 * One variable less than all would be a puzzle: where they are too much none is said.
 */
export function withExports(
  exported: Variables,
  said: Said,
  places: readonly string[],
): SaidVariables {
  const environment = { ...exported, ...said.environment };
  const leftOut = tooMuchSaid({ ...said, environment }, places);
  if (leftOut === null || Object.keys(exported).length === 0) return { environment, leftOut: null };
  return { environment: said.environment, leftOut };
}

/** `--export=NONE`: ranks have the variables of the job. */
export function isWithoutExports(said: string | undefined): boolean {
  return said !== undefined && /^(?:NONE|NIL)$/i.test(said);
}
