// How a command of Slurm fails: `sbatch: error: …`, and exit code 1, or its own for words that
// cannot be read: those of getopt, which has no `error:`, and values in no form of theirs.

import type { Context } from '../../../kernel/cli/context.ts';
import { defineVerb, type Verb } from '../../../kernel/cli/verb.ts';
import { Failure, usage } from '../../../kernel/model/failure.ts';
import { expandHosts } from '../core/hostlist.ts';
import { expandIds } from '../core/ids.ts';
import type { LINES } from '../core/lines.ts';
import { type OptionRow, type Read, readOptions } from '../core/option-table.ts';
import { notState } from '../core/states.ts';
import { tellInstantsAs } from './instants.ts';

/**
 * What Slurm's clients look for in `--version`. The number is of the release whose words these are.
 */
export const RELEASE = 'slurm 22.05.8';

const HELP = 'Which options are honoured: docs/migration/slurm-commands.md.';

const TIME_FORMAT = 'SLURM_TIME_FORMAT';

/** No code of a head's. */
const UNREAD = 'words.unread';

/** A command whose words are read by its own table, as they were typed. */
export function speaking(
  name: string,
  run: (context: Context, words: readonly string[]) => Promise<number>,
  /** Where its words are none that it could read. */
  unreadCode = 1,
): Verb {
  const verb = defineVerb({
    define(command) {
      command.argument('[words...]', 'as of Slurm');
      command.passThroughOptions();
    },
    async run({ context, args }) {
      try {
        if (args[0] === '--version' || args[0] === '-V') {
          context.print(RELEASE);
          return 0;
        }
        if (args[0] === '--help' || args[0] === '--usage') {
          context.print(`Usage: ${name} [OPTIONS...]\n${HELP}`);
          return 0;
        }
        const format = context.environment[TIME_FORMAT];
        if (!tellInstantsAs(format))
          context.error(`${name}: error: invalid ${TIME_FORMAT} = '${format}'\n`);
        return await run(context, args);
      } catch (error) {
        if (!(error instanceof Failure)) throw error;
        context.error(`${wordsOf(name, error)}\n`);
        return error.code === UNREAD || FORM.test(error.message) ? unreadCode : 1;
      }
    },
  });
  return { ...verb, isAsTyped: true };
}

/** Values of options that are in no form of theirs; numbers and names are not among them. */
const FORM =
  /^(?:.*: )?(?:--(?:begin|signal): |Invalid --[\w-]+ specification|"[^"]*" is not a valid node count|Maximum node count |Invalid directive found )/;

/** Commands that name no help behind the words of getopt. */
const TERSE: readonly string[] = ['sacct', 'sstat'];

function wordsOf(name: string, { code, message, hint }: Failure): string {
  if (code !== UNREAD)
    return `${name}: error: ${message}${hint === null ? '' : `\n${name}: ${hint}`}`;
  const more = TERSE.includes(name) ? '' : `\nTry "${name} --help" for more information`;
  return `${name}: ${message}${more}`;
}

export function unread(message: string): Failure {
  return new Failure({ code: UNREAD, kind: 'invalid_argument', message });
}

/** Throws a failure in the words of getopt, and for what is refused by name. */
export function readWords<Name extends string>(
  rows: readonly OptionRow<Name>[],
  words: readonly string[],
  how: { readonly stops?: boolean } = {},
): Read<Name> {
  const read = readOptions(rows, words, how);
  if (!read.ok) throw unread(read.error);
  const refused = rows.find(({ long, kind }) => kind === 'refused' && long in read.value.given);
  if (refused !== undefined)
    throw usage(`--${refused.long} is not honoured here: ${refused.words}`);
  return read.value;
}

/** With what the environment says where nothing was typed, by the name of each option. */
export function orSaid<Name extends string>(
  given: Read<Name>['given'],
  { environment }: Context,
  names: Readonly<Partial<Record<Name, string>>>,
): Read<Name>['given'] {
  const said = Object.entries<string | undefined>(names).flatMap(([name, variable = '']) => {
    const value = environment[variable];
    return value === undefined || value === '' || name in given ? [] : [[name, value] as const];
  });
  return { ...(Object.fromEntries(said) as Read<Name>['given']), ...given };
}

/** The cluster that is named, which is this one; null: none is. */
export async function clusterOf(
  context: Context,
  named: string | undefined,
): Promise<string | null> {
  if (named === undefined) return null;
  const { clusterName } = await (await context.api()).call('info');
  if (named !== 'all' && named !== clusterName)
    throw usage(`'${named}' is no cluster here`, `There is ${clusterName}.`);
  return clusterName;
}

/** For a command that takes options alone. */
export function refuseOperands([first]: readonly string[]): void {
  if (first !== undefined) throw usage(`Unrecognized option: ${first}`);
}

export function refuseStates(words: readonly string[] | undefined): void {
  const wrong = notState(words);
  if (wrong !== undefined) throw usage(`Invalid job state specified: ${wrong}`);
}

export type Line = (typeof LINES)[number];

/** Runs a line of ours, which says nothing where all is well, as Slurm's do not. */
export async function runOurs(
  context: Context,
  words: readonly [Line, ...string[]],
  out: (text: string | Uint8Array) => void = () => undefined,
): Promise<number> {
  const { terminal, program, runLine } = context;
  const error = (text: string | Uint8Array): void => {
    const said = typeof text === 'string' ? text : Buffer.from(text).toString();
    terminal.error(said.replace(`${program}: `, `${program}: error: `));
  };
  const code = (await runLine?.(words, { ...terminal, out, error })) ?? 1;
  return code === 0 ? 0 : 1;
}

/** `Key=text` words by their keys in lower case. */
export function fieldsOf(words: readonly string[]): ReadonlyMap<string, string> {
  return new Map(
    words.map((word) => {
      const [key = '', text = ''] = word.split(/=(.*)/s);
      return [key.toLowerCase(), text] as const;
    }),
  );
}

/** The hosts of a list as `n[1-3],m7`; undefined: none was given. */
export function hostsOf(text: string | undefined): string[] | undefined {
  if (text === undefined) return undefined;
  const hosts = expandHosts(text);
  if (hosts === null) throw usage(`Invalid node name specified: ${text}`);
  return hosts;
}

/** The names in a list with commas; undefined: none was given. */
export function listOf(text: string | undefined): string[] | undefined {
  return text?.split(',').flatMap((one) => (one.trim() === '' ? [] : [one.trim()]));
}

/** The ids in a list, each task of a range by itself; undefined: none was given. */
export function idsOf(text: string | undefined): string[] | undefined {
  if (text === undefined) return undefined;
  const ids = expandIds(text);
  if (!ids.ok) throw usage(ids.error);
  return ids.value;
}
