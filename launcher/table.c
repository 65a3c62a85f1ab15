/* Records by id and by pid: two chained hash tables of a fixed number of buckets. */
#include "table.h"

#include <stdlib.h>

enum { BUCKETS = 1 << 14 };
static struct record *by_id[BUCKETS], *by_pid[BUCKETS];
uint32_t record_count;

static size_t id_bucket(uint64_t id) { return (size_t)((id * 0x9E3779B97F4A7C15u) >> 50); }
static size_t pid_bucket(pid_t pid) { return (size_t)pid % BUCKETS; }

struct record *record_find(uint64_t id) {
  struct record *rec = by_id[id_bucket(id)];
  while (rec && rec->id != id) rec = rec->next_by_id;
  return rec;
}

struct record *record_of_pid(pid_t pid) {
  struct record *rec = by_pid[pid_bucket(pid)];
  while (rec && rec->pid != pid) rec = rec->next_by_pid;
  return rec;
}

struct record *record_add(uint64_t id) {
  struct record *rec = record_count < RECORDS_MAX ? calloc(1, sizeof *rec) : NULL;
  if (!rec) return NULL;
  rec->id = id;
  rec->state = LAUNCHING;
  rec->next_by_id = by_id[id_bucket(id)];
  by_id[id_bucket(id)] = rec;
  record_count++;
  return rec;
}

void record_started(struct record *rec) {
  rec->state = RUNNING;
  rec->next_by_pid = by_pid[pid_bucket(rec->pid)];
  by_pid[pid_bucket(rec->pid)] = rec;
}

void record_ended(struct record *rec) {
  struct record **link = &by_pid[pid_bucket(rec->pid)];
  while (*link != rec) link = &(*link)->next_by_pid;
  *link = rec->next_by_pid;
}

void record_drop(struct record *rec) {
  struct record **link = &by_id[id_bucket(rec->id)];
  while (*link != rec) link = &(*link)->next_by_id;
  *link = rec->next_by_id;
  record_count--;
  free(rec->mark);
  free(rec);
}

struct record *record_next(const struct record *rec) {
  if (rec && rec->next_by_id) return rec->next_by_id;
  for (size_t i = rec ? id_bucket(rec->id) + 1 : 0; i < BUCKETS; i++)
    if (by_id[i]) return by_id[i];
  return NULL;
}
