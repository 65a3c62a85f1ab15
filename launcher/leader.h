/* Who serves while a start hangs. One thread leads: it holds the lock but while it polls or starts a
   process, for which it stands still until the exec. The main thread watches: when a start takes too
   long (a dead file server), it makes another thread lead, and the old one ends after that start. */
#ifndef WEFT_LEADER_H
#define WEFT_LEADER_H
#include <stdbool.h>
#include <sys/types.h>

#include "table.h"

/* One start under way, on the stack of the thread that makes it. */
struct launch {
  struct record *rec;
  struct launch *next; /* among the stuck ones */
  bool stuck;          /* another thread leads by now */
  bool reaped;         /* the child has ended, and its record says how */
};

/* Never returns: watches, while a thread of its own runs `serve`. */
_Noreturn void watch_over(void (*serve)(void));
/* Around everything that may take long; all else is done by one thread at a time. */
void lock_drop(void);
void lock_take(void);
void launch_begins(struct launch *launch);
void launch_returns(struct launch *launch);
/* Ends the thread of a stuck launch; does nothing when it still leads. */
void launch_done(struct launch *launch);
/* The stuck launch whose child this is, or NULL. */
struct launch *launch_of_pid(pid_t pid);
#endif
