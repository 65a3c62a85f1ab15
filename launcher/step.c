/* A step: one program beside a task's own, started by the launcher like any process, with descriptor
   0 and 1 as pipes of the agent. Frames come in by the first (input, end of input, window size,
   signal) and go out by the second (output, errors, how it ended). With WEFT_STEP_PTY=ROWSxCOLUMNS
   the program has a terminal; with WEFT_CPUSET it is bound to these cpus, and where the kernel
   refuses fails with WEFT_STEP_BOUND, or else runs on any. With WEFT_STEP_PMI it finds in PMI_FD a
   socket, whose lines are frames of their own: by them processes of MPI find each other. Nothing is
   gathered: who does not read what is said here holds up the program, and nobody else. */
#define _GNU_SOURCE
#include "cpus.h"
#include "step.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

/* Frames: u8 kind, u32 length, payload. */
enum { TAKE_INPUT = 1, TAKE_END, TAKE_SIZE, TAKE_SIGNAL, TAKE_PMI };
enum { SAY_OUTPUT = 1, SAY_ERRORS, SAY_ENDED, SAY_FAILED, SAY_PMI = 6 };
enum { HEADER = 5, PIECE = 32768, ROOM = HEADER + PIECE, EXIT_LOST = 71 };
/* From the hang-up to the kill, when the agent is gone or nobody wants the step any more. */
enum { GRACE_S = 5, LOOK_AGAIN_MS = 100 };

static struct {
  pid_t pid;
  bool has_terminal, ended, hung_up;
  int status;
  struct rusage used;
  int in, out, err; /* the ends that are ours; -1: closed. With a terminal in is out */
  int pmi;
} child = {.in = -1, .out = -1, .err = -1, .pmi = -1};

static struct { unsigned char bytes[ROOM]; size_t at, used; } from_agent, to_agent;
/* Input that the program has not taken yet: a part of from_agent. */
static size_t input_left;
static bool input_over, agent_gone;
/* No program has the terminal open just now. Ours stays open: closed, it would hang up who is about
   to end by itself, or to open it once more. */
static bool nobody_there;

