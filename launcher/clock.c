/* Reading clocks; see clock.h. */
#define _GNU_SOURCE
#include "clock.h"

#include <unistd.h>

uint64_t now_ms(clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t);
  return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

uint64_t ticks_now(void) {
  struct timespec t;
  uint64_t per_second = (uint64_t)sysconf(_SC_CLK_TCK);
  clock_gettime(CLOCK_BOOTTIME, &t);
  return (uint64_t)t.tv_sec * per_second + (uint64_t)t.tv_nsec * per_second / 1000000000u;
}
