// The uids at the other ends of connections to a unix socket (SO_PEERCRED), which Node.js does not
// tell: the launcher is handed the connections and says it.

import { spawn } from 'node:child_process';
import type { Socket } from 'node:net';

/** The program asks the kernel once for each connection, and hangs only where the machine does. */
const PATIENCE_MS = 2000;
/** Descriptors before those that are asked for. */
const USUAL = ['ignore', 'pipe', 'ignore'] as const;

/**
 * For `PeerOwners`. `launcher`: the program and its first words; null: there is none that was
 * compiled, and nobody is told.
 */
export function uidsByLauncher(
  launcher: Promise<readonly string[] | null>,
): (sockets: readonly Socket[]) => Promise<readonly (number | null)[]> {
  return async (sockets) => {
    const command = await launcher;
    if (command === null) return sockets.map(() => null);
    const descriptors = sockets.map(descriptorOf);
    const open = descriptors.filter((descriptor) => descriptor !== null);
    const said = (await ask(command, open)).values();
    return descriptors.map((one) => (one === null ? null : (said.next().value ?? null)));
  };
}

/** None of one that is closed. In the turn of the loop that hands it on, it stays what it is. */
function descriptorOf(socket: Socket): number | null {
  const { _handle: handle } = socket as unknown as { _handle?: { fd?: number } | null };
  const descriptor = handle?.fd ?? -1;
  return descriptor >= 0 ? descriptor : null;
}

function ask(
  [program = '', ...words]: readonly string[],
  descriptors: readonly number[],
): Promise<(number | null)[]> {
  return new Promise((resolve) => {
    const args = [...words, '--peers', String(descriptors.length)];
    const child = spawn(program, args, {
      stdio: [...USUAL, ...descriptors],
      env: {},
      timeout: PATIENCE_MS,
      killSignal: 'SIGKILL',
    });
    let text = '';
    child.stdout?.setEncoding('utf8').on('data', (piece: string) => {
      text += piece;
    });
    child.once('error', () => resolve([]));
    child.once('close', () => {
      const lines = text.split('\n').slice(0, -1);
      resolve(lines.map((line) => (/^\d+$/.test(line) ? Number(line) : null)));
    });
  });
}
