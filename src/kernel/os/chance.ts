// The Chance port on Node.js.

import { randomBytes } from 'node:crypto';
import type { Chance } from '../ports/chance.ts';

export const systemChance: Chance = {
  bytes: (count) => new Uint8Array(randomBytes(count)),
  fraction: () => Math.random(),
};
