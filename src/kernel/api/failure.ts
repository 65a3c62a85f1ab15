// How every refusal looks in an answer, whatever the route.

import { z } from 'zod';

export const failure = z.object({
  /** From the closed list of codes; a newer head may send one that is not known here. */
  code: z.string(),
  /** Decides status, exit code and whether to try again. */
  kind: z.string(),
  message: z.string(),
  details: z.record(z.string(), z.string()),
  /** What to do next. */
  hint: z.string().nullable(),
});
export type Failure = z.infer<typeof failure>;

export const failureReply = z.object({ error: failure });

/** One result of a bulk request, in the order of the request. */
export function resultOf<T extends z.ZodType>(value: T) {
  return z.union([
    z.object({ ok: z.literal(true), value }),
    z.object({ ok: z.literal(false), error: failure }),
  ]);
}
