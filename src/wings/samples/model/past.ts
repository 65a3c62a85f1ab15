// Tasks that had a card earlier, and who had it at a time.

export interface PastTask {
  /** With its epoch. */
  readonly task: string;
  readonly user: string;
  /** When it was seen first and last. */
  readonly from: number;
  readonly until: number;
}

/** A part of the time that an answer is about. */
export interface Span {
  readonly from: number;
  readonly until: number;
}

/** Tasks that had it then, with their users; as far as one look in ten seconds shows them. */
export function heldIn(
  past: readonly PastTask[],
  { from, until }: Span,
): { tasks: string[]; users: string[] } {
  const held = past.filter((one) => one.from < until && one.until >= from);
  return {
    tasks: held.map(({ task }) => task),
    users: [...new Set(held.map(({ user }) => user))],
  };
}
