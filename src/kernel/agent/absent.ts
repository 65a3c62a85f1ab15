// Stand-ins for what an agent may do without: one whose tasks run elsewhere has no files here, sets
// no limits, and knows no accounts, so that it must not be told to switch users.

import { POLLED } from '../ports/containment.ts';
import type { Files } from '../ports/files.ts';
import type { UserAccount, Users } from '../ports/users.ts';
import type { AgentPorts, AllPorts } from './ports.ts';

/** With what is absent put in its place. */
export function completePorts(ports: AgentPorts): AllPorts {
  return { files: NO_FILES, users: NO_USERS, containment: POLLED, ...ports };
}

/** What is written is forgotten, and nothing is found. */
const NO_FILES: Files = {
  makeDirectory: () => undefined,
  writeFile: () => undefined,
  size: () => null,
  look: () => null,
  read: () => new Uint8Array(0),
  empty: () => true,
  emptyFrom: () => Promise.resolve(),
  removeFile: () => undefined,
  removeTree: () => Promise.resolve(),
  list: () => [],
};

const NOBODY: UserAccount = {
  name: 'nobody',
  uid: 65_534,
  gid: 65_534,
  groups: [65_534],
  home: '/',
  shell: '/bin/sh',
};

const NO_USERS: Users = {
  self: () => NOBODY,
  cached: () => null,
  find: () => Promise.resolve(null),
};
