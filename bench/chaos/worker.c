/* One process of a task: a receipt at its start, one every tenth of a second, one at its end. Each
 * is one line, appended by one write: `task epoch host nodeRank rank pid realtimeMs what key`.
 * Usage: worker FOLDER BEATS EXIT_CODE STUBBORN KEY; the file in the folder has the host's name.
 * With CHAOS_LINE_BYTES each receipt writes a line of so many bytes to the output, too: its number,
 * and then dots. */

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { BEAT_NS = 100 * 1000 * 1000, CANNOT_WRITE = 90 };

static char host[65];
static int file;
static const char *key;

static const char *word(const char *name)
{
	const char *value = getenv(name);
	return value == NULL ? "-" : value;
}

static void receipt(const char *what)
{
	struct timespec now;
	char line[256];
	clock_gettime(CLOCK_REALTIME, &now);
	int length = snprintf(line, sizeof line, "%s %s %s %s %s %d %lld %s %s\n",
		word("WEFT_TASK_ID"), word("WEFT_EPOCH"), host, word("WEFT_NODE_RANK"),
		word("WEFT_PROC_RANK"), (int)getpid(),
		(long long)now.tv_sec * 1000 + now.tv_nsec / 1000000, what, key);
	if (length < 0 || write(file, line, (size_t)length) != length)
		_exit(CANNOT_WRITE);
}

/* Whole, however little of it is taken at once. */
static void say(int number)
{
	const char *size = getenv("CHAOS_LINE_BYTES");
	char line[16384];
	size_t length = size == NULL ? 0 : (size_t)atoi(size);
	if (length < 16 || length > sizeof line)
		return;
	memset(line, '.', length);
	line[snprintf(line, 16, "%d ", number)] = '.';
	line[length - 1] = '\n';
	for (size_t at = 0; at < length;) {
		ssize_t taken = write(1, line + at, length - at);
		if (taken < 0 && errno != EINTR)
			_exit(CANNOT_WRITE);
		at += taken < 0 ? 0 : (size_t)taken;
	}
}

int main(int argc, char **argv)
{
	char path[4096];
	/* All nodes of a site are one machine. */
	const char *name = getenv("CHAOS_HOST");
	if (argc != 6 || gethostname(host, sizeof host - 1) != 0)
		return CANNOT_WRITE;
	if (name != NULL)
		snprintf(host, sizeof host, "%s", name);
	snprintf(path, sizeof path, "%s/%s", argv[1], host);
	file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
	if (file < 0)
		return CANNOT_WRITE;
	key = argv[5];
	/* Only the KILL after the grace ends it then. */
	if (atoi(argv[4]) != 0)
		signal(SIGTERM, SIG_IGN);
	receipt("start");
	for (int left = atoi(argv[2]), said = 0; left > 0; left--) {
		struct timespec rest = {0, BEAT_NS};
		while (nanosleep(&rest, &rest) != 0 && errno == EINTR)
			;
		say(said++);
		receipt(left == 1 ? "end" : "beat");
	}
	return atoi(argv[3]);
}
