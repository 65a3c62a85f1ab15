// The flags of `npm test`.

import { parseArgs } from 'node:util';
import { STAGES } from './stages.ts';

/** How the words after `npm test --` were understood. */
export interface Options {
  /** Names of the stages to run, in their own order. */
  readonly only: readonly string[];
  readonly grep?: RegExp | undefined;
  readonly stopAtFirst: boolean;
  readonly install: boolean;
  /** Only what differs from this branch or commit is tested, and no real clusters are started. */
  readonly changedSince?: string | undefined;
}

/** What `--changed` stands in for: clusters of real programs take longer than a look in between. */
const NOT_FOR_A_CHANGE = ['simulation', 'e2e', 'build', 'package'];

/** Reads the arguments; throws with a message for people when one is wrong. */
export function parseOptions(args: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...args],
    options: {
      only: { type: 'string', multiple: true, default: [] },
      grep: { type: 'string' },
      'stop-at-first': { type: 'boolean', default: false },
      'no-install': { type: 'boolean', default: false },
      changed: { type: 'boolean', default: false },
      base: { type: 'string', default: 'main' },
    },
  });
  const names = STAGES.map((stage) => stage.name);
  const only = values.only.flatMap((value) => value.split(','));
  const unknown = only.filter((name) => !names.includes(name));
  if (unknown.length > 0) {
    throw new Error(`No stage ${unknown.join(', ')}; the stages are: ${names.join(', ')}.`);
  }
  const all = values.changed ? names.filter((name) => !NOT_FOR_A_CHANGE.includes(name)) : names;
  return {
    only: only.length > 0 ? only : all,
    changedSince: values.changed ? values.base : undefined,
    grep: values.grep === undefined ? undefined : new RegExp(values.grep),
    stopAtFirst: values['stop-at-first'],
    install: !values['no-install'],
  };
}
