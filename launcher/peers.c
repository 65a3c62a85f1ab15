/* Node.js has no call for SO_PEERCRED: it asks us, many connections at once. */
#define _GNU_SOURCE
#include "peers.h"

#include <stdio.h>
#include <sys/socket.h>

int peers_say(int count) {
  for (int fd = 3; fd < 3 + count; fd++) {
    struct ucred peer;
    socklen_t size = sizeof peer;
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size)) puts("-");
    else printf("%u\n", (unsigned)peer.uid);
  }
  return fflush(stdout) ? 1 : 0;
}
