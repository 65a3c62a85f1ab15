/* Cpus by the list that Linux writes: 0-3,8. */
#ifndef WEFT_CPUS_H
#define WEFT_CPUS_H
#include <sched.h>
/* Reads as far as it is such a list. */
void cpus_read(const char *list, cpu_set_t *set);
#endif
