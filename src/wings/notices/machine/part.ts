// What notices add to the machine: their noun.

import type { MachinePart } from '../../../kernel/machine/part.ts';
import { notices } from './notices.ts';

export const part: MachinePart = { nouns: [notices] };
