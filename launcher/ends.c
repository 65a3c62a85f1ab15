/* A file of slots of one size below /dev/shm; see ends.h. The Node fallback reads and writes the same. */
#define _GNU_SOURCE
#include "ends.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

/* No slot crosses a page: a write of one is all or nothing, also when we are killed in it. */
enum { SECRET_BYTES = 16, SECRET_LENGTH = 2 * SECRET_BYTES };
struct slot {
  uint64_t id; /* 0: free */
  uint64_t start_ticks, started_at, ended_at, ended_ticks, user_us, system_us, max_rss_kib;
  uint32_t status, why, pid, uid;
  unsigned char unused[48];
};
_Static_assert(sizeof(struct slot) == 128, "slots fill pages");
/* Slot 0. `socket` in `mounts` says whose it is: when nothing there has our secret, the file is of no use
   to anybody, and the next agent of this machine removes it (src/kernel/os/old-ends.ts). */
struct head {
  uint64_t magic, mounts; /* inode of our mount namespace, in which `socket` means something */
  char socket[112];
};
_Static_assert(sizeof(struct head) == sizeof(struct slot), "the head is a slot");
static const uint64_t MAGIC = 0x0131646e45746657u; /* "WftEnd1" and a version */

static int file = -1;
static uint32_t used, free_slots[RECORDS_MAX], free_count; /* `used`: slots ever used, free ones too */
static char path[64];

static bool is_secret(const char *text) {
  return strspn(text, "0123456789abcdef") == SECRET_LENGTH && !text[SECRET_LENGTH];
}

/* Unguessable, so that nobody else can lie there in wait; as long as the state directory. */
static bool read_secret(int lock_fd, char *text) {
  unsigned char bytes[SECRET_BYTES];
  ssize_t n = pread(lock_fd, text, SECRET_LENGTH + 1, 0);
  text[n == SECRET_LENGTH ? SECRET_LENGTH : 0] = 0;
  if (is_secret(text)) return true;
  if (getrandom(bytes, sizeof bytes, 0) != sizeof bytes) return false;
  for (int i = 0; i < SECRET_BYTES; i++) snprintf(text + 2 * i, 3, "%02x", bytes[i]);
  return !ftruncate(lock_fd, 0) && pwrite(lock_fd, text, SECRET_LENGTH, 0) == SECRET_LENGTH;
}

static off_t place(uint32_t slot) { return (off_t)slot * (off_t)sizeof(struct slot); }

static bool adopt(const struct slot *from, uint32_t slot) {
  struct record *rec = from->id && !record_find(from->id) ? record_add(from->id) : NULL;
  if (!rec) return false;
  rec->state = EXITED;
  rec->pid = (pid_t)from->pid;
  rec->uid = from->uid;
  rec->start_ticks = from->start_ticks;
  rec->started_at = from->started_at;
  rec->ended_at = from->ended_at;
  rec->ended_ticks = from->ended_ticks;
  rec->user_us = from->user_us;
  rec->system_us = from->system_us;
  rec->max_rss_kib = from->max_rss_kib;
  rec->status = from->status;
  rec->why = from->why == LEASE_OVER ? LEASE_OVER : BY_ITSELF;
  rec->slot = slot;
  return true;
}

static bool write_head(const char *socket) {
  struct head head = {.magic = MAGIC};
  struct stat mounts;
  if (!stat("/proc/self/ns/mnt", &mounts)) head.mounts = (uint64_t)mounts.st_ino;
  snprintf(head.socket, sizeof head.socket, "%s", socket);
  return pwrite(file, &head, sizeof head, 0) == sizeof head;
}

static void read_slots(const char *socket) {
  struct slot slot;
  if (pread(file, &slot, sizeof slot, 0) == sizeof slot && slot.id == MAGIC) {
    write_head(socket);
    while (used < RECORDS_MAX && pread(file, &slot, sizeof slot, place(used + 1)) == sizeof slot)
      if (!adopt(&slot, ++used)) free_slots[free_count++] = used;
    return;
  }
  if (!ftruncate(file, 0) && write_head(socket)) return;
  close(file);
  file = -1;
}

void ends_open(int lock_fd, const char *socket) {
  char secret[SECRET_LENGTH + 2];
  struct stat found;
  if (!read_secret(lock_fd, secret)) return;
  snprintf(path, sizeof path, "/dev/shm/weft-ends-%s", secret);
  file = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (file < 0) return;
  if (!fstat(file, &found) && S_ISREG(found.st_mode) && found.st_uid == geteuid())
    return read_slots(socket);
  close(file);
  file = -1;
}

void ends_note(struct record *rec) {
  if (file < 0 || (!free_count && used >= RECORDS_MAX)) return;
  uint32_t slot = free_count ? free_slots[--free_count] : ++used;
  struct slot note = {
    .id = rec->id, .start_ticks = rec->start_ticks, .started_at = rec->started_at,
    .ended_at = rec->ended_at, .ended_ticks = rec->ended_ticks, .user_us = rec->user_us,
    .system_us = rec->system_us, .max_rss_kib = rec->max_rss_kib, .status = rec->status,
    .why = rec->why, .pid = (uint32_t)rec->pid, .uid = rec->uid,
  };
  if (pwrite(file, &note, sizeof note, place(slot)) == sizeof note) rec->slot = slot;
  else free_slots[free_count++] = slot; /* no memory left: as if there were no file */
}

void ends_forget(struct record *rec) {
  const uint64_t none = 0;
  if (!rec->slot || file < 0) return;
  if (pwrite(file, &none, sizeof none, place(rec->slot)) == sizeof none)
    free_slots[free_count++] = rec->slot;
  rec->slot = 0;
}

void ends_close(void) {
  if (file < 0) return;
  if (free_count == used) unlink(path);
  close(file);
  file = -1;
}
