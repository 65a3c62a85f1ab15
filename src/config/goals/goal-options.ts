// Goal state from the configuration: the file itself is read by the head.

import path from 'node:path';
import { usage } from '../../core/model/failure.ts';
import type { Config } from '../config.ts';
import type { GoalFileOptions } from '../daemon-options.ts';

/** Null: nodes have no goals. */
export function goalOptions(config: Config): GoalFileOptions | null {
  const name = config.text('goals.file');
  const url = config.text('goals.url');
  const common = {
    refreshMs: config.number('goals.refresh'),
    everyMs: config.number('goals.every'),
    repairs: config.flag('goals.repair'),
  };
  if (url !== null) {
    if (name !== null) throw usage('give either goals.file or goals.url');
    if (!/^https?:\/\/\S+$/.test(url)) {
      throw usage(`goals.url: '${url}' is no address; it begins with https:// or http://`);
    }
    return { ...common, from: { kind: 'url', url } };
  }
  if (name === null) return null;
  // Beside the configuration, where it is not absolute.
  const [beside = ''] = (config.origin.file ?? config.file ?? '').split(' and ');
  const file = path.resolve(path.dirname(beside), name);
  return { ...common, from: { kind: 'file', file } };
}