static uint32_t u32_at(const unsigned char *at) {
  return at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

static void put_number(unsigned char *at, uint64_t value, int bytes) {
  for (int i = 0; i < bytes; i++) at[i] = (unsigned char)(value >> (8 * i));
}

static void set_blocking(int fd, bool blocks) {
  int flags = fcntl(fd, F_GETFL);
  fcntl(fd, F_SETFL, blocks ? flags & ~O_NONBLOCK : flags | O_NONBLOCK);
}

static void close_end(int *fd) {
  if (*fd >= 0) close(*fd);
  *fd = -1;
}

/* The one frame that may wait to be sent; only called when none does. */
static void say(unsigned char kind, size_t length) {
  to_agent.bytes[0] = kind;
  put_number(to_agent.bytes + 1, length, 4);
  to_agent.at = 0;
  to_agent.used = HEADER + length;
}

static bool is_said(void) { return to_agent.at == to_agent.used; }

static void send_on(void) {
  ssize_t n = write(1, to_agent.bytes + to_agent.at, to_agent.used - to_agent.at);
  if (n > 0) to_agent.at += (size_t)n;
  else if (errno != EAGAIN && errno != EINTR) agent_gone = true;
}

static void to_program(int signo) {
  pid_t group = child.has_terminal && child.out >= 0 ? tcgetpgrp(child.out) : child.pid;
  if (child.ended) return;
  kill(-(group > 0 ? group : child.pid), signo);
}

/* What a terminal does that goes away: a stopped program has to go on to hear of it. */
static void hang_up(void) {
  if (child.hung_up || child.ended) return;
  child.hung_up = true;
  to_program(SIGHUP);
  to_program(SIGCONT);
  if (child.has_terminal) kill(-child.pid, SIGHUP), kill(-child.pid, SIGCONT);
  alarm(GRACE_S);
}

static void end_input(void) {
  input_over = true;
  if (child.has_terminal) {
    struct termios line;
    unsigned char end = 4;
    if (child.out >= 0 && !tcgetattr(child.out, &line)) end = line.c_cc[VEOF];
    if (child.out >= 0 && write(child.out, &end, 1) < 0) input_over = true;
  } else close_end(&child.in);
}

static void resize(const unsigned char *at) {
  struct winsize size = {.ws_row = (unsigned short)(at[0] | at[1] << 8),
                         .ws_col = (unsigned short)(at[2] | at[3] << 8)};
  if (child.has_terminal && child.out >= 0) ioctl(child.out, TIOCSWINSZ, &size);
}

/* It asks one thing at a time: who does not read an answer gets no other. */
static void answer_pmi(const unsigned char *at, size_t length) {
  if (child.pmi >= 0 && write(child.pmi, at, length) != (ssize_t)length) close_end(&child.pmi);
}

/* One whole frame but for the bytes of input; false when there is none. */
static bool take_frame(void) {
  unsigned char *at = from_agent.bytes + from_agent.at;
  size_t have = from_agent.used - from_agent.at;
  uint32_t length = have >= HEADER ? u32_at(at + 1) : 0;
  if (have < HEADER || have - HEADER < length) return false;
  from_agent.at += HEADER;
  if (at[0] == TAKE_INPUT) return input_left = length, true;
  if (at[0] == TAKE_END) end_input();
  else if (at[0] == TAKE_SIZE && length == 4) resize(at + HEADER);
  else if (at[0] == TAKE_PMI) answer_pmi(at + HEADER, length);
  else if (at[0] == TAKE_SIGNAL && length == 1 && at[HEADER] == SIGHUP) hang_up();
  else if (at[0] == TAKE_SIGNAL && length == 1 && at[HEADER] <= 64) to_program(at[HEADER]);
  from_agent.at += length;
  return true;
}

/* What the program does not want is thrown away, as with any pipe whose reader is gone. */
static bool give_input(void) {
  int fd = child.has_terminal ? child.out : child.in;
  ssize_t n = (ssize_t)input_left;
  if (fd >= 0 && !input_over) n = write(fd, from_agent.bytes + from_agent.at, input_left);
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) return false;
  if (n < 0) {
    if (!child.has_terminal) close_end(&child.in);
    n = (ssize_t)input_left;
  }
  from_agent.at += (size_t)n;
  input_left -= (size_t)n;
  return true;
}

static void take_frames(void) {
  for (;;) {
    if (input_left && !give_input()) break;
    if (!input_left && !take_frame()) break;
  }
  memmove(from_agent.bytes, from_agent.bytes + from_agent.at, from_agent.used - from_agent.at);
  from_agent.used -= from_agent.at;
  from_agent.at = 0;
}

static void read_agent(void) {
  ssize_t n = read(0, from_agent.bytes + from_agent.used, ROOM - from_agent.used);
  if (n > 0) from_agent.used += (size_t)n;
  else if (n == 0 || (errno != EAGAIN && errno != EINTR)) agent_gone = true;
  take_frames();
  /* A frame that never fits is no frame of ours. */
  if (from_agent.used == ROOM && !input_left) agent_gone = true;
}

/* False when there is nothing to read now, or never again. */
static bool read_program(int *fd, unsigned char kind) {
  if (*fd < 0) return false;
  ssize_t n = read(*fd, to_agent.bytes + HEADER, PIECE);
  if (n > 0) return say(kind, (size_t)n), true;
  if (n < 0 && errno == EIO && child.has_terminal) nobody_there = true;
  else if (n == 0 || (errno != EAGAIN && errno != EINTR)) close_end(fd);
  return false;
}

static void say_ended(void) {
  unsigned char *at = to_agent.bytes + HEADER;
  const struct rusage *used = &child.used;
  put_number(at, (uint32_t)child.status, 4);
  put_number(at + 4, (uint64_t)used->ru_utime.tv_sec * 1000000 + (uint64_t)used->ru_utime.tv_usec, 8);
  put_number(at + 12, (uint64_t)used->ru_stime.tv_sec * 1000000 + (uint64_t)used->ru_stime.tv_usec, 8);
  put_number(at + 20, (uint64_t)used->ru_maxrss, 8);
  say(SAY_ENDED, 28);
}

