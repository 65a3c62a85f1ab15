// Where things are in the state directory of a cluster on this machine.

import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { fileProblem, namingFile } from '../../config/file-problem.ts';
import { socketIn } from '../../connect/locate.ts';
import { type Failure, usage } from '../../model/failure.ts';

/** Where head and agent have their own as services of the machine. */
export const SERVICES = { head: '/var/lib/weft/head', node: '/var/lib/weft/node' } as const;

const DOOR_END = '.sock';
const MARK_END = '.pid';

/** The last backup that went to a bucket, as the base of the next one. */
export const SENT_FOLDER = 'backup-sent';

/** Names in a state directory that something of Weft's has, or gets. */
export const STATE_NAMES: readonly string[] = [
  ...[
    'agents',
    SENT_FOLDER,
    'cluster.json',
    'head',
    'membership.json',
    'nodes',
    'run',
    'weft.sock',
    'weft.yaml',
  ],
];

export class LocalPaths {
  readonly directory: string;

  constructor(directory: string) {
    this.directory = directory;
  }

  get socket(): string {
    return socketIn(this.directory);
  }

  /** The head's own: store, logs, certificate. */
  get head(): string {
    return path.join(this.directory, 'head');
  }

  get headOptions(): string {
    return path.join(this.head, 'options.json');
  }

  get headLog(): string {
    return path.join(this.head, 'head.log');
  }

  get auditLog(): string {
    return path.join(this.head, 'audit.log');
  }

  /** What `weft up` has made: read by the next one. */
  get cluster(): string {
    return path.join(this.directory, 'cluster.json');
  }

  /** Which daemons `weft up` has started, and how. */
  get roster(): string {
    return path.join(this.directory, 'run', 'daemons.json');
  }

  /** How often each daemon was started again since `weft up`. */
  get restarts(): string {
    return path.join(this.directory, 'run', 'restarts.json');
  }

  /** What those say that start others again. */
  get keeperLog(): string {
    return path.join(this.directory, 'run', 'keeper.log');
  }

  /** With which code the daemon ended by itself. */
  exit(daemon: string): string {
    return path.join(this.directory, 'run', `${daemon}.exit`);
  }

  get upLock(): string {
    return path.join(this.directory, 'run', 'up.pid');
  }

  /** Which process the head, or a node's agent, is. */
  mark(daemon: string): string {
    return path.join(this.directory, 'run', `${daemon}${MARK_END}`);
  }

  /** Names of those that have been marked so here and are not stopped, whether or not they live. */
  daemons(): string[] {
    try {
      const files = readdirSync(path.dirname(this.upLock)).filter((file) =>
        file.endsWith(MARK_END),
      );
      const names = files.map((file) => file.slice(0, -MARK_END.length));
      return names.filter((name) => this.mark(name) !== this.upLock);
    } catch {
      return []; // None has run here, or the directory is another user's.
    }
  }

  /** What a daemon writes before it has opened its log, and when it crashes. */
  output(daemon: string): string {
    return path.join(this.directory, 'run', `${daemon}.out`);
  }

  /** Sockets of the agents here, for users of this machine. */
  get doors(): string {
    return path.join(this.directory, 'agents');
  }

  door(name: string): string {
    return path.join(this.doors, `${name}${DOOR_END}`);
  }

  node(name: string): string {
    return path.join(this.directory, 'nodes', name);
  }

  /** Names of nodes with a listener here, whether or not their agents run. */
  nodesWithDoor(): string[] {
    try {
      const files = readdirSync(this.doors).filter((file) => file.endsWith(DOOR_END));
      return files.map((file) => file.slice(0, -DOOR_END.length)).sort();
    } catch {
      return []; // No agent has run here, or the directory is another user's.
    }
  }

  nodeOptions(name: string): string {
    return path.join(this.node(name), 'options.json');
  }

  nodeLog(name: string): string {
    return path.join(this.node(name), 'agent.log');
  }

  /** What a machine that joined knows of its head. */
  get membership(): string {
    return path.join(this.directory, 'membership.json');
  }

  /** Makes the folders; passable for others where users of a shared head reach its socket. */
  make(whose: 'own' | 'shared'): void {
    makeFolder(this.directory, whose === 'own' ? 0o700 : 0o755);
    for (const name of ['run', 'head']) {
      const folder = path.join(this.directory, name);
      makeFolder(folder, 0o700);
      if (!isWritable(folder)) throw notOurs(this.directory);
    }
  }
}

/** With those above it. One by one: Node's own way goes round for ever in /proc. */
function makeFolder(folder: string, mode: number): void {
  if (isFolder(folder)) return;
  const above = path.dirname(folder);
  if (!existsSync(above)) makeFolder(above, mode);
  try {
    mkdirSync(folder, { mode });
  } catch (error) {
    if (isFolder(folder)) return;
    const isNowhere = (error as NodeJS.ErrnoException).code === 'ENOENT';
    const why = isNowhere ? 'nothing can be made there' : fileProblem(error);
    throw usage(`cannot make the directory ${folder}: ${why}`, 'Name another one with --dir.');
  }
}

function isWritable(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK | constants.X_OK);
    return true;
  } catch {
    return false; // Another user's, or on a file system that takes nothing.
  }
}

function notOurs(directory: string): Failure {
  return usage(
    `this user may not write in ${directory}`,
    'Let its owner do this, or name another directory with --dir.',
  );
}

function isFolder(name: string): boolean {
  return existsSync(name) && statSync(name).isDirectory();
}

/** Writes JSON so that a reader sees the old or the new whole, and nobody else sees secrets. */
export function writeJson(file: string, value: unknown): void {
  const fresh = `${file}.new`;
  const text = `${JSON.stringify(value, null, 2)}\n`;
  namingFile(fresh, () => writeFileSync(fresh, text, { mode: 0o600 }));
  renameSync(fresh, file);
}

/** Null when there is no such file. Throws a failure that names it when it cannot be read. */
export function readJson<T>(file: string): T | null {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as T;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    const why =
      error instanceof SyntaxError ? `it is damaged: ${error.message}` : fileProblem(error);
    throw usage(`cannot read ${file}: ${why}`);
  }
}

/** Whether this user can look at what the daemons of a directory have written. */
export function isReadable(folder: string): boolean {
  try {
    readdirSync(folder);
    return true;
  } catch {
    return false; // Another user's, or not there.
  }
}
