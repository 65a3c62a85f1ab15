// What is to be done to a machine that is to have the head, by what is there: nothing twice.

import { err, ok, type Result } from '../../../kernel/base/result.ts';

/** What the machine has already. */
export interface HeadSeen {
  readonly isRoot: boolean;
  readonly hasSystemd: boolean;
  /** The user `weft`. */
  readonly hasUser: boolean;
  readonly hasFolder: boolean;
  readonly hasConfig: boolean;
  /** `weft-head.service`, wherever it came from. */
  readonly hasUnit: boolean;
  readonly isRunning: boolean;
}

export const HEAD_FOLDER = '/var/lib/weft/head';

export type StepName = 'user' | 'folder' | 'config' | 'unit' | 'start';

const STEPS: readonly (readonly [StepName, keyof HeadSeen, string])[] = [
  ['user', 'hasUser', 'make the user weft, as whom the head runs'],
  ['folder', 'hasFolder', `make ${HEAD_FOLDER}, where it keeps everything`],
  ['config', 'hasConfig', `write ${HEAD_FOLDER}/weft.yaml`],
  ['unit', 'hasUnit', 'install its unit, weft-head.service'],
  ['start', 'isRunning', 'start it, now and after each boot'],
];

export interface Problem {
  readonly what: string;
  readonly remedy: string;
}

export function planHead(seen: HeadSeen): Result<readonly StepName[], Problem> {
  if (!seen.isRoot) {
    return err({ what: 'a head of a machine is set up by root', remedy: 'Type it with sudo.' });
  }
  if (!seen.hasSystemd) {
    const remedy = 'docs/install.md has the same by hand; `weft up` needs nothing.';
    return err({ what: 'there is no systemd here to run it', remedy });
  }
  return ok(STEPS.flatMap(([name, have]) => (seen[have] ? [] : [name])));
}

export const wordsOf = (name: StepName): string => STEPS.find(([one]) => one === name)?.[2] ?? name;
