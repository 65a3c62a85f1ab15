/* Ends of processes, noted where the next launcher finds them when this one is killed before the
   agent has heard of them. In shared memory: no disk can hold it up, and a reboot clears it. */
#ifndef WEFT_ENDS_H
#define WEFT_ENDS_H
#include "table.h"

/* Takes over what the launcher before left, as records. `lock_fd`: holds the secret that the file is
   named by, beside `socket`. Where it cannot be had, nothing is noted. */
void ends_open(int lock_fd, const char *socket);
/* Before anybody is told of the end. */
void ends_note(struct record *rec);
void ends_forget(struct record *rec);
/* What ends from now on is noted no more, as it is ended by force. */
void ends_close(void);
#endif
