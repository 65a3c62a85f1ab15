/* The launcher: starts processes for one agent, reports how they end, and outlives the agent. Here:
   its start, its socket and its loop, and what each frame does. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"
#include "ends.h"
#include "fence.h"
#include "leader.h"
#include "lease.h"
#include "members.h"
#include "peers.h"
#include "spawn.h"
#include "step.h"

enum { EXIT_USAGE = 2, EXIT_ALREADY_RUNNING = 3, IN_ROOM = 65536 };
/* Frames handled before exits are reaped and answers sent: keeps both prompt under a flood. */
enum { FRAMES_PER_TURN = 16 };

static struct { /* the one connection; fd is -1 without one */
  int fd;
  bool greeted, closing;
  unsigned char *in;
  size_t at, used, room; /* of `in`: handled, read, allocated */
  struct out out;
} agent = {.fd = -1};
static struct sockaddr_un address = {.sun_family = AF_UNIX};
static const char *socket_path;
static int listener, children, timer;
static uint64_t idle_ms;
static bool finished, more; /* `more`: work is left that no event will announce */

static void say(uint8_t type, uint64_t id) {
  frame_begin(&agent.out, type);
  put_u64(&agent.out, id);
}

/* The end of both SAY_RECORD and SAY_EXITED. */
static void put_end(const struct record *rec) {
  put_u64(&agent.out, rec->user_us);
  put_u64(&agent.out, rec->system_us);
  put_u64(&agent.out, rec->max_rss_kib);
  put_u64(&agent.out, rec->ended_at);
  put_u32(&agent.out, rec->why);
  frame_end(&agent.out);
}

/* The start ticks are read only here: at every start they would cost a tenth of the rate. */
static void say_record(struct record *rec) {
  if (is_live(rec) && !rec->start_ticks) rec->start_ticks = start_ticks_of(rec->pid);
  say(SAY_RECORD, rec->id);
  put_u32(&agent.out, rec->state);
  put_u32(&agent.out, (uint32_t)rec->pid);
  put_u64(&agent.out, rec->start_ticks);
  put_u64(&agent.out, rec->started_at);
  put_u32(&agent.out, rec->status);
  put_u32(&agent.out, rec->stage);
  put_end(rec);
}

static void say_failed(uint64_t id, uint32_t error, uint32_t stage) {
  say(SAY_FAILED, id);
  put_u32(&agent.out, error);
  put_u32(&agent.out, stage);
  frame_end(&agent.out);
}

static void say_count(uint8_t type, uint64_t id, uint32_t count) {
  say(type, id);
  put_u32(&agent.out, count);
  frame_end(&agent.out);
}

static void refuse(uint32_t code, const char *text) {
  say_error(&agent.out, code, 0, text);
  agent.closing = true;
}

static void say_exited(const struct record *rec) {
  say(SAY_EXITED, rec->id);
  put_u32(&agent.out, rec->status);
  put_end(rec);
}

static void say_stop(struct record *rec, enum state state) {
  rec->state = state;
  say(state == STOPPED ? SAY_STOPPED : SAY_CONTINUED, rec->id);
  frame_end(&agent.out);
}

static void on_launched(const struct launch *launch) {
  struct record *rec = launch->rec;
  rec->started_at = now_ms(CLOCK_REALTIME);
  if (launch->reaped && rec->ended_at < rec->started_at) rec->started_at = rec->ended_at;
  if (rec->state == FAILED) {
    rec->ended_at = rec->started_at;
    return say_failed(rec->id, rec->status, rec->stage);
  }
  say(SAY_STARTED, rec->id);
  put_u32(&agent.out, (uint32_t)rec->pid);
  put_u64(&agent.out, rec->start_ticks);
  put_u64(&agent.out, rec->started_at);
  frame_end(&agent.out);
  if (launch->reaped) {
    rec->state = EXITED;
    ends_note(rec);
    return say_exited(rec);
  }
  record_started(rec);
  if (launch->stopped) say_stop(rec, STOPPED);
}

/* False when another thread leads by now. */
static bool on_spawn(struct reader *r, uint64_t id) {
  launch_settled(id);
  struct record *rec = record_find(id);
  struct launch launch = {.rec = rec ? NULL : record_add(id)};
  if (rec) say_record(rec);
  else if (!launch.rec) say_failed(id, EAGAIN, STAGE_FORK);
  else if (spawn_from(r, launch.rec, &launch)) on_launched(&launch);
  else {
    record_drop(launch.rec);
    refuse(ERROR_MALFORMED, "malformed spawn");
  }
  return !launch.lost;
}

