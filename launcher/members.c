/* Who belongs to a process we started: its session, its descendants, and whoever carries its
   WEFT_LAUNCH value. As all that we start stays below us in the process tree (we are a subreaper),
   only our own tree is looked at, and processes whose parent cannot be seen. */
#define _GNU_SOURCE
#include "members.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"
#include "leader.h"
#include "wire.h"

#define PASSES_SIGNALS "weft-srun" /* their name */

#ifndef SYS_pidfd_open /* the same numbers everywhere; older headers lack them */
#define SYS_pidfd_send_signal 424
#define SYS_pidfd_open 434
#endif
/* In our tree; perhaps in it; belongs to the record; was sent the signal; may belong to the record,
   which shows when its exec is over. ROUNDS_MAX and PAUSES_MAX (each of PAUSE_MS) bound a race with
   forks. */
enum { TREE = 1, MAYBE = 2, MINE = 4, SENT = 8, IN_EXEC = 16 };
enum { ROUNDS_MAX = 64, PAUSES_MAX = 30, PAUSE_MS = 5 };
struct seen {
  pid_t pid, parent, group, session;
  uid_t uid;
  uint64_t start;
  int flags;
  bool alive, passes_on; /* signals, which it is sent, to those that are meant */
  bool may_fork;         /* at this moment: it is neither stopped nor over, nor held in the kernel */
};
struct scan { struct seen *all; size_t n, room; };

/* What follows the name in proc(5)'s stat, from field 3, and whose process it is; NULL when there is
   none. */
static const char *stat_of(pid_t pid, char *text, size_t room, uid_t *owner) {
  char path[32];
  struct stat file;
  snprintf(path, sizeof path, "/proc/%d/stat", pid);
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  ssize_t n = fd < 0 || fstat(fd, &file) ? -1 : read(fd, text, room - 1);
  if (fd >= 0) close(fd);
  if (n <= 0) return NULL;
  *owner = file.st_uid;
  text[n] = 0;
  char *end = strrchr(text, ')'); /* the name may hold anything */
  if (end) *end = 0;
  return end ? end + 1 : NULL;
}

static bool read_stat(pid_t pid, struct seen *seen) {
  char text[1024] = "", state;
  long threads;
  unsigned long long start;
  const char *at = stat_of(pid, text, sizeof text, &seen->uid);
  const char *name = at ? strchr(text, '(') : NULL;
  if (!name || sscanf(at, " %c %d %d %d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %ld"
                    " %*d %llu", &state, &seen->parent, &seen->group, &seen->session, &threads,
                    &start) != 6)
    return false;
  seen->pid = pid;
  seen->start = start;
  seen->passes_on = !strcmp(name + 1, PASSES_SIGNALS);
  /* A main thread that ended before the others shows as a zombie with threads. */
  seen->alive = (state != 'Z' && state != 'X') || threads > 1;
  /* One that waits in vfork(2) is held until its child goes on. */
  seen->may_fork = !strchr("TtZXD", state);
  return true;
}

uint64_t start_ticks_of(pid_t pid) {
  struct seen seen;
  return read_stat(pid, &seen) ? seen.start : 0;
}

static int by_pid(const void *a, const void *b) {
  return ((const struct seen *)a)->pid - ((const struct seen *)b)->pid;
}

static struct seen *find(const struct scan *s, pid_t pid) {
  struct seen key = {.pid = pid};
  return s->n ? bsearch(&key, s->all, s->n, sizeof key, by_pid) : NULL;
}

/* Every descendant of a flagged process gets the flag too. */
static void spread(struct scan *s, int flag) {
  for (bool changed = true; changed;) {
    changed = false;
    for (struct seen *p = s->all; p < s->all + s->n; p++) {
      struct seen *parent = p->flags & flag ? NULL : find(s, p->parent);
      if (!parent || !(parent->flags & flag)) continue;
      p->flags |= flag;
      changed = true;
    }
  }
}

/* AGAIN: meanwhile there is something to read. */
enum marked { NO, YES, NOT_YET, AGAIN, LOOKS_MAX = 20 };

/* Why the environment of a process was just read as empty. It has memory (field 23), and an
   environment between 50 and 51. In the middle of an exec these two are first 0, then equal; where
   code begins (26) is set when all is done, and told as 1 of what is beyond our reach. */
static enum marked why_empty(pid_t pid) {
#define FIVE " %*s %*s %*s %*s %*s"
#define TEN FIVE FIVE
  char text[1024];
  uid_t owner;
  unsigned long size, code, begin, end;
  const char *at = stat_of(pid, text, sizeof text, &owner);
  if (!at || sscanf(at, TEN TEN " %lu %*s %*s %lu" TEN TEN " %*s %*s %*s %lu %lu", &size, &code,
                    &begin, &end) != 4 || !size || code == 1)
    return NO;
  if (!code) return NOT_YET;
  return begin == end ? NO : AGAIN;
}

