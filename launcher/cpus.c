/* Cpus by the list that Linux writes: 0-3,8. */
#define _GNU_SOURCE
#include "cpus.h"

#include <stdio.h>

void cpus_read(const char *list, cpu_set_t *set) {
  unsigned first, last;
  int length;
  CPU_ZERO(set);
  while (sscanf(list, "%u%n", &first, &length) == 1) {
    list += length;
    last = first;
    if (*list == '-' && sscanf(++list, "%u%n", &last, &length) == 1) list += length;
    for (unsigned cpu = first; cpu <= last && cpu < CPU_SETSIZE; cpu++) CPU_SET(cpu, set);
    if (*list++ != ',') break;
  }
}