static void on_list(void) {
  for (struct record *rec = record_next(NULL); rec; rec = record_next(rec)) say_record(rec);
  frame_begin(&agent.out, SAY_LIST_END);
  put_u32(&agent.out, record_count);
  frame_end(&agent.out);
}

static void on_hello(uint32_t version) {
  char text[80];
  snprintf(text, sizeof text, "launcher speaks version %d, agent %u", WIRE_VERSION, version);
  if (version != WIRE_VERSION) refuse(ERROR_VERSION, text);
  else say_error(&agent.out, KNOWS_SCOPES, 0, "signals have scopes");
  agent.greeted = true;
}

static void on_shutdown(void) {
  launches_findable();
  ends_close(); /* nobody shall take what we kill for ended by itself */
  members_signal(NULL, SIGKILL, SCOPE_ALL);
  finished = true;
}

/* Frames about one known id. */
static void on_record_frame(uint8_t type, uint64_t id, uint32_t signo, uint32_t scope) {
  launch_settled(id);
  struct record *rec = record_find(id);
  if (!rec) return say_error(&agent.out, ERROR_UNKNOWN_ID, id, "no such id");
  uint32_t n = 0; /* a failed start has nobody */
  if (type == ASK_SIGNAL) {
    if (rec->state != FAILED) n = members_signal(rec, (int)signo, scope);
    return say_count(SAY_SIGNALLED, id, n);
  }
  if (type == ASK_LEFTOVERS) {
    if (rec->state != FAILED) n = members_count(rec);
    return say_count(SAY_LEFTOVERS, id, n);
  }
  if (is_live(rec)) return say_error(&agent.out, ERROR_STILL_LIVE, id, "still alive");
  ends_forget(rec);
  record_drop(rec);
}

/* False when another thread leads by now. */
static bool on_frame(unsigned char *at, size_t n) {
  struct reader r = {at + 1, at + n, false};
  uint8_t type = at[0];
  uint64_t id = 0;
  uint32_t a = 0, b = 0;
  if (type == ASK_SPAWN || type == ASK_SIGNAL || type == ASK_FORGET || type >= ASK_LEFTOVERS)
    id = take_u64(&r);
  if (type == ASK_HELLO || type == ASK_SIGNAL || type == ASK_SHUTDOWN) a = take_u32(&r);
  if (type == ASK_SIGNAL) b = take_u32(&r);
  if (type < ASK_HELLO || type > ASK_HEARD || r.bad || (type != ASK_SPAWN && !reader_done(&r)))
    refuse(ERROR_MALFORMED, "malformed frame");
  else if ((type == ASK_SIGNAL && (a > 64 || b < SCOPE_ALL || b > SCOPE_OTHERS)) || (type == ASK_SHUTDOWN && a != 1))
    refuse(ERROR_MALFORMED, "argument out of bounds");
  else if (!agent.greeted && type != ASK_HELLO) refuse(ERROR_NO_HELLO, "hello comes first");
  else if (type == ASK_SPAWN) return on_spawn(&r, id);
  else if (type == ASK_HELLO) on_hello(a);
  else if (type == ASK_LIST) on_list();
  else if (type == ASK_SHUTDOWN) on_shutdown();
  else if (type == ASK_HEARD) lease_heard(id);
  else on_record_frame(type, id, a, b);
  return true;
}

static void drop_agent(void) {
  if (agent.fd < 0) return;
  close(agent.fd);
  free(agent.in);
  out_reset(&agent.out, false);
  agent.in = NULL;
  agent.at = agent.used = agent.room = 0;
  agent.fd = -1;
  more = false;
}

static size_t frame_length(void) {
  const unsigned char *b = agent.in + agent.at;
  return b[0] | (size_t)b[1] << 8 | (size_t)b[2] << 16 | (size_t)b[3] << 24;
}

/* Sets `more` when another whole frame is waiting. Makes room for the one that is not whole yet.
   A frame counts as handled before it is, as another thread may go on from there: false when one
   does. Nothing that was known before a frame holds after it, not even the connection. */
static bool handle_frames(void) {
  size_t n = 0, need = IN_ROOM;
  more = false;
  for (int left = FRAMES_PER_TURN; agent.used - agent.at >= 4; left--) {
    if (agent.closing || finished) break;
    n = frame_length();
    if (n < 1 || n > FRAME_MAX) {
      refuse(ERROR_MALFORMED, "frame length out of bounds");
      break;
    }
    more = agent.used - agent.at >= 4 + n;
    if (!more || left == 0) break;
    agent.at += 4 + n;
    if (!on_frame(agent.in + agent.at - n, n)) return false;
    more = false;
  }
  if (agent.fd < 0) return true;
  memmove(agent.in, agent.in + agent.at, agent.used -= agent.at);
  agent.at = 0;
  if (agent.used >= 4 && n + 4 > need) need = n + 4;
  if (need < agent.used) need = agent.used;
  unsigned char *in = need == agent.room ? agent.in : realloc(agent.in, need);
  if (in) agent.in = in, agent.room = need;
  else agent.closing = true;
  more = more && !agent.closing;
  return true;
}

