/* What the launcher remembers of each process it was asked to start, until told to forget. */
#ifndef WEFT_TABLE_H
#define WEFT_TABLE_H
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* 100,000 unforgotten records are 13 MB and far more than an agent leaves open. */
enum { RECORDS_MAX = 100000 };
enum state { RUNNING = 1, STOPPED, EXITED, FAILED, LAUNCHING };
/* Why a process ended, beside its status: by itself, or as its lease was over. */
enum why { BY_ITSELF, LEASE_OVER };
enum stage {
  STAGE_FORK = 1, STAGE_CGROUP, STAGE_LIMITS, STAGE_CREDENTIALS, STAGE_CHDIR, STAGE_STDIN,
  STAGE_STDOUT, STAGE_STDERR, STAGE_EXEC, STAGE_LEASE
};

struct record {
  uint64_t id, start_ticks, started_at, user_us, system_us, max_rss_kib, ended_at;
  uint64_t ended_ticks; /* since boot, to tell leftovers from strangers with a reused session id */
  uint64_t lease_ms; /* it may live this long after the head was last heard; 0 is for ever */
  pid_t pid; /* while LAUNCHING set by the kernel, at any moment */
  uint32_t status, stage; /* status: of wait(2), or the errno of a failed start */
  uint32_t slot; /* where its end is noted (ends.h); 0: nowhere */
  uid_t uid; /* whose process it is */
  enum state state;
  enum why why;
  char *mark; /* "WEFT_LAUNCH=value" from its environment, or NULL */
  struct record *next_by_id, *next_by_pid;
};

extern uint32_t record_count;

struct record *record_find(uint64_t id);
/* The live record whose main process is pid, or NULL. */
struct record *record_of_pid(pid_t pid);
/* A new empty record, or NULL when the table is full. */
struct record *record_add(uint64_t id);
/* Makes the record findable by its pid, until record_ended. */
void record_started(struct record *rec);
void record_ended(struct record *rec);
void record_drop(struct record *rec);
/* The next record in no particular order; NULL begins and ends. */
struct record *record_next(const struct record *rec);
static inline bool is_live(const struct record *rec) {
  return rec->state != EXITED && rec->state != FAILED;
}
#endif
