// What is wrong with a request, in the numbers that clients of the wiki protocol know from Slurm.

export const WIKI_CODES = {
  starting: -140,
  header: -240,
  silence: -244,
  data: -246,
  malformed: -300,
  stamp: -350,
  checksum: -422,
  refused: -700,
  unlisted: -720,
  unsupported: -810,
  /** Minus the reason why a start had no effect: -910 - reason. */
  notStarted: -910,
} as const;

export type WikiProblemKind = keyof typeof WIKI_CODES;

export interface WikiProblem {
  readonly code: number;
  /** What was expected, and what to do. */
  readonly text: string;
}

export function wikiProblem(kind: WikiProblemKind, text: string): WikiProblem {
  return { code: WIKI_CODES[kind], text };
}
