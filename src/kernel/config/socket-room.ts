// Whether sockets have room in a directory: their addresses are short.

import path from 'node:path';
import { usage } from '../model/failure.ts';
import { SOCKET_PATH_BYTES_MAX } from '../model/limits.ts';

/** What an agent's directory holds, with the longest name. */
const LAUNCHER_SOCKET = 'launcher.sock';

/** Throws when the launcher of an agent in this directory could have no socket there. */
export function refuseLongDirectory(agentDirectory: string, named = agentDirectory): void {
  const over =
    Buffer.byteLength(path.join(agentDirectory, LAUNCHER_SOCKET)) - SOCKET_PATH_BYTES_MAX;
  if (over <= 0) return;
  throw usage(
    `${named} is ${over} bytes too long: the launcher of an agent there would have no address`,
    'Choose a shorter directory with --dir, WEFT_DIR or XDG_STATE_HOME.',
  );
}
