/* Threads that take turns in leading; see leader.h. */
#define _GNU_SOURCE
#include "leader.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "clock.h"

/* A start takes less than a millisecond; a busy machine may need some dozens. A hung thread costs a
   stack, and one that never ends is stuck in the kernel: with so many, hung starts hold us up. */
enum { PATIENCE_MS = 50, THREADS_MAX = 65 };
/* Besides those that hang: a second start fills the gaps in which the first one waits. */
enum { STARTS_MAX = 2 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t free_lead = PTHREAD_COND_INITIALIZER, given_up = PTHREAD_COND_INITIALIZER;
static pthread_cond_t returned; /* a start; waits by CLOCK_MONOTONIC */
static struct launch *under_way;
static uint64_t turns; /* how often the lead was taken */
static int threads, idle, starting; /* `starting`: starts under way that do not hang */
static bool led, watching;
static void (*serve)(void);

void lock_drop(void) { pthread_mutex_unlock(&lock); }
void lock_take(void) { pthread_mutex_lock(&lock); }

static void take_lead(void) {
  led = true;
  turns++;
}

void launch_begins(struct launch *launch) {
  launch->begun = now_ms(CLOCK_MONOTONIC);
  launch->next = under_way;
  under_way = launch;
  starting++;
  led = false;
  if (idle && starting < STARTS_MAX) pthread_cond_signal(&free_lead);
  else if (!watching) pthread_cond_signal(&given_up);
  lock_drop();
}

void launch_returns(struct launch *launch) {
  struct launch **link = &under_way;
  lock_take();
  while (*link != launch) link = &(*link)->next;
  *link = launch->next;
  if (!launch->hangs) starting--;
  launch->lost = led;
  if (!led) take_lead();
  pthread_cond_broadcast(&returned);
}

struct launch *launch_of_pid(pid_t pid) {
  struct launch *launch = under_way;
  while (launch && (launch->reaped || pid != __atomic_load_n(&launch->rec->pid, __ATOMIC_RELAXED)))
    launch = launch->next;
  return launch;
}

static struct launch *launch_of_id(uint64_t id) {
  struct launch *launch = under_way;
  while (launch && launch->rec->id != id) launch = launch->next;
  return launch;
}

static bool has_settled(const struct launch *launch) {
  if (!launch) return true;
  bool findable = __atomic_load_n(&launch->findable, __ATOMIC_ACQUIRE);
  return findable && now_ms(CLOCK_MONOTONIC) >= launch->begun + PATIENCE_MS;
}

static void await_return(void) {
  struct timespec at;
  clock_gettime(CLOCK_MONOTONIC, &at);
  at.tv_nsec += PATIENCE_MS * 1000000;
  if (at.tv_nsec >= 1000000000) at.tv_sec++, at.tv_nsec -= 1000000000;
  pthread_cond_timedwait(&returned, &lock, &at);
}

/* Who has had no processor yet can hang on nothing else: it gets there. */
void launch_settled(uint64_t id) {
  while (!has_settled(launch_of_id(id))) await_return();
}

void launches_findable(void) {
  for (struct launch *at = under_way; at;) {
    bool findable = __atomic_load_n(&at->findable, __ATOMIC_ACQUIRE);
    if (!findable) await_return();
    at = findable ? at->next : under_way;
  }
}

/* Never ends: a program may have asked to die with its parent, which is the thread that made it. */
static void *take_turns(void *unused) {
  lock_take();
  for (;;) {
    idle++;
    while (led) pthread_cond_wait(&free_lead, &lock);
    idle--;
    take_lead();
    serve();
  }
  return unused;
}

static bool new_thread(void) {
  pthread_t thread;
  if (threads >= THREADS_MAX || pthread_create(&thread, NULL, take_turns, NULL)) return false;
  pthread_detach(thread);
  threads++;
  return true;
}

static void give_up_waiting(void) {
  for (struct launch *launch = under_way; launch; launch = launch->next) launch->hangs = true;
  starting = 0;
  if (idle) pthread_cond_signal(&free_lead);
  else new_thread();
}

_Noreturn void watch_over(void (*work)(void)) {
  pthread_condattr_t steady;
  serve = work;
  if (pthread_condattr_init(&steady) || pthread_condattr_setclock(&steady, CLOCK_MONOTONIC) ||
      pthread_cond_init(&returned, &steady))
    abort();
  lock_take();
  for (int i = 0; i < STARTS_MAX; i++)
    if (!new_thread() && !i) abort();
  for (;;) {
    while (led) pthread_cond_wait(&given_up, &lock);
    uint64_t seen = turns;
    watching = true;
    lock_drop();
    nanosleep(&(struct timespec){.tv_nsec = PATIENCE_MS * 1000000}, NULL);
    lock_take();
    watching = false;
    if (!led && turns == seen) give_up_waiting();
  }
}
