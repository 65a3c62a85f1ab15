// Tells the users of this machine where the listener of an agent is, wherever its state directory
// lies: by the name of an abstract socket, which is seen by all of them and gone with the process.

import { createServer } from 'node:net';
import { announcementOf } from '../../../../kernel/model/announcement.ts';
import type { PauseListener } from './pause-listener.ts';

/** Returns null when the path is too long for such a name, so that it has to be named. */
export async function announce(door: string): Promise<Pick<PauseListener, 'close'> | null> {
  const name = announcementOf(process.pid, door);
  if (name === null) return null;
  // Its name says all.
  const server = createServer((socket) => socket.destroy());
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen({ path: `\0${name}` }, resolve);
  });
  return { close: () => new Promise((resolve) => void server.close(() => resolve())) };
}