static bool find_mark(int environment, const char *mark, bool *empty) {
  char text[8192] = "";
  size_t n = 1, needle = strlen(mark) + 2; /* a NUL on each side */
  ssize_t got;
  bool found = false;
  *empty = true;
  while (!found && (got = read(environment, text + n, sizeof text - n)) > 0) {
    *empty = false;
    n += (size_t)got;
    for (char *at = text; !found && (at = memmem(at, (size_t)(text + n - at), mark, needle - 1));)
      found = at > text && at[-1] == 0, at++;
    size_t keep = n < needle ? n : needle;
    memmove(text, text + n - keep, keep);
    n = keep;
  }
  return found;
}

/* Execs that were under way when they were looked at. One that hangs, for a page of a file server that
   is dead, does not hold up for ever what else waits for an end: it was so at each look for five
   seconds, and no look was missing for long. */
enum { EXECS_MAX = 32, HANGS_AFTER_MS = 5000, LOOK_AGAIN_MS = 2000 };
static struct exec { pid_t pid; uint64_t start, since, seen; } execs[EXECS_MAX];

static void exec_over(pid_t pid) {
  for (struct exec *e = execs; e < execs + EXECS_MAX; e++)
    if (e->pid == pid) *e = (struct exec){0};
}

static bool exec_hangs(const struct seen *p) {
  uint64_t now = now_ms(CLOCK_BOOTTIME);
  struct exec *its = execs;
  for (struct exec *e = execs; e < execs + EXECS_MAX; e++) {
    if (e->pid == p->pid) {
      its = e;
      break;
    }
    if (e->seen < its->seen) its = e; /* a free one, or who was not looked at for longest */
  }
  if (its->pid != p->pid || its->start != p->start || now - its->seen > LOOK_AGAIN_MS)
    *its = (struct exec){p->pid, p->start, now, now};
  its->seen = now;
  return now - its->since > HANGS_AFTER_MS;
}

static enum marked carries(const struct seen *p, const char *mark) {
  char path[32];
  enum marked is = AGAIN;
  snprintf(path, sizeof path, "/proc/%d/environ", p->pid);
  /* One exec after the other may end between two looks; or it has let go of where its environment
     was, and there never is anything to read. */
  for (int looks = 0; looks < LOOKS_MAX && is == AGAIN; looks++) {
    bool empty;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return NO;
    bool found = find_mark(fd, mark, &empty);
    close(fd);
    is = !empty ? (found ? YES : NO) : why_empty(p->pid);
  }
  if (is != NOT_YET) exec_over(p->pid);
  return is == NOT_YET && !exec_hangs(p) ? NOT_YET : is == YES ? YES : NO;
}

/* After the main process ended, its number may lead a stranger's session: all began later. */
static bool in_session(const struct seen *p, const struct record *rec) {
  return rec->pid > 0 && p->session == rec->pid &&
         (is_live(rec) || p->start <= rec->ended_ticks);
}

static enum marked marked(const struct seen *p, const struct record *rec) {
  return rec->mark ? carries(p, rec->mark) : NO;
}

/* Whether a process that may be none of ours is proven to be: by its session or its mark. */
static bool of_any(const struct seen *p) {
  for (const struct record *rec = record_next(NULL); rec; rec = record_next(rec))
    if (in_session(p, rec) || marked(p, rec) == YES) return true;
  return false;
}

/* What is in nobody's session, of our tree for certain, and of the same user, may be this one's. */
static int flag_of(const struct seen *p, const struct record *rec) {
  if (!rec) return of_any(p) ? MINE : 0;
  enum marked is = marked(p, rec);
  if (is != NOT_YET || !(p->flags & TREE) || p->uid != rec->uid || p->start < rec->start_ticks)
    return is == YES ? MINE : 0;
  for (const struct record *other = record_next(NULL); other; other = record_next(other))
    if (in_session(p, other)) return 0;
  return IN_EXEC;
}

static void look(struct scan *s, const struct record *rec) {
  DIR *proc = opendir("/proc");
  for (struct dirent *entry; proc && (entry = readdir(proc));) {
    struct seen seen = {0};
    if (entry->d_name[0] < '1' || entry->d_name[0] > '9') continue;
    if (!read_stat(atoi(entry->d_name), &seen)) continue;
    if (s->n == s->room) {
      struct seen *grown = realloc(s->all, (s->room += 256) * sizeof *grown);
      if (!grown) break;
      s->all = grown;
    }
    s->all[s->n++] = seen;
  }
  if (proc) closedir(proc);
  if (s->n) qsort(s->all, s->n, sizeof *s->all, by_pid);
  /* A parent that is not shown (it just ended, or /proc hides it) says nothing either way. */
  for (struct seen *p = s->all; p < s->all + s->n; p++)
    if (p->parent == getpid()) p->flags = TREE;
    else if (p->parent > 0 && !find(s, p->parent)) p->flags = MAYBE;
  spread(s, TREE);
  spread(s, MAYBE);
  for (struct seen *p = s->all; p < s->all + s->n; p++)
    if (p->pid != getpid() && (rec ? p->flags && in_session(p, rec) : p->flags & TREE))
      p->flags |= MINE;
  spread(s, MINE);
  for (struct seen *p = s->all; p < s->all + s->n; p++)
    if (p->flags & (TREE | MAYBE) && !(p->flags & MINE) && p->pid != getpid())
      p->flags |= flag_of(p, rec);
  spread(s, MINE);
}

