// The program `distribute`, typed in a folder.

import { runVerbs } from '../../../../../src/kernel/cli/main.ts';
import type { Environment } from '../../../../../src/kernel/config/config.ts';
import type { Programs } from '../../../../../src/kernel/config/daemon-options.ts';
import { distribute } from '../../../../../src/wings/distribute/cli/distribute.ts';
import { capture, type FakeHead, type Said } from '../../../kernel/cli/fake-head.ts';

/** Typed for the cluster of this head. */
export function typed(head: FakeHead, cwd: string, ...argv: string[]): Promise<Said> {
  return distributeIn({ cwd, directory: head.directory }, ...argv);
}

/**
 * `distribute` typed in a folder; `directory`: the state directory of a cluster, if there is one.
 */
export function distributeIn(
  of: {
    readonly cwd: string;
    readonly directory?: string;
    readonly environment?: Environment;
    readonly programs?: Partial<Programs>;
  },
  ...argv: string[]
): Promise<Said> {
  const { cwd, directory = cwd, environment = {}, programs = {} } = of;
  const typed = { program: 'distribute', argv, cwd, environment, programs };
  return capture(directory, typed, (invocation) => runVerbs(invocation, distribute));
}
