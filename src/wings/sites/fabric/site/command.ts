// One command of a site, run so that its answer can be read: in a language and a zone that are
// known, bounded in time and in size.

import { quoteWord } from '../../../../kernel/base/shell-word.ts';
import type { Commands } from '../../../../kernel/ports/commands.ts';
import type { SiteCommand, SiteOutput } from '../../adaptors/adaptor.ts';
import type { SiteUser } from '../../ports/sites.ts';

/** A listing of 10,000 jobs has about 30 MiB. A longer one is cut, and then not believed. */
const OUTPUT_MAX = 128 * 1_048_576;

const SSH_FAILED = 255;

/** C is there on every machine, also on those that warn about others. */
const ENVIRONMENT = { LC_ALL: 'C', TZ: 'UTC' };

/** What it said, and whether something of it still runs, as `CommandEnd.isThere`. */
export interface SiteAnswer extends SiteOutput {
  readonly isThere: () => boolean;
}

export async function runSiteCommand(
  commands: Commands,
  { argv, input, environment }: SiteCommand,
  how: {
    readonly before: readonly string[];
    readonly timeoutMs: number;
    readonly user: SiteUser | null;
  },
): Promise<SiteAnswer> {
  const variables = { ...ENVIRONMENT, ...environment };
  const {
    code,
    output,
    errors,
    how: ending,
    isThere,
  } = await commands.run({
    argv: [...how.before, ...wordsBehind(how.before, argv, variables)],
    timeoutMs: how.timeoutMs,
    keep: { part: 'first', length: OUTPUT_MAX },
    apart: true,
    environment: variables,
    ...(input === undefined ? {} : { input }),
    ...(how.user === null ? {} : { user: how.user }),
  });
  // Of ssh itself: the way to the site failed, and the site has said nothing.
  const isWay = code === SSH_FAILED && isBehindSsh(how.before);
  // Of one that was never started, or not in time, only we can say why.
  const stderr = code === null && errors.trim() === '' ? ending : errors;
  return { stdout: output, stderr, code: isWay ? null : code, isThere };
}

function isBehindSsh(before: readonly string[]): boolean {
  return before.some((word) => /(^|\/)ssh$/.test(word));
}

/** What ssh is given reaches a shell as one line, without variables; others start it as it is. */
function wordsBehind(
  before: readonly string[],
  argv: readonly string[],
  variables: Readonly<Record<string, string>>,
): readonly string[] {
  if (!isBehindSsh(before)) return argv;
  const given = Object.entries(variables).map(([name, value]) => `${name}=${value}`);
  return ['env', ...given, ...argv].map(quoteWord);
}
