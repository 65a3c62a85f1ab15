// What notifications add to the machine: their noun, and news of each job that is done.

import type { MachinePart } from '../../../kernel/machine/part.ts';
import { tellOfJob } from './due.ts';
import { notifications } from './notifications.ts';

export const part: MachinePart = {
  nouns: [notifications],
  indexes: () => ({ lines: new Map() }),
  hooks: { afterJob: tellOfJob },
};
