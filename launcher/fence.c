/* Version 2 of cgroups has no files for devices: a program in the kernel's own code says of each open
   whether it may be (bpf(2), BPF_PROG_TYPE_CGROUP_DEVICE). Node.js cannot load one: it asks us, once
   for each group. The kernel keeps the program as long as the group is there, and asks those of the
   groups above, too. The numbers are written here as not every C library comes with the headers. */
#define _GNU_SOURCE
#include "fence.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { PROG_LOAD = 5, PROG_ATTACH = 8, TYPE_CGROUP_DEVICE = 15, CGROUP_DEVICE = 6, ALLOW_MULTI = 2 };
enum { DEVICES_MAX = 512, PER_DEVICE = 5, AROUND = 6, BLOCK = 1, CHARACTER = 2 };

/* Registers: 0 the answer, 1 what is asked: three u32, kind and access, major and minor. */
struct instruction { uint8_t code, registers; int16_t offset; int32_t number; };
enum {
  LOAD_U32 = 0x61, /* to = *(u32 *)(from + offset) */
  AND = 0x54,      /* to &= number, in 32 bits */
  SET = 0xb7,      /* to = number */
  UNLESS = 0x55,   /* skip offset instructions unless to == number; compares 64 bits, sign and all */
  LEAVE = 0x95
};

/* Whatever the kernel knows beyond this is zero. */
struct program { uint32_t type, count; uint64_t code, license; uint32_t level, size; uint64_t log; };
struct place { uint32_t group, program, kind, flags; };

static struct instruction step(uint8_t code, int to, int from, int offset, uint32_t number) {
  struct instruction one = {code, (uint8_t)(to | from << 4), (int16_t)offset, (int32_t)number};
  return one;
}

/* Returns how many instructions there are, or -1 when a word names no device. */
static int write_code(struct instruction *code, char **devices, int count) {
  int n = 0;
  code[n++] = step(LOAD_U32, 2, 1, 0, 0);
  code[n++] = step(AND, 2, 0, 0, 0xffff);
  code[n++] = step(LOAD_U32, 3, 1, 4, 0);
  code[n++] = step(LOAD_U32, 4, 1, 8, 0);
  for (int i = 0; i < count; i++) {
    char kind, rest;
    unsigned major, minor;
    if (sscanf(devices[i], "%c%u:%u%c", &kind, &major, &minor, &rest) != 3) return -1;
    if ((kind != 'c' && kind != 'b') || major > INT32_MAX || minor > INT32_MAX) return -1;
    code[n++] = step(UNLESS, 2, 0, 4, kind == 'b' ? BLOCK : CHARACTER);
    code[n++] = step(UNLESS, 3, 0, 3, major);
    code[n++] = step(UNLESS, 4, 0, 2, minor);
    code[n++] = step(SET, 0, 0, 0, 0);
    code[n++] = step(LEAVE, 0, 0, 0, 0);
  }
  code[n++] = step(SET, 0, 0, 0, 1);
  code[n++] = step(LEAVE, 0, 0, 0, 0);
  return n;
}

static int failed(const char *what) {
  fprintf(stderr, "%s: %s\n", what, strerror(errno));
  return 1;
}

int fence_put(const char *group, char **devices, int count) {
  static struct instruction code[AROUND + DEVICES_MAX * PER_DEVICE];
  int n = count > DEVICES_MAX ? -1 : write_code(code, devices, count);
  if (n < 0) return fputs("weft-launcher: --fence takes devices as c195:0\n", stderr), 2;
  int directory = open(group, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (directory < 0) return failed(group);
  struct program program = {
    .type = TYPE_CGROUP_DEVICE,
    .count = (uint32_t)n,
    .code = (uintptr_t)code,
    .license = (uintptr_t)"MIT",
  };
  /* Before Linux 5.11 the programs of all groups together count as locked memory. */
  struct rlimit all = {RLIM_INFINITY, RLIM_INFINITY};
  setrlimit(RLIMIT_MEMLOCK, &all); /* where it may not, the kernel says so below */
  long fd = syscall(SYS_bpf, PROG_LOAD, &program, sizeof program);
  if (fd < 0) return failed("the kernel takes no BPF program");
  struct place place = {(uint32_t)directory, (uint32_t)fd, CGROUP_DEVICE, ALLOW_MULTI};
  if (syscall(SYS_bpf, PROG_ATTACH, &place, sizeof place)) return failed("the group takes no BPF program");
  return 0;
}
