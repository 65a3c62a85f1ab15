// Where the processes of a step keep the memory that they share. Open MPI names it after the
// machine, so that the ranks of two nodes on one machine would take each other's for their own.

import { lstatSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs';
import { join } from 'node:path';

/** A file there is memory, and nothing is written to a disk. */
const MEMORY = '/dev/shm';

/** Open MPI up to 4, and Open MPI 5 (PRRTE): their memory, and what they keep beside it. */
const VARIABLES = [
  'OMPI_MCA_btl_vader_backing_directory',
  'OMPI_MCA_btl_sm_backing_directory',
  'OMPI_MCA_orte_tmpdir_base',
  'PRTE_MCA_prte_tmpdir_base',
] as const;

type Environment = Record<string, string | undefined>;

export interface OwnMemory {
  readonly directory: string;
  /** Nothing of the steps may run any more. */
  remove(): void;
}

/**
 * Makes a directory that only this server's user can enter, and names it to the steps that find
 * this environment. A value that the job was submitted with wins. The first node has no server, and
 * is the only one whose ranks use the machine's own place: `mpirun` gives its variables to the
 * ranks of all nodes, so that none set there could differ from node to node.
 */
export function takeOwnMemory(environment: Environment, memory = MEMORY): OwnMemory {
  const namespace = namespaceOfPids();
  if (namespace !== null) removeOrphans(memory, namespace);
  const owner = namespace === null ? '' : `${namespace}-${process.pid}-${startOf('self')}-`;
  const directory = mkdtempSync(join(memory, `weft-mpi-${owner}`));
  for (const name of VARIABLES) environment[name] ??= directory;
  return { directory, remove: () => rmSync(directory, { recursive: true, force: true }) };
}

const OWNED = /^weft-mpi-(\d+)-(\d+)-(\d+)-[A-Za-z0-9]{6}$/;

/** What killed servers of this user have left: nobody else would ever free that memory. */
function removeOrphans(memory: string, namespace: string): void {
  for (const name of readdirSync(memory)) {
    const [, where, pid = '', start] = OWNED.exec(name) ?? [];
    // Of the processes of a container nothing is known here: they may share this memory and live.
    if (where !== namespace || startOf(pid) === start) continue;
    const path = join(memory, name);
    const status = lstatSync(path, { throwIfNoEntry: false });
    if (status?.isDirectory() !== true || status.uid !== process.getuid?.()) continue;
    // Another server that starts now may be at it, too: `force` takes what is gone for removed.
    rmSync(path, { recursive: true, force: true });
  }
}

/** Null when this machine does not tell: nobody could say later whose memory is whose. */
function namespaceOfPids(): string | null {
  try {
    return /\d+/.exec(readlinkSync('/proc/self/ns/pid'))?.[0] ?? null;
  } catch {
    return null;
  }
}

/** When a process began, in ticks since the machine did; null: there is no such process. */
function startOf(pid: string): string | null {
  try {
    // After the name of its program, which may have anything in it.
    const [, rest = ''] = /^[\s\S]*\) (.*)/.exec(readFileSync(`/proc/${pid}/stat`, 'utf8')) ?? [];
    return rest.split(' ')[19] ?? null;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ESRCH') return null;
    throw error;
  }
}
