/* Now, as the system's clocks have it. */
#ifndef WEFT_CLOCK_H
#define WEFT_CLOCK_H
#include <stdint.h>
#include <time.h>

uint64_t now_ms(clockid_t clock);
/* Ticks since boot, the unit in which /proc tells when a process started. */
uint64_t ticks_now(void);
#endif
