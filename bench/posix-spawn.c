/* The bar for the launcher: /bin/true started with posix_spawn and waited for, one at a time, in
   PROCESSES processes at once. Prints starts per second. Usage: posix-spawn COUNT PROCESSES */
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void run(int count) {
  char *argv[] = {"/bin/true", NULL}, *env[] = {"PATH=/usr/bin:/bin", NULL};
  for (int i = 0; i < count; i++) {
    pid_t pid;
    if (posix_spawn(&pid, argv[0], NULL, NULL, argv, env) || waitpid(pid, NULL, 0) != pid) exit(1);
  }
}

int main(int argc, char **argv) {
  int count = argc > 1 ? atoi(argv[1]) : 0, processes = argc > 2 ? atoi(argv[2]) : 1;
  struct timespec from, to;
  clock_gettime(CLOCK_MONOTONIC, &from);
  for (int i = 0; i < processes; i++) {
    if (fork() == 0) {
      run(count / processes);
      _exit(0);
    }
  }
  for (int i = 0, status; i < processes; i++)
    if (wait(&status) < 0 || status) return 1;
  clock_gettime(CLOCK_MONOTONIC, &to);
  double seconds = (double)(to.tv_sec - from.tv_sec) + (double)(to.tv_nsec - from.tv_nsec) / 1e9;
  printf("%.0f\n", count / seconds);
  return 0;
}
