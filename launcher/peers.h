/* Whose processes are at the other ends of connections that whoever starts us has handed on. */
#ifndef WEFT_PEERS_H
#define WEFT_PEERS_H

/* Descriptors from 3 on; a line for each on standard output. Returns the exit code. */
int peers_say(int count);
#endif