/* False when another thread leads by now. */
static bool on_agent_bytes(void) {
  ssize_t n = 0;
  size_t free_room = agent.room - agent.used;
  if (free_room) n = recv(agent.fd, agent.in + agent.used, free_room, MSG_DONTWAIT);
  if (free_room && (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))) {
    drop_agent();
    return true;
  }
  if (n > 0) agent.used += (size_t)n;
  return handle_frames();
}

static void on_connection(void) {
  struct ucred peer;
  socklen_t size = sizeof peer;
  int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
  if (fd < 0) return;
  if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) ||
      (peer.uid != 0 && peer.uid != geteuid())) {
    close(fd);
    return;
  }
  drop_agent();
  agent.fd = fd;
  agent.in = malloc(IN_ROOM);
  agent.room = agent.in ? IN_ROOM : 0;
  agent.used = agent.at = 0;
  agent.greeted = false;
  agent.closing = !agent.in;
  out_reset(&agent.out, true);
  frame_begin(&agent.out, SAY_HELLO);
  put_u32(&agent.out, WIRE_VERSION);
  put_u32(&agent.out, (uint32_t)getpid());
  put_u64(&agent.out, start_ticks_of(getpid()));
  put_u32(&agent.out, geteuid());
  frame_end(&agent.out);
}

static uint64_t micros(struct timeval t) {
  return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_usec;
}

static void note_exit(struct record *rec, int status, const struct rusage *used) {
  rec->status = (uint32_t)status;
  rec->user_us = micros(used->ru_utime);
  rec->system_us = micros(used->ru_stime);
  rec->max_rss_kib = (uint64_t)used->ru_maxrss;
  rec->ended_at = now_ms(CLOCK_REALTIME);
  rec->ended_ticks = ticks_now();
}

static void on_child(pid_t pid, int status, const struct rusage *used) {
  bool ended = WIFEXITED(status) || WIFSIGNALED(status);
  struct record *rec = record_of_pid(pid);
  if (!rec) {
    /* A start under way is its own thread's to report; an orphan needs no more than to be reaped. */
    struct launch *launch = launch_of_pid(pid);
    if (launch) launch->stopped = WIFSTOPPED(status);
    if (!launch || !ended) return;
    note_exit(launch->rec, status, used);
    launch->reaped = true;
    return;
  }
  if (ended) {
    record_ended(rec);
    rec->state = EXITED;
    note_exit(rec, status, used);
    ends_note(rec);
    return say_exited(rec);
  }
  say_stop(rec, WIFSTOPPED(status) ? STOPPED : RUNNING);
}

static void reap(void) {
  struct rusage used;
  int status;
  for (pid_t pid; (pid = wait4(-1, &status, WNOHANG | WUNTRACED | WCONTINUED, &used)) > 0;)
    on_child(pid, status, &used);
}

static void die(const char *what, int code) {
  fprintf(stderr, "weft-launcher: %s%s%s\n", what, errno ? ": " : "", errno ? strerror(errno) : "");
  exit(code);
}

