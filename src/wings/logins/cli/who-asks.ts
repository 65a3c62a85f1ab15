// How whoever approves a login is told who asks: first what the head has seen, then what the other
// says.

import { printable } from '../../../kernel/cli/output/table.ts';

/** Between quotes that it cannot end: a label is whatever the one who asks makes up. */
export const quotedLabel = (label: string): string => JSON.stringify(printable(label));

export function whoAsks(of: {
  readonly label: string;
  readonly address: string;
  readonly since: string;
}): string {
  return `From ${of.address}, since ${of.since}: it calls itself ${quotedLabel(of.label)}`;
}
