// What logins add to the machine: the nodes that vouch for their users.

import type { MachinePart } from '../../../kernel/machine/part.ts';
import { trustedNodes } from './trusted-nodes.ts';

export const part: MachinePart = { nouns: [trustedNodes] };
