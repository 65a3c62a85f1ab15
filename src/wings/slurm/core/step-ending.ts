// When what is left of a step is ended: at its time limit, so long after the first rank has ended,
// and at the first rank that fails (srun(1), "--time", "--wait", "--kill-on-bad-exit").

import { err, ok, type Result } from '../../../kernel/base/result.ts';
import { parseLimit } from './times.ts';

export interface Endings {
  /** Null: it has none. */
  readonly limitMs: number | null;
  /** Null: the others go on. */
  readonly waitMs: number | null;
  readonly killsOnBadExit: boolean;
}

interface Words {
  readonly time?: string | undefined;
  readonly wait?: string | undefined;
  readonly 'kill-on-bad-exit'?: string | undefined;
}

export function endingsOf({ time, wait = '0', ...words }: Words): Result<Endings, string> {
  const kill = words['kill-on-bad-exit'] ?? '0';
  if (!/^\d{1,8}$/.test(wait)) return err(`Invalid numeric value "${wait}" for --wait.`);
  if (!/^[01]?$/.test(kill)) return err(`Invalid --kill-on-bad-exit argument: ${kill}`);
  const limit = time === undefined ? ok(null) : parseLimit(time);
  if (!limit.ok) return limit;
  const waitMs = Number(wait) === 0 ? null : Number(wait) * 1000;
  return ok({ limitMs: limit.value, waitMs, killsOnBadExit: kill !== '0' });
}
