// Goal state from the configuration: the file itself is read by the head.

import path from 'node:path';
import type { Config } from '../config.ts';
import type { GoalFileOptions } from '../daemon-options.ts';

/** Null: nodes have no goals. */
export function goalOptions(config: Config): GoalFileOptions | null {
  const name = config.text('goals.file');
  if (name === null) return null;
  // Beside the configuration, where it is not absolute.
  const [beside = ''] = (config.origin.file ?? config.file ?? '').split(' and ');
  return {
    file: path.resolve(path.dirname(beside), name),
    everyMs: config.number('goals.every'),
    repairs: config.flag('goals.repair'),
  };
}
