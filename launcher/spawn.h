/* Starting one process as a SPAWN frame asks. */
#ifndef WEFT_SPAWN_H
#define WEFT_SPAWN_H
#include <sys/syscall.h>

#include "leader.h"
#include "table.h"
#include "wire.h"

#ifndef SYS_close_range
#define SYS_close_range 436 /* the same number everywhere; older headers lack it */
#endif

/* Reads the rest of a SPAWN payload (after the id) and starts it, filling the record with pid and
   times or with errno and stage. Returns false when the payload is malformed. `launch` says whether
   another thread leads by then. */
bool spawn_from(struct reader *r, struct record *rec, struct launch *launch);
#endif