/* The lock decides who owns the path; whoever has it may replace a socket nobody listens on. */
static int listen_on(const char *path) {
  char lock[sizeof address.sun_path + 8];
  if (path[0] != '/') die("--socket wants an absolute path", EXIT_USAGE);
  if (strlen(path) >= sizeof address.sun_path) die("--socket: path too long", EXIT_USAGE);
  strcpy(address.sun_path, path);
  snprintf(lock, sizeof lock, "%s.lock", path);
  int lock_fd = open(lock, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (lock_fd < 0) die(lock, 1);
  int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (flock(lock_fd, LOCK_EX | LOCK_NB) ||
      !connect(fd, (struct sockaddr *)&address, sizeof address)) {
    errno = 0;
    die("already running", EXIT_ALREADY_RUNNING);
  }
  unlink(path);
  mode_t before = umask(0177);
  close(fd);
  fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (bind(fd, (struct sockaddr *)&address, sizeof address) || listen(fd, 16)) die(path, 1);
  umask(before);
  ends_open(lock_fd, path);
  return fd;
}

static int watch_children(void) {
  sigset_t set;
  sigemptyset(&set);
  for (int signo = 1; signo < NSIG; signo++) signal(signo, SIG_DFL);
  signal(SIGHUP, SIG_IGN);
  signal(SIGPIPE, SIG_IGN);
  sigaddset(&set, SIGCHLD);
  if (prctl(PR_SET_CHILD_SUBREAPER, 1)) die("subreaper", 1);
  sigprocmask(SIG_SETMASK, &set, NULL);
  return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

static void send_answers(void) {
  unsigned char rest[4096]; /* unread bytes would turn our last word into a reset */
  if (agent.fd < 0 || (out_flush(&agent.out, agent.fd) && !agent.closing)) return;
  for (int i = 0; i < 256 && recv(agent.fd, rest, sizeof rest, MSG_DONTWAIT) > 0;) i++;
  drop_agent();
}

/* For threads that do not lead: what one cannot send is left to the one that does. */
static void send_beside(void) {
  if (agent.fd >= 0 && agent.out.used && (!out_flush(&agent.out, agent.fd) || agent.out.used))
    kill(getpid(), SIGCHLD);
}

/* Until another thread leads or the launcher ends. */
static void serve(void) {
  static uint64_t idle_since;
  if (!idle_since) idle_since = now_ms(CLOCK_MONOTONIC);
  while (!finished) {
    struct pollfd fds[] = {
      {listener, POLLIN, 0}, {children, POLLIN, 0}, {timer, POLLIN, 0}, {agent.fd, POLLIN, 0}
    };
    struct signalfd_siginfo info;
    uint64_t now = now_ms(CLOCK_MONOTONIC);
    if (agent.fd >= 0 || record_count) idle_since = now;
    if (agent.out.used) fds[3].events |= POLLOUT;
    if (idle_ms && now - idle_since >= idle_ms) break;
    int wait = agent.fd >= 0 || record_count || !idle_ms ? -1 : (int)(idle_ms - (now - idle_since));
    lock_drop();
    int n = poll(fds, 4, more ? 0 : wait), failure = errno;
    lock_take();
    if (n < 0 && failure != EINTR) die("poll", 1);
    if (fds[1].revents) while (read(children, &info, sizeof info) > 0) continue;
    reap();
    bool has_bytes = more || fds[3].revents & (POLLIN | POLLHUP | POLLERR);
    if (agent.fd >= 0 && has_bytes && !on_agent_bytes()) return send_beside();
    /* If we were held up, what waits may say that the head was heard: it goes first. */
    if (fds[2].revents && !more) leases_end();
    send_answers();
    if (fds[0].revents) on_connection();
  }
  drop_agent();
  ends_close();
  unlink(socket_path);
  exit(0);
}

int main(int argc, char **argv) {
  if (argc == 3 && !strcmp(argv[1], "--peers")) return peers_say(atoi(argv[2]));
  if (argc > 2 && !strcmp(argv[1], "--step")) return step_run(argv + 2);
  if (argc > 2 && !strcmp(argv[1], "--fence")) return fence_put(argv[2], argv + 3, argc - 3);
  const char *path = NULL, *log = NULL;
  errno = 0;
  uint64_t idle_s = 60;
  for (int i = 1; i + 1 < argc; i += 2) {
    if (!strcmp(argv[i], "--socket")) path = argv[i + 1];
    else if (!strcmp(argv[i], "--log")) log = argv[i + 1];
    else if (!strcmp(argv[i], "--idle-exit")) idle_s = strtoul(argv[i + 1], NULL, 10);
    else path = NULL, i = argc;
  }
  if (!path || argc % 2 == 0 || idle_s > 1000000) {
    fprintf(stderr, "usage: weft-launcher --socket PATH [--log PATH] [--idle-exit SECONDS]\n"
                    "       weft-launcher --peers COUNT\n"
                    "       weft-launcher --step PROGRAM [ARGUMENT...]\n"
                    "       weft-launcher --fence CGROUP [DEVICE...]\n");
    return EXIT_USAGE;
  }
  for (int fd = 0; fd < 3;) fd = open("/dev/null", O_RDWR); /* so that 0 to 2 are taken */
  if (syscall(SYS_close_range, 3, ~0u, 0))
    for (int fd = 3; fd < sysconf(_SC_OPEN_MAX); fd++) close(fd);
  int log_fd = log ? open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600) : 2;
  if (log_fd < 0 || dup2(log_fd, 2) < 0) die(log, 1);
  socket_path = path;
  idle_ms = idle_s * 1000;
  listener = listen_on(path);
  children = watch_children();
  timer = lease_timer();
  if (children < 0 || timer < 0) die("signalfd, timerfd", 1);
  watch_over(serve);
}
