// Goal state from the configuration: the file itself is read by the head.

import path from 'node:path';
import { badAddress, isLoopbackAddress } from '../../../kernel/config/address.ts';
import type { Config } from '../../../kernel/config/config.ts';
import type { GoalFileOptions } from '../../../kernel/config/daemon-options.ts';
import { usage } from '../../../kernel/model/failure.ts';

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
    const bad = badAddress(url) ?? whyUnsafe(url);
    if (bad !== null) throw usage(`goals.url: ${bad}`);
    return { ...common, from: { kind: 'url', url } };
  }
  if (name === null) return null;
  // Beside the configuration, where it is not absolute.
  const [beside = ''] = (config.origin.file ?? config.file ?? '').split(' and ');
  const file = path.resolve(path.dirname(beside), name);
  return { ...common, from: { kind: 'file', file } };
}

/** Lines of goals run on nodes: whoever is on the way must not be able to change them. */
function whyUnsafe(url: string): string | null {
  if (new URL(url).protocol === 'https:' || isLoopbackAddress(url)) return null;
  return 'give https://; http:// is only for an address of this machine (127.0.0.1, localhost)';
}
