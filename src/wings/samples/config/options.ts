// What a head is told of idle gpus, also while it runs.

import type { Config } from '../../../kernel/config/config.ts';
import type { OptionsPart } from '../../../kernel/config/part.ts';
import type { IdleRule } from '../core/idle.ts';
import { BELOW_DEFAULT, forMsOf } from './keys.ts';

function rulesIn(config: Config): Readonly<Record<string, IdleRule>> {
  const rules = [...config.table('gpu_idle')].map(([partition, fields]) => {
    const rule: IdleRule = {
      belowPercent: (fields.get('below') as number | undefined) ?? BELOW_DEFAULT,
      forMs: forMsOf(fields),
      holdAfterMs: (fields.get('hold_after') as number | undefined) ?? null,
      endAfterMs: (fields.get('end_after') as number | undefined) ?? null,
    };
    return [partition, rule] as const;
  });
  return Object.fromEntries(rules);
}

export const options: OptionsPart = {
  settings: (config) => ({ gpuIdle: rulesIn(config) }),
};
