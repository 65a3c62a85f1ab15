/* Everything that belongs to a started process, found in /proc and signalled. */
#ifndef WEFT_MEMBERS_H
#define WEFT_MEMBERS_H
#include "table.h"

/* Ticks since boot at which a process started; 0 when there is no such process. */
uint64_t start_ticks_of(pid_t pid);
/* Live processes that belong to rec. */
uint32_t members_count(const struct record *rec);
/* Signals them, or with NULL whatever belongs to anything that we ever started; returns how many
 * processes it reached. SCOPE_OTHERS passes by what passes signals on itself. */
uint32_t members_signal(const struct record *rec, int signo, uint32_t scope);
#endif
