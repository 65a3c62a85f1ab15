/* The dead man's switch of leased processes; see lease.h. Counted on CLOCK_BOOTTIME, as a head goes
   on counting while this machine is suspended. */
#define _GNU_SOURCE
#include "lease.h"

#include <signal.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"
#include "members.h"
#include "wire.h"

enum { KILL_AGAIN_MS = 500 };
static int timer = -1;
static uint64_t heard, next = UINT64_MAX;

int lease_timer(void) {
  return timer = timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK);
}

static uint64_t due(const struct record *rec) {
  return heard > UINT64_MAX - rec->lease_ms ? UINT64_MAX : heard + rec->lease_ms;
}

void lease_heard(uint64_t monotonic_ms) {
  uint64_t now = now_ms(CLOCK_MONOTONIC), age = now > monotonic_ms ? now - monotonic_ms : 0;
  uint64_t at = now_ms(CLOCK_BOOTTIME) - age;
  if (age <= now && at > heard) heard = at;
}

bool lease_lasts(const struct record *rec) {
  return !rec->lease_ms || (heard && now_ms(CLOCK_BOOTTIME) < due(rec));
}

static void look_at(uint64_t at) {
  if (at >= next || at > INT64_MAX) return;
  struct itimerspec value = {.it_value = {(time_t)(at / 1000), (long)(at % 1000) * 1000000}};
  if (!timerfd_settime(timer, TFD_TIMER_ABSTIME, &value, NULL)) next = at;
}

void lease_watch(const struct record *rec) {
  if (rec->lease_ms) look_at(due(rec));
}

void leases_end(void) {
  uint64_t count, now = now_ms(CLOCK_BOOTTIME);
  if (read(timer, &count, sizeof count) != sizeof count) return;
  next = UINT64_MAX;
  for (struct record *rec = record_next(NULL); rec; rec = record_next(rec)) {
    if (lease_lasts(rec)) {
      lease_watch(rec);
      continue;
    }
    if (is_live(rec)) rec->why = LEASE_OVER;
    members_signal(rec, SIGKILL, SCOPE_ALL);
    if (is_live(rec) || members_count(rec)) look_at(now + KILL_AGAIN_MS);
    else rec->lease_ms = 0;
  }
}
