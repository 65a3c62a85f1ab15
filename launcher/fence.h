/* Which devices the processes of a group may not open. */
#ifndef WEFT_FENCE_H
#define WEFT_FENCE_H

/* `devices` are count words as "c195:0". Returns the exit code: 0 when the group has the fence, 1
   with the kernel's words on standard error, 2 when a word is none. */
int fence_put(const char *group, char **devices, int count);
#endif
