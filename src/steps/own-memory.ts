// Where the processes of a step keep the memory that they share. Open MPI names it after the
// machine, so that the ranks of two nodes on one machine would take each other's for their own.

import { mkdtempSync, rmSync } from 'node:fs';
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
 * Makes a directory that only this server's user can enter, and names it to the steps that find this
 * environment. A value that the job was submitted with wins. The first node has no server, and is
 * the only one whose ranks use the machine's own place: `mpirun` gives its variables to the ranks
 * of all nodes, so that none set there could differ from node to node.
 */
export function takeOwnMemory(environment: Environment, memory = MEMORY): OwnMemory {
  const directory = mkdtempSync(join(memory, 'weft-mpi-'));
  for (const name of VARIABLES) environment[name] ??= directory;
  return { directory, remove: () => rmSync(directory, { recursive: true, force: true }) };
}
