// Runs the commands of a site with what they need of this program's variables, and no more.

import { commandsWith } from '../../../kernel/os/commands.ts';
import type { Commands } from '../../../kernel/ports/commands.ts';
import type { Adaptor } from '../adaptors/adaptor.ts';

/** What any program needs. */
const USUAL = ['PATH', 'LD_LIBRARY_PATH', 'HOME', 'USER', 'LOGNAME'];
/** Read by programs that stand before a site's commands, as ssh and docker do. */
const ON_THE_WAY = ['SSH_AUTH_SOCK', 'KRB5CCNAME', 'DOCKER_*', 'CONTAINER_HOST', 'XDG_RUNTIME_DIR'];

/** @param before the words before each of its commands */
export function siteCommands(
  { variables }: Pick<Adaptor, 'variables'>,
  before: readonly string[],
): Commands {
  return commandsWith([...USUAL, ...variables, ...(before.length === 0 ? [] : ON_THE_WAY)]);
}
