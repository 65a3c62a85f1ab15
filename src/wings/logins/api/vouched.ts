// What a node says of a user at its agent's socket. Whatever a node sends is read here first.

import { z } from 'zod';
import { userName } from '../../../kernel/api/common.ts';

export const vouched = z.object({
  ask: z.string().regex(/^[0-9a-f]{16}$/),
  code: z.string().regex(/^[A-Z]{4}-[A-Z]{4}$/),
  user: userName,
  uid: z.int().min(0),
});
