/* Who serves while a start takes its time. One thread leads: it alone polls, reads requests and
   handles them. To start a process it gives up the lead, as it stands still until the exec; whoever
   is idle leads on. So several starts are under way at once; when all of them hang (a dead file
   server) the main thread, which watches, sends in one more. */
#ifndef WEFT_LEADER_H
#define WEFT_LEADER_H
#include <stdbool.h>
#include <sys/types.h>

#include "table.h"

/* One start under way, on the stack of the thread that makes it. */
struct launch {
  struct record *rec;
  struct launch *next; /* among those under way */
  uint64_t begun;      /* ms of CLOCK_MONOTONIC */
  bool findable;       /* set by the child itself: it leads a session of its own */
  bool hangs;          /* it is not waited for any more */
  bool lost;           /* another thread leads by now */
  bool stopped;        /* as it was last reported */
  bool reaped;         /* the child has ended, and its record says how */
};

/* Never returns: watches, while threads of its own run `serve`, one at a time. `serve` returns when
   its thread has lost the lead, and exits when the launcher has to. */
_Noreturn void watch_over(void (*serve)(void));
/* Around everything that may take long: all else is done by one thread at a time. */
void lock_drop(void);
void lock_take(void);
void launch_begins(struct launch *launch);
void launch_returns(struct launch *launch);
/* The start under way whose child this is, or NULL. */
struct launch *launch_of_pid(pid_t pid);
/* Waits until this start is through or hangs where its process can be found: what is asked about a
   process right after its start is about the process. */
void launch_settled(uint64_t id);
/* Waits until whatever is being started can be found. */
void launches_findable(void);
#endif
