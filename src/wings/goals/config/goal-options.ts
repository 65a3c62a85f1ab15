// Goal state from the configuration: the file itself is read by the head.

import path from 'node:path';
import { badAddress, isLoopbackAddress } from '../../../kernel/config/address.ts';
import type { Config } from '../../../kernel/config/config.ts';
import type { OptionsPart } from '../../../kernel/config/part.ts';
import { usage } from '../../../kernel/model/failure.ts';

export interface GoalFileOptions {
  readonly from:
    | { readonly kind: 'file'; readonly file: string }
    | { readonly kind: 'url'; readonly url: string };
  /** Between two readings of an address. */
  readonly refreshMs: number;
  /** Between two looks at a node. */
  readonly everyMs: number;
  readonly repairs: boolean;
}

declare module '../../../kernel/config/daemon-options.ts' {
  interface HeadOptions {
    /** What nodes are to be like; absent = they have no goals. */
    readonly goals?: GoalFileOptions;
  }
}

/** Returns null when nodes have no goals. */
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

/** What the head is told at its start. */
export const options: OptionsPart = {
  head(config) {
    const goals = goalOptions(config);
    return goals === null ? {} : { goals };
  },
};
