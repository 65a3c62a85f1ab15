/* Starting a process: the SPAWN frame decoded, then a child that shares our memory until its exec
   (so nothing is copied, whatever our size) and therefore makes plain system calls only. Until the
   exec this thread stands still, however long a file system hangs; see leader.h. */
#define _GNU_SOURCE
#include "cpus.h"
#include "lease.h"
#include "spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define UNWATCHED __attribute__((no_sanitize("address", "undefined")))
enum { SET_IDS = 1, APPEND = 2, BY_UMASK = 4, MAKE_PARENTS = 8, MARK_MAX = 256 };
enum { STACK_BYTES = 32768 };

struct limit { uint32_t resource; struct rlimit value; };
struct plan {
  uint32_t flags, uid, gid, gid_count, limit_count, mask;
  int32_t nice;
  uint64_t lease_ms;
  gid_t *gids;
  struct limit *limits;
  char *cwd, *in, *out, *err, **argv, **env, **cgroups, *search;
  char **bound; /* the entry of the environment that says to which cpus; NULL: to none */
  cpu_set_t cpus;
  struct launch *launch;
  /* Written by the child, read by us when it has gone on to its program or ended. */
  int failure;
  enum stage stage;
};

static void *cut(unsigned char **scratch, size_t bytes) {
  void *piece = *scratch;
  *scratch += (bytes + 7) & ~(size_t)7;
  return piece;
}

static char **take_strings(struct reader *r, unsigned char **scratch) {
  uint32_t n = take_count(r, 4);
  char **list = cut(scratch, (n + 1) * sizeof *list);
  for (uint32_t i = 0; i < n; i++) list[i] = take_str(r);
  list[n] = NULL;
  return list;
}

static void take_limits(struct reader *r, struct plan *p, unsigned char **scratch) {
  p->limit_count = take_count(r, 20);
  p->limits = cut(scratch, p->limit_count * sizeof *p->limits);
  for (uint32_t i = 0; i < p->limit_count; i++) {
    p->limits[i].resource = take_u32(r);
    p->limits[i].value.rlim_cur = take_u64(r);
    p->limits[i].value.rlim_max = take_u64(r);
  }
}

static bool plan_read(struct reader *r, struct plan *p, unsigned char *scratch) {
  p->flags = take_u32(r);
  p->uid = take_u32(r);
  p->gid = take_u32(r);
  p->gid_count = take_count(r, 4);
  p->gids = cut(&scratch, p->gid_count * sizeof *p->gids);
  for (uint32_t i = 0; i < p->gid_count; i++) p->gids[i] = take_u32(r);
  p->nice = (int32_t)take_u32(r);
  p->mask = take_u32(r);
  p->cwd = take_str(r);
  cut(&scratch, sizeof(char *)); /* argv[-1] is for the shell of a script without "#!" */
  p->argv = take_strings(r, &scratch);
  p->env = take_strings(r, &scratch);
  p->in = take_str(r);
  p->out = take_str(r);
  p->err = take_str(r);
  take_limits(r, p, &scratch);
  p->cgroups = take_strings(r, &scratch);
  p->lease_ms = take_u64(r);
  return reader_done(r);
}

#ifndef WEFT_FUZZ
static UNWATCHED void fail(struct plan *p, enum stage stage) {
  p->failure = errno;
  p->stage = stage;
  syscall(SYS_exit_group, 127);
}

static UNWATCHED void join_cgroups(struct plan *p) {
  for (char **path = p->cgroups; *path; path++) {
    int fd = open(*path, O_WRONLY | O_CLOEXEC);
    if (fd < 0 || write(fd, "0", 1) != 1) fail(p, STAGE_CGROUP);
    close(fd);
  }
}

/* Near its gpus it is faster, and elsewhere it runs, too: then it is not told that it is bound. */
static UNWATCHED void bind_to_cpus(struct plan *p) {
  if (!p->bound || !syscall(SYS_sched_setaffinity, 0, sizeof p->cpus, &p->cpus)) return;
  for (char **entry = p->bound; (*entry = entry[1]); entry++) continue;
}

