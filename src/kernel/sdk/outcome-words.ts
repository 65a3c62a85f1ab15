// How a job ended, for the message of an error.

import type { JobInfo } from './views.ts';

/** `failed (exit code 3 on n1)`, `cancelled: by alice`. */
export function outcomeWords({ outcome }: JobInfo): string {
  if (outcome === null) return 'not done';
  const { kind, exit, process, detail } = outcome;
  const where = process === null ? '' : ` on ${process.node}`;
  if (exit?.code !== undefined) return `${kind} (exit code ${exit.code}${where})`;
  if (exit?.signal !== undefined) return `${kind} (signal ${exit.signal}${where})`;
  return detail === null ? kind : `${kind}: ${detail}`;
}
