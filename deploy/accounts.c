/*
 * weft-accounts: makes the accounts of a container. The head runs as an ordinary user, but its
 * container needs the accounts of all who may submit. So this program is setuid root and may be
 * run by the head's group: it starts one fixed script, with a fixed environment, on the names in
 * WEFT_USERS. Names as arguments are for root alone.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SCRIPT "/opt/weft/deploy/accounts.sh"
#define NAMES_MAX 65536

int main(int argc, char **argv) {
  static char users[NAMES_MAX] = "WEFT_USERS=";
  const char *named = getenv("WEFT_USERS");
  if (argc > 1 && getuid() != 0) {
    fprintf(stderr, "weft-accounts: only root may name accounts; set WEFT_USERS\n");
    return 2;
  }
  if (named != NULL && strlen(named) + strlen(users) >= sizeof users) {
    fprintf(stderr, "weft-accounts: WEFT_USERS is too long\n");
    return 2;
  }
  if (named != NULL) strcat(users, named);
  /* The real ids too: a shell gives up an effective id that differs. */
  if (setgid(0) != 0 || setuid(0) != 0) {
    perror("weft-accounts: cannot become root");
    return 1;
  }
  char **command = calloc((size_t)argc + 2, sizeof *command);
  if (command == NULL) return 1;
  command[0] = "sh";
  command[1] = SCRIPT;
  for (int at = 1; at < argc; at += 1) command[at + 1] = argv[at];
  char *environment[] = {"PATH=/usr/sbin:/usr/bin:/sbin:/bin", users, NULL};
  execve("/bin/sh", command, environment);
  perror("weft-accounts: cannot start " SCRIPT);
  return 1;
}