static UNWATCHED void apply_limits(struct plan *p) {
  for (uint32_t i = 0; i < p->limit_count; i++) {
    struct rlimit now, want = p->limits[i].value;
    if (syscall(SYS_prlimit64, 0, p->limits[i].resource, NULL, &now)) fail(p, STAGE_LIMITS);
    if (want.rlim_max > now.rlim_max) want.rlim_max = now.rlim_max;
    if (want.rlim_cur > want.rlim_max) want.rlim_cur = want.rlim_max;
    if (syscall(SYS_prlimit64, 0, p->limits[i].resource, &want, NULL)) fail(p, STAGE_LIMITS);
  }
  /* 0 asks for nothing: an ordinary user whose launcher runs nicely cannot take that back. */
  if (setpriority(PRIO_PROCESS, 0, p->nice) && p->nice) fail(p, STAGE_LIMITS);
  umask((mode_t)p->mask & 0777);
}

/* The raw calls: libc's would try to change every thread of the memory we share. */
static UNWATCHED void become_user(struct plan *p) {
  if (!(p->flags & SET_IDS)) return;
  if (syscall(SYS_setgroups, (size_t)p->gid_count, p->gids) ||
      syscall(SYS_setresgid, p->gid, p->gid, p->gid) ||
      syscall(SYS_setresuid, p->uid, p->uid, p->uid))
    fail(p, STAGE_CREDENTIALS);
}

/* The folders above a file, as the user, who may reach them through links of his own. */
static UNWATCHED bool make_parents(char *path) {
  for (char *at = path; (at = strchr(at + 1, '/'));) {
    *at = 0;
    bool made = !mkdir(path, 0777) || errno == EEXIST;
    *at = '/';
    if (!made) return false;
  }
  return true;
}

/* Never by O_TRUNC: a file that was cut to nothing, even from nothing, is sent to the disk by ext4 when
   it is closed, and whoever empties it next waits for that (ext4(5), auto_da_alloc). */
static UNWATCHED bool begin_anew(int fd) {
  struct stat status;
  if (fstat(fd, &status)) return false;
  return !S_ISREG(status.st_mode) || !status.st_size || !ftruncate(fd, 0);
}

/* Files take the lowest free descriptor, which is the one just closed. They are opened without
   blocking, so that a fifo cannot hold us up, and made blocking afterwards. */
static UNWATCHED void open_as(struct plan *p, char *path, int how, enum stage stage) {
  static char nothing[] = "/dev/null";
  mode_t mode = p->flags & BY_UMASK ? 0666 : 0600;
  if (!*path) path = nothing;
  int fd = open(path, how | O_NOCTTY | O_NONBLOCK, mode);
  if (fd < 0 && errno == ENOENT && how & O_CREAT && p->flags & MAKE_PARENTS && make_parents(path))
    fd = open(path, how | O_NOCTTY | O_NONBLOCK, mode);
  if (fd < 0 || fcntl(fd, F_SETFL, how & O_APPEND)) fail(p, stage);
  if (how & O_CREAT && !(how & O_APPEND) && !begin_anew(fd)) fail(p, stage);
}

static UNWATCHED void open_files(struct plan *p) {
  int how = O_WRONLY | O_CREAT | O_NOFOLLOW | (p->flags & APPEND ? O_APPEND : 0);
  for (int fd = 0; fd < 3; fd++) close(fd);
  open_as(p, p->in, O_RDONLY, STAGE_STDIN);
  open_as(p, p->out, how, STAGE_STDOUT);
  if (strcmp(p->out, p->err)) open_as(p, p->err, how, STAGE_STDERR);
  else if (dup2(1, 2) != 2) fail(p, STAGE_STDERR);
}

static UNWATCHED void run(struct plan *p, char *path) {
  execve(path, p->argv, p->env);
  if (errno != ENOEXEC) return;
  p->argv[-1] = (char *)"/bin/sh";
  p->argv[0] = path;
  execve("/bin/sh", p->argv - 1, p->env);
}

/* Like execvp, but with the PATH of the new environment. */
static UNWATCHED void run_by_name(struct plan *p) {
  char path[4096];
  char *name = p->argv[0];
  size_t name_length = strlen(name);
  int worst = ENOENT;
  if (strchr(name, '/')) run(p, name);
  for (const char *at = p->search; at && !strchr(name, '/') && *name;) {
    const char *stop = strchrnul(at, ':');
    size_t n = (size_t)(stop - at);
    if (n + name_length + 2 <= sizeof path) {
      memcpy(path, at, n);
      if (n) path[n++] = '/';
      memcpy(path + n, name, name_length + 1);
      run(p, path);
      if (errno == EACCES) worst = EACCES;
      else if (errno != ENOENT && errno != ENOTDIR) return;
    }
    at = *stop ? stop + 1 : NULL;
    errno = worst;
  }
}

