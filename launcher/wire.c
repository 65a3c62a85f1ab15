/* Frames to bytes and back; see wire.h. Nothing here knows what a frame means. */
#include "wire.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

static uint64_t take(struct reader *r, size_t n) {
  uint64_t value = 0;
  if (r->bad || (size_t)(r->end - r->at) < n) {
    r->bad = true;
    return 0;
  }
  for (size_t i = 0; i < n; i++) value |= (uint64_t)r->at[i] << (8 * i);
  r->at += n;
  return value;
}

uint32_t take_u32(struct reader *r) { return (uint32_t)take(r, 4); }
uint64_t take_u64(struct reader *r) { return take(r, 8); }

char *take_str(struct reader *r) {
  size_t n = take_u32(r);
  if (r->bad || (size_t)(r->end - r->at) < n || memchr(r->at, 0, n)) {
    r->bad = true;
    return NULL;
  }
  /* One byte to the left, over the length just read: that makes room for the NUL. */
  char *text = (char *)memmove(r->at - 1, r->at, n);
  text[n] = 0;
  r->at += n;
  return text;
}

uint32_t take_count(struct reader *r, size_t bytes_each) {
  uint32_t n = take_u32(r);
  if (n > (size_t)(r->end - r->at) / bytes_each) r->bad = true;
  return r->bad ? 0 : n;
}

bool reader_done(const struct reader *r) { return !r->bad && r->at == r->end; }

static unsigned char *reserve(struct out *o, size_t n) {
  if (!o->open || o->overflown) return NULL;
  size_t room = o->room ? o->room : 4096;
  while (room < o->used + n) room *= 2;
  if (room != o->room) {
    unsigned char *grown = room <= OUT_MAX ? realloc(o->bytes, room) : NULL;
    if (!grown) {
      o->overflown = true;
      return NULL;
    }
    o->bytes = grown;
    o->room = room;
  }
  o->used += n;
  return o->bytes + o->used - n;
}

static void put(struct out *o, uint64_t value, size_t n) {
  unsigned char *at = reserve(o, n);
  for (size_t i = 0; at && i < n; i++) at[i] = (unsigned char)(value >> (8 * i));
}

void put_u32(struct out *o, uint32_t value) { put(o, value, 4); }
void put_u64(struct out *o, uint64_t value) { put(o, value, 8); }

void put_str(struct out *o, const char *text) {
  size_t n = strlen(text);
  put_u32(o, (uint32_t)n);
  unsigned char *at = reserve(o, n);
  if (at) memcpy(at, text, n);
}

void frame_begin(struct out *o, uint8_t type) {
  o->frame = o->used;
  put(o, 0, 4);
  put(o, type, 1);
}

void frame_end(struct out *o) {
  if (!o->open || o->overflown) return;
  size_t n = o->used - o->frame - 4;
  for (size_t i = 0; i < 4; i++) o->bytes[o->frame + i] = (unsigned char)(n >> (8 * i));
}

void say_error(struct out *o, uint32_t code, uint64_t id, const char *text) {
  frame_begin(o, SAY_ERROR);
  put_u32(o, code);
  put_u64(o, id);
  put_str(o, text);
  frame_end(o);
}

bool out_flush(struct out *o, int fd) {
  if (o->overflown) return false;
  while (o->used) {
    ssize_t n = send(fd, o->bytes, o->used, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n < 0) return errno == EAGAIN || errno == EINTR;
    memmove(o->bytes, o->bytes + n, o->used -= (size_t)n);
  }
  if (o->room > 65536) out_reset(o, true);
  return true;
}

void out_reset(struct out *o, bool open) {
  free(o->bytes);
  *o = (struct out){.open = open};
}
