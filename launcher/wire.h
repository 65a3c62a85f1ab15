/* The frames between launcher and agent, version 1: little endian, bounds checked, no sockets.
   A frame is u32 length of what follows, u8 type, payload; a string is u32 length and bytes. */
#ifndef WEFT_WIRE_H
#define WEFT_WIRE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Scopes of a SIGNAL: all that belongs to the process, the process alone, all but it. */
enum { SCOPE_ALL = 1, SCOPE_MAIN, SCOPE_OTHERS };
enum { WIRE_VERSION = 1, FRAME_MAX = 1 << 20, OUT_MAX = 16 << 20 };

enum { /* agent to launcher */
  ASK_HELLO = 0x01, ASK_SPAWN, ASK_SIGNAL, ASK_FORGET, ASK_LIST, ASK_SHUTDOWN, ASK_LEFTOVERS,
  ASK_HEARD
};
enum { /* launcher to agent */
  SAY_HELLO = 0x80, SAY_STARTED, SAY_FAILED, SAY_EXITED, SAY_STOPPED, SAY_CONTINUED, SAY_SIGNALLED,
  SAY_RECORD, SAY_LIST_END, SAY_LEFTOVERS, SAY_ERROR = 0x8F
};
enum { /* codes of SAY_ERROR; the first three end the connection */
  ERROR_MALFORMED = 1, ERROR_VERSION, ERROR_NO_HELLO, ERROR_UNKNOWN_ID, ERROR_STILL_LIVE,
  KNOWS_SCOPES /* no error: an older launcher does not say it, and takes SCOPE_ALL only */
};

/* A cursor over one payload. Reading past the end sets bad and gives zeros. */
struct reader { unsigned char *at, *end; bool bad; };
uint32_t take_u32(struct reader *r);
uint64_t take_u64(struct reader *r);
/* A NUL-terminated string inside the payload itself, or NULL and bad. */
char *take_str(struct reader *r);
/* How many elements follow, bad when they could not fit into the rest at bytes_each. */
uint32_t take_count(struct reader *r, size_t bytes_each);
/* True when the payload was read to its last byte without a fault. */
bool reader_done(const struct reader *r);

/* Bytes waiting to be sent. While not open, everything put into it is dropped. */
struct out { unsigned char *bytes; size_t used, room, frame; bool open, overflown; };
void frame_begin(struct out *o, uint8_t type);
void put_u32(struct out *o, uint32_t value);
void put_u64(struct out *o, uint64_t value);
void put_str(struct out *o, const char *text);
void frame_end(struct out *o);
void say_error(struct out *o, uint32_t code, uint64_t id, const char *text);
/* Sends what the socket takes now; false when the connection is of no more use. */
bool out_flush(struct out *o, int fd);
void out_reset(struct out *o, bool open);
#endif