static UNWATCHED int child(void *context) {
  struct plan *p = context;
  sigset_t none;
  setsid();
  __atomic_store_n(&p->launch->findable, true, __ATOMIC_RELEASE);
  /* A child that hangs must not keep our socket and our lock when we are gone. */
  syscall(SYS_close_range, 3, ~0u, 0);
  join_cgroups(p);
  signal(SIGHUP, SIG_DFL);
  signal(SIGPIPE, SIG_DFL);
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
  bind_to_cpus(p);
  apply_limits(p);
  become_user(p);
  if (chdir(p->cwd)) fail(p, STAGE_CHDIR);
  open_files(p);
  errno = ENOENT;
  run_by_name(p);
  fail(p, STAGE_EXEC);
  return 127;
}
#else
static UNWATCHED int child(void *context) { /* the fuzzed build starts nothing */
  (void)context;
  return 0;
}
#endif

static char **env_entry(char **env, const char *name) {
  size_t n = strlen(name);
  for (; *env; env++)
    if (!strncmp(*env, name, n) && (*env)[n] == '=') return env;
  return NULL;
}

/* A step has no mark of its own: it binds itself, or fails. */
static void take_cpus(struct plan *p, bool is_marked) {
  static const char name[] = "WEFT_CPUSET";
  p->bound = is_marked ? env_entry(p->env, name) : NULL;
  if (p->bound) cpus_read(*p->bound + sizeof name, &p->cpus);
}

static void start(struct plan *p, struct record *rec, struct launch *launch) {
  unsigned char stack[STACK_BYTES] __attribute__((aligned(64)));
  char **marked = env_entry(p->env, "WEFT_LAUNCH"), **search = env_entry(p->env, "PATH");
  const char *mark = marked ? *marked : NULL;
  static char usual[] = "/usr/local/bin:/usr/bin:/bin";
  p->search = search ? *search + 5 : usual;
  p->launch = launch;
  rec->lease_ms = p->lease_ms;
  if (!lease_lasts(rec)) p->failure = ETIME, p->stage = STAGE_LEASE;
  else if (mark && strlen(mark) > MARK_MAX) p->failure = E2BIG;
  else if (!p->argv[0]) p->failure = EINVAL, p->stage = STAGE_EXEC;
  else if (mark && !(rec->mark = strdup(mark))) p->failure = ENOMEM;
  rec->uid = p->flags & SET_IDS ? p->uid : geteuid();
  if (p->failure) return;
  take_cpus(p, mark != NULL);
  lease_watch(rec);
  launch_begins(launch);
  /* The kernel writes the pid before the child runs: others may have to know it while we wait. */
  int flags = CLONE_VM | CLONE_VFORK | CLONE_PARENT_SETTID | SIGCHLD;
  int pid = clone(child, stack + sizeof stack, flags, p, &rec->pid);
  int failure = errno;
  launch_returns(launch);
  if (pid < 0) p->failure = failure;
  /* Its end may hang too, when it closes a file; then it is reaped as an orphan is. */
  else if (p->failure && !launch->reaped) waitpid(pid, NULL, WNOHANG);
}

bool spawn_from(struct reader *r, struct record *rec, struct launch *launch) {
  /* A copy, as the buffer it is in may be used by another thread before we are through. Every
     element on the wire takes at least half the bytes it needs in the lists. */
  size_t n = (size_t)(r->end - r->at);
  unsigned char *scratch = malloc(3 * n + 256);
  struct plan p = {.failure = scratch ? 0 : ENOMEM, .stage = STAGE_FORK};
  struct reader copy = {scratch, scratch + n, false};
  if (scratch) memcpy(scratch, r->at, n);
  bool good = !scratch || plan_read(&copy, &p, scratch + ((n + 7) & ~(size_t)7));
  if (good && scratch) start(&p, rec, launch);
  free(scratch);
  if (p.failure) {
    rec->state = FAILED;
    rec->status = (uint32_t)p.failure;
    rec->stage = p.stage;
    rec->pid = 0;
  }
  return good;
}