static void reap(void) {
  struct rusage used;
  int status;
  pid_t pid;
  while ((pid = wait4(-1, &status, WNOHANG, &used)) > 0)
    if (pid == child.pid) child.ended = true, child.status = status, child.used = used;
}

static void on_signal(int signals) {
  struct signalfd_siginfo info;
  while (read(signals, &info, sizeof info) > 0) {
    if (info.ssi_signo == SIGALRM && !child.ended) kill(-child.pid, SIGKILL);
    else if (info.ssi_signo == SIGTERM || info.ssi_signo == SIGHUP) hang_up();
  }
  reap();
}

static void serve(int signals) {
  for (;;) {
    if (agent_gone) hang_up();
    if (agent_gone && child.ended) return;
    if (is_said() && child.ended) {
      /* What it has written is told before its end; what it has left in the background may go on. */
      if (read_program(&child.out, SAY_OUTPUT) || read_program(&child.err, SAY_ERRORS) ||
          read_program(&child.pmi, SAY_PMI))
        continue;
      say_ended();
      while (!is_said() && !agent_gone) {
        struct pollfd out = {1, POLLOUT, 0};
        poll(&out, 1, -1);
        send_on();
      }
      return;
    }
    bool is_free = is_said() && !agent_gone;
    int in = child.has_terminal ? child.out : child.in;
    struct pollfd fds[] = {
      {signals, POLLIN, 0},
      {agent_gone || from_agent.used == ROOM || input_left ? -1 : 0, POLLIN, 0},
      {is_said() || agent_gone ? -1 : 1, POLLOUT, 0},
      {is_free && !nobody_there ? child.out : -1, POLLIN, 0},
      {is_free ? child.err : -1, POLLIN, 0},
      {input_left ? in : -1, POLLOUT, 0},
      {is_free ? child.pmi : -1, POLLIN, 0},
    };
    int n = poll(fds, 7, nobody_there ? LOOK_AGAIN_MS : -1);
    if (n < 0 && errno != EINTR) return;
    if (n == 0) nobody_there = false;
    if (fds[0].revents) on_signal(signals);
    if (fds[1].revents) read_agent();
    if (fds[2].revents) send_on();
    if (fds[5].revents) take_frames();
    if (fds[3].revents) read_program(&child.out, SAY_OUTPUT);
    if (fds[4].revents && is_said()) read_program(&child.err, SAY_ERRORS);
    if (fds[6].revents && is_said()) read_program(&child.pmi, SAY_PMI);
  }
}

/* `0-3,8`; false when it is none, or not for us. */
static bool bind_to(const char *list) {
  cpu_set_t set;
  cpus_read(list, &set);
  return !sched_setaffinity(0, sizeof set, &set);
}

/* In the child, before its program: never returns. */
_Noreturn static void become(char **argv, const int ends[3], const char *terminal, int failure) {
  sigset_t none;
  setsid();
  sigemptyset(&none);
  signal(SIGPIPE, SIG_DFL);
  sigprocmask(SIG_SETMASK, &none, NULL);
  const char *cpus = getenv("WEFT_CPUSET");
  bool must_bind = getenv("WEFT_STEP_BOUND") != NULL;
  unsetenv("WEFT_STEP_BOUND");
  if (cpus && !bind_to(cpus)) {
    if (must_bind) goto failed;
    unsetenv("WEFT_CPUSET");
  }
  int own = terminal ? open(terminal, O_RDWR) : -1;
  if (terminal && (own < 0 || ioctl(own, TIOCSCTTY, 0))) goto failed;
  for (int fd = 0; fd < 3; fd++)
    if (dup2(terminal ? own : ends[fd], fd) < 0) goto failed;
  if (own > 2) close(own);
  execvp(argv[0], argv);
failed:;
  int why = errno;
  if (write(failure, &why, sizeof why) < 0) _exit(126);
  _exit(127);
}

