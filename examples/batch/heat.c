/* Explicit diffusion in a rod with one hot and one cold end: heat ALPHA CELLS SECONDS > profile */
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
  if (argc != 4) return 2;
  double alpha = atof(argv[1]), seconds = atof(argv[3]);
  int cells = atoi(argv[2]);
  double dx = 1.0 / cells, dt = 0.4 * dx * dx / alpha;
  double *now = calloc(cells + 1, sizeof *now), *next = calloc(cells + 1, sizeof *next);
  if (!now || !next) return 1;
  now[0] = next[0] = 1.0;
  for (double t = 0; t < seconds; t += dt) {
    for (int i = 1; i < cells; i++)
      next[i] = now[i] + alpha * dt / (dx * dx) * (now[i - 1] - 2 * now[i] + now[i + 1]);
    double *swap = now; now = next; next = swap;
  }
  for (int i = 0; i <= cells; i += cells / 8) printf("%.4f,%.6f\n", i * dx, now[i]);
  return 0;
}
