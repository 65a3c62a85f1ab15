// The machine of a head as this program has it: the kernel's, with the parts of all wings.

import type { Machine } from '../kernel/machine/machine.ts';
import { createMachine } from '../kernel/machine/nouns.ts';
import { WINGS } from '../wings.ts';

export async function loadMachine(): Promise<Machine> {
  const parts = await Promise.all(WINGS.map(({ machine }) => machine?.()));
  return createMachine(parts.filter((part) => part !== undefined));
}