/* Whether any child of ours is no main process, neither live nor just being started. Cheap, and exact
   because only we can take a child off these lists: without orphans an ended process has left
   nothing behind. Each of our threads has a list of its own. */
static bool has_orphans(void) {
  char path[300];
  int pid, orphans = 0;
  DIR *threads = opendir("/proc/self/task");
  bool known = threads != NULL;
  for (struct dirent *entry; known && !orphans && (entry = readdir(threads));) {
    if (entry->d_name[0] == '.') continue;
    snprintf(path, sizeof path, "/proc/self/task/%s/children", entry->d_name);
    FILE *list = fopen(path, "re");
    while (list && fscanf(list, "%d", &pid) == 1)
      orphans += !record_of_pid(pid) && !launch_of_pid(pid);
    if (list) fclose(list);
    else known = false;
  }
  if (threads) closedir(threads);
  return !known || orphans;
}

uint32_t members_count(const struct record *rec) {
  struct scan s = {0};
  uint32_t n = 0;
  if (!is_live(rec) && !has_orphans()) return 0;
  look(&s, rec);
  for (size_t i = 0; i < s.n; i++) n += s.all[i].flags & (MINE | IN_EXEC) && s.all[i].alive;
  free(s.all);
  return n;
}

static bool send_signal(const struct seen *p, int signo) {
#ifdef WEFT_FUZZ
  return p->pid < 0 && signo;
#else
  int fd = (int)syscall(SYS_pidfd_open, p->pid, 0);
  if (fd < 0 && errno != ENOSYS) return false;
  bool sent = start_ticks_of(p->pid) == p->start &&
              !(fd < 0 ? kill(p->pid, signo) : syscall(SYS_pidfd_send_signal, fd, signo, NULL, 0));
  if (fd >= 0) close(fd);
  return sent;
#endif
}

static bool is_meant(const struct seen *p, const struct record *rec, uint32_t scope) {
  if (scope == SCOPE_ALL || !rec) return true;
  return scope == SCOPE_MAIN ? p->pid == rec->pid : p->pid != rec->pid && !p->passes_on;
}

/* Who forks before it dies, or stops, leaves a child that was not signalled: one round more finds it. */
static int rounds_for(int signo) {
  return signo == SIGKILL || signo == SIGSTOP ? ROUNDS_MAX : 1;
}

/* Whether another round follows one that found nobody new. A process that got SIGSTOP but has no cpu
   in the middle of a fork has not stopped, and its child is not listed yet: the child would go on.
   And a process may stop between the listing and the look at it, so that the listing lacks its
   child. So two rounds in a row must find all at rest. After SIGKILL the end of the record has its
   own look for what is left. */
static bool looks_again(int signo, bool may_fork, bool was_at_rest, int *pauses) {
  if (signo != SIGSTOP) return false;
  if (!may_fork) return !was_at_rest;
  if (++*pauses > PAUSES_MAX) return false;
  nanosleep(&(struct timespec){.tv_nsec = PAUSE_MS * 1000000L}, NULL);
  return true;
}

uint32_t members_signal(const struct record *rec, int signo, uint32_t scope) {
  struct scan before = {0};
  uint32_t reached = 0;
  bool again = true, at_rest = false;
  for (int round = 0, pauses = 0; again && round < rounds_for(signo); round++) {
    struct scan s = {0};
    int fresh = 0;
    bool may_fork = false;
    look(&s, rec);
    for (struct seen *p = s.all; p < s.all + s.n; p++) {
      struct seen *old = find(&before, p->pid);
      if (!(p->flags & MINE) || !p->alive || !is_meant(p, rec, scope)) continue;
      if (old && old->start == p->start && old->flags & SENT) may_fork |= p->may_fork;
      else fresh += send_signal(p, signo);
      p->flags |= SENT;
    }
    reached += (uint32_t)fresh;
    free(before.all);
    before = s;
    again = fresh || looks_again(signo, may_fork, at_rest, &pauses);
    at_rest = !fresh && !may_fork;
  }
  free(before.all);
  return reached;
}
