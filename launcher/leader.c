/* Another thread takes over where a start hangs; see leader.h. */
#define _GNU_SOURCE
#include "leader.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/* A start takes less than a millisecond; a busy machine may need some dozens. A hung thread costs a
   stack, and one that never ends is stuck in the kernel: with so many, hung starts hold us up. */
enum { PATIENCE_NS = 50000000, LEADERS_MAX = 64 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t begun = PTHREAD_COND_INITIALIZER;
static struct launch *current, *stuck;
static uint64_t launches;
static int leaders;
static bool watching;
static void (*serve)(void);

void lock_drop(void) { pthread_mutex_unlock(&lock); }
void lock_take(void) { pthread_mutex_lock(&lock); }

void launch_begins(struct launch *launch) {
  current = launch;
  launches++;
  if (!watching) pthread_cond_signal(&begun);
  lock_drop();
}

void launch_returns(struct launch *launch) {
  lock_take();
  if (!launch->stuck) current = NULL;
}

void launch_done(struct launch *launch) {
  struct launch **link = &stuck;
  if (!launch->stuck) return;
  while (*link != launch) link = &(*link)->next;
  *link = launch->next;
  leaders--;
  kill(getpid(), SIGCHLD); /* the leader sends what we have said when it wakes up */
  lock_drop();
  pthread_exit(NULL);
}

struct launch *launch_of_pid(pid_t pid) {
  struct launch *launch = stuck;
  while (launch && __atomic_load_n(&launch->rec->pid, __ATOMIC_RELAXED) != pid)
    launch = launch->next;
  return launch;
}

static void *leader(void *unused) {
  lock_take();
  serve();
  exit(0);
  return unused;
}

static bool new_leader(void) {
  pthread_t thread;
  if (leaders >= LEADERS_MAX || pthread_create(&thread, NULL, leader, NULL)) return false;
  pthread_detach(thread);
  leaders++;
  return true;
}

static void step_over(struct launch *launch) {
  if (!new_leader()) return;
  launch->stuck = true;
  launch->next = stuck;
  stuck = launch;
  current = NULL;
}

_Noreturn void watch_over(void (*work)(void)) {
  serve = work;
  lock_take();
  if (!new_leader()) abort();
  for (;;) {
    while (!current) pthread_cond_wait(&begun, &lock);
    uint64_t seen = launches;
    watching = true;
    lock_drop();
    nanosleep(&(struct timespec){.tv_nsec = PATIENCE_NS}, NULL);
    lock_take();
    watching = false;
    if (current && launches == seen) step_over(current);
  }
}
