// Arguments of weft-rsh, as rsh and ssh take them: options, a host, and the words of a command.

import { err, ok, type Result } from '../../../kernel/base/result.ts';

export interface RemoteCommand {
  readonly host: string;
  /** For a shell: words are joined by spaces, as rsh and ssh join them. */
  readonly command: string;
  readonly takesInput: boolean;
}

/** Options of ssh that launchers give and that change nothing here. */
const IGNORED = new Set(['-x', '-X', '-q', '-T', '-4', '-6', '-a']);
const IGNORED_WITH_VALUE = new Set(['-o', '-F', '-i']);

/**
 * The same command where `path`, the remote shell of this node, has each node's own in its place.
 * Launchers pass on what they were started with, so that their daemons can start others in turn,
 * and a path in the state of one node is on no other.
 */
export function asSaidElsewhere(command: string, path: string | undefined): string {
  if (path === undefined || path === '') return command;
  const own = `\${WEFT_RSH}`;
  return command.replaceAll(`'${path}'`, `"${own}"`).replaceAll(path, own);
}

/** Has the command, in place of words that every user of the node can read. */
export const COMMAND_VARIABLE = 'WEFT_RSH_COMMAND';
export const USAGE = `usage: weft-rsh [-n] HOST COMMAND..., or weft-rsh [-n] HOST with ${COMMAND_VARIABLE}`;

/** What is asked for, or what is wrong with it. */
export function readArguments(
  words: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
): Result<RemoteCommand, string> {
  let at = 0;
  let takesInput = true;
  for (; words[at]?.startsWith('-'); at += 1) {
    const word = words[at] as string;
    if (word === '-n') takesInput = false;
    else if (IGNORED_WITH_VALUE.has(word)) at += 1;
    else if (!IGNORED.has(word)) return err(`${word} is not an option of weft-rsh; ${USAGE}`);
  }
  const [host, ...said] = words.slice(at);
  const command = said.length > 0 ? said.join(' ') : environment[COMMAND_VARIABLE];
  if (host === undefined || command === undefined) return err(USAGE);
  if (host.includes('@')) return err(`'${host}' names a user; a step runs as the user of its job`);
  return ok({ host, command, takesInput });
}
