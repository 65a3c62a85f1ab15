/* Processes that may live only for so long after the head was last heard, whoever else is dead. */
#ifndef WEFT_LEASE_H
#define WEFT_LEASE_H
#include "table.h"

/* A descriptor that is readable when leases_end is due; -1 when there is none to be had. */
int lease_timer(void);
/* The head answered what was sent then, in ms of CLOCK_MONOTONIC: all leases count from there. */
void lease_heard(uint64_t monotonic_ms);
bool lease_lasts(const struct record *rec);
/* Lets the timer look after this record too. */
void lease_watch(const struct record *rec);
/* Kills all that belongs to records whose lease is over, and goes on until nothing is left. */
void leases_end(void);
#endif
