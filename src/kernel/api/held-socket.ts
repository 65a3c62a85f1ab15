// The way to a head on this machine: one socket, held fast. What lies at a path can be replaced
// between a look and a use; what is held here cannot, and its owner says whose program listens.

import { closeSync, constants, fstatSync, openSync, statSync } from 'node:fs';

/** O_PATH of open(2), which Node.js does not name: holds a file without opening it. */
const HOLD = 0o10000000;

/** A socket among all of this machine, and the user who bound it. */
export interface SocketIdentity {
  readonly device: bigint;
  readonly inode: bigint;
  readonly uid: bigint;
}

/** A file that is held fast: `path` leads to it whatever becomes of its name. */
export interface Held {
  readonly path: string;
  readonly identity: SocketIdentity;
  release(): void;
}

/** Throws as open(2) does. */
export function holdFile(path: string): Held {
  return hold(path, HOLD);
}

/** The same for a directory itself, never for one that a link at its place leads to. */
export function holdDirectory(path: string): Held {
  return hold(path, HOLD | constants.O_DIRECTORY | constants.O_NOFOLLOW);
}

function hold(path: string, flags: number): Held {
  const descriptor = openSync(path, flags);
  const { dev, ino, uid } = fstatSync(descriptor, { bigint: true });
  return {
    path: `/proc/self/fd/${descriptor}`,
    identity: { device: dev, inode: ino, uid },
    release: () => closeSync(descriptor),
  };
}

/** Identity of what lies at the path now. Throws as stat(2) does. */
export function identityAt(path: string): SocketIdentity {
  const { dev, ino, uid } = statSync(path, { bigint: true });
  return { device: dev, inode: ino, uid };
}

/** One text per socket and owner, also when an inode is used again. */
export function formatSocket({ device, inode, uid }: SocketIdentity): string {
  return `${device}-${inode}-${uid}`;
}
