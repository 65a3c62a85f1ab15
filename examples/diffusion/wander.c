/* Mean square displacement from a LAMMPS dump (id xu yu zu): wander DUMP DT > msd.csv */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv) {
  if (argc != 3) return 2;
  FILE *dump = fopen(argv[1], "r");
  if (!dump) return perror(argv[1]), 1;
  double dt = atof(argv[2]), *first = NULL;
  long step = 0, atoms = 0, first_step = 0;
  char line[512];
  puts("time,msd");
  while (fgets(line, sizeof line, dump)) {
    if (!strncmp(line, "ITEM: TIMESTEP", 14) && fgets(line, sizeof line, dump)) step = atol(line);
    if (!strncmp(line, "ITEM: NUMBER", 12) && fgets(line, sizeof line, dump)) atoms = atol(line);
    if (strncmp(line, "ITEM: ATOMS", 11)) continue;
    double sum = 0;
    int is_first = first == NULL;
    if (is_first) {
      first = malloc(3 * atoms * sizeof *first);
      first_step = step;
    }
    for (long i = 0; i < atoms; i++) {
      double at[3];
      if (fscanf(dump, "%*d %lf %lf %lf\n", &at[0], &at[1], &at[2]) != 3) return 1;
      for (int k = 0; k < 3; k++) {
        if (is_first) first[3 * i + k] = at[k];
        double moved = at[k] - first[3 * i + k];
        sum += moved * moved;
      }
    }
    printf("%.3f,%.8f\n", (step - first_step) * dt, sum / atoms);
  }
  return 0;
}
