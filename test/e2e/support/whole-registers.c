/* Put before User-mode Linux (LD_PRELOAD). The kernel below takes the registers of a process only as
 * a whole (ptrace(2), PTRACE_SETREGSET of NT_X86_XSTATE), and User-mode Linux 6.1 has room for those
 * up to AVX-512 alone: where the processor has AMX, it could start no program. What it leaves out
 * stays as it is. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <elf.h>
#include <stdarg.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>

typedef long (*Ptrace)(enum __ptrace_request, pid_t, void *, void *);

/* Those of AMX take 11 KiB. The kernel of User-mode Linux is one thread. */
static char whole[65536];
static Ptrace next;

__attribute__((constructor)) static void find(void) { next = (Ptrace)dlsym(RTLD_NEXT, "ptrace"); }

static long set_registers(pid_t pid, void *kind, struct iovec *given) {
  struct iovec all = {whole, sizeof whole};
  if (next(PTRACE_GETREGSET, pid, kind, &all) != 0) return -1;
  if (given->iov_len < all.iov_len) {
    memcpy(whole, given->iov_base, given->iov_len);
    given = &all;
  }
  return next(PTRACE_SETREGSET, pid, kind, given);
}

long ptrace(enum __ptrace_request request, ...) {
  va_list rest;
  va_start(rest, request);
  pid_t pid = va_arg(rest, pid_t);
  void *address = va_arg(rest, void *);
  void *data = va_arg(rest, void *);
  va_end(rest);
  if (request == PTRACE_SETREGSET && address == (void *)NT_X86_XSTATE) {
    return set_registers(pid, address, data);
  }
  return next(request, pid, address, data);
}
