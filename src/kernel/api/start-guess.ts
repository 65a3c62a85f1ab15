// A start that a site decides itself: our plan only says when the site gets the task.

import { z } from 'zod';
import { instantOrNull } from './common.ts';

export const startGuess = z.object({
  /** The site. */
  site: z.string(),
  /** How long it would make the task wait, by its queue. Null: it takes no work, as it says. */
  waitMs: z.number().nullable(),
  /** When its queue was listed; null: it never was. */
  listedAt: instantOrNull,
});
export type StartGuess = z.infer<typeof startGuess>;