/* Both ends close with the program that is started; false: none is left. */
static bool make_pipe(int *ours, int *its, bool is_input) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC)) return false;
  *ours = ends[is_input ? 1 : 0];
  *its = ends[is_input ? 0 : 1];
  set_blocking(*ours, false);
  return true;
}

/* Ours closes with the program that is started; the other one it finds by its number. */
static bool make_pmi(int *its) {
  char number[16];
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends)) return false;
  child.pmi = ends[0];
  /* Never in the place of its input, output and errors. */
  *its = fcntl(ends[1], F_DUPFD, 3);
  close(ends[1]);
  if (*its < 0) return false;
  set_blocking(*its, true);
  snprintf(number, sizeof number, "%d", *its);
  return !setenv("PMI_FD", number, 1);
}

static int open_terminal(const char *size, char *name, size_t room) {
  unsigned rows = 0, columns = 0;
  struct winsize window = {0};
  if (sscanf(size, "%ux%u", &rows, &columns) == 2)
    window.ws_row = (unsigned short)rows, window.ws_col = (unsigned short)columns;
  int fd = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (fd < 0 || grantpt(fd) || unlockpt(fd) || ptsname_r(fd, name, room)) return -1;
  ioctl(fd, TIOCSWINSZ, &window);
  set_blocking(fd, false);
  return fd;
}

/* 0, or the errno of what failed. */
static int start(char **argv) {
  char name[64];
  int its[3] = {-1, -1, -1}, its_pmi = -1, failure[2], why = 0;
  const char *size = getenv("WEFT_STEP_PTY"), *mark = getenv("WEFT_STEP_MARK");
  if (pipe2(failure, O_CLOEXEC)) return errno;
  child.has_terminal = size != NULL;
  if (size && (child.out = open_terminal(size, name, sizeof name)) < 0) return errno;
  if (!size && !(make_pipe(&child.in, &its[0], true) && make_pipe(&child.out, &its[1], false) &&
                 make_pipe(&child.err, &its[2], false)))
    return errno;
  if (getenv("WEFT_STEP_PMI") && !make_pmi(&its_pmi)) return errno;
  /* From here on it is the task's, to whoever ends that. Not so this process, which is to hear it. */
  if (mark) setenv("WEFT_LAUNCH", mark, 1);
  unsetenv("WEFT_STEP_MARK");
  unsetenv("WEFT_STEP_PTY");
  unsetenv("WEFT_STEP_PMI");
  child.pid = fork();
  if (child.pid < 0) return errno;
  if (!child.pid) become(argv, its, size ? name : NULL, failure[1]);
  close(failure[1]);
  for (int i = 0; i < 3; i++) close_end(&its[i]);
  close_end(&its_pmi);
  if (read(failure[0], &why, sizeof why) != sizeof why) why = 0;
  close(failure[0]);
  return why;
}

int step_run(char **argv) {
  sigset_t watched;
  sigemptyset(&watched);
  sigaddset(&watched, SIGCHLD);
  sigaddset(&watched, SIGALRM);
  sigaddset(&watched, SIGTERM);
  sigaddset(&watched, SIGHUP);
  sigprocmask(SIG_SETMASK, &watched, NULL);
  signal(SIGPIPE, SIG_IGN);
  int signals = signalfd(-1, &watched, SFD_CLOEXEC | SFD_NONBLOCK);
  if (signals < 0) return EXIT_LOST;
  fcntl(0, F_SETFD, FD_CLOEXEC);
  int why = start(argv);
  set_blocking(0, false);
  set_blocking(1, false);
  if (why) {
    put_number(to_agent.bytes + HEADER, (uint64_t)why, 4);
    say(SAY_FAILED, 4);
    send_on();
    return EXIT_LOST;
  }
  serve(signals);
  return 0;
}
