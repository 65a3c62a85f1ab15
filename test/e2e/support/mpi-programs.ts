// What tests run with Open MPI and MPICH, and in which shapes.

/**
 * Sums over all ranks; with an argument after a second of cpu time of each. MPICH before 4.2 may
 * wait for ever in MPI_Finalize over TCP, whoever started it: ranks that have cut their connections
 * are in a barrier of the process manager, and hear nothing of those that still cut theirs. So its
 * ranks leave by that barrier alone, when none has anything to say any more.
 */
export const PROGRAM = `
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
static void tell(const char *what) {
  char answer[256];
  int manager = atoi(getenv("PMI_FD"));
  dprintf(manager, "cmd=%s\\n", what);
  if (read(manager, answer, sizeof answer) <= 0) _exit(1);
}
static void leave(void) {
#if MPICH_NUMVERSION >= 40200300
  MPI_Finalize();
#else
  MPI_Barrier(MPI_COMM_WORLD);
  fflush(stdout);
  tell("barrier_in");
  tell("finalize");
  _exit(0);
#endif
}
int main(int argc, char **argv) {
  int rank, size, sum = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (argc > 1) while (clock() < CLOCKS_PER_SEC) ;
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("%d ranks, sum %d\\n", size, sum);
  leave();
  return 0;
}
`;

/** Some atoms for LAMMPS. */
export const MELT = `units lj
atom_style atomic
lattice fcc 0.8442
region box block 0 6 0 6 0 6
create_box 1 box
create_atoms 1 box
mass 1 1.0
velocity all create 3.0 87287
pair_style lj/cut 2.5
pair_coeff 1 1 1.0 1.0 2.5
fix 1 all nve
run 200
`;

/** Nodes and ranks on each of them. */
export const SHAPES = [
  [1, 2],
  [2, 1],
  [2, 2],
  [3, 2],
] as const;

export const AS_ROOT = { OMPI_ALLOW_RUN_AS_ROOT: '1', OMPI_ALLOW_RUN_AS_ROOT_CONFIRM: '1' };
/** A machine with other work to do has too few cpus for ranks that spin while they wait. */
export const YIELDING = { OMPI_MCA_mpi_yield_when_idle: '1' };
