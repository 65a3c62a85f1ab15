// The wing in the program of a head.

import { join } from 'node:path';
import type { HeadPart } from '../../../kernel/head/part.ts';
import type { HeadProgram } from '../../../kernel/wing.ts';
import { goalOptions } from '../config/goal-options.ts';
import { goalsHead } from '../head/part.ts';
import { readGoals, startGoals } from './head-goals.ts';

export function headOf({ options, onReload, onEnd }: HeadProgram): HeadPart {
  return goalsHead(({ engine, logs, log }) => {
    const kept = join(options.directory, 'goals.kept');
    const { keeper, end } = startGoals({ engine, logs, log }, options.goals, kept);
    onReload((config) => {
      const goals = readGoals(goalOptions(config) ?? undefined, keeper.options.classes);
      return () => keeper.change(goals);
    });
    onEnd(end);
    return keeper;
  });
}
