// What brings input to a task that was submitted to take it: a step that writes into the pipe of
// the task (`src/kernel/agent/attached-input.ts`).

/** How it ends where it could not do so. */
const CODES = { over: 74, busy: 75, noLock: 76, unread: 77 } as const;

/**
 * One at a time has the pipe, for as long as it lives. The end of its own input is that of the
 * task's, unless what started it is gone: then nobody has said so. A task may end at the end of
 * its input, and this with it: the task has that end when what started this has ended as well, and
 * so has told that all was taken.
 */
export const BRINGING = `[ -p "$WEFT_STDIN" ] || exit ${CODES.over}
command -v flock >/dev/null || exit ${CODES.noLock}
exec 4<>"$WEFT_STDIN" 3>"$WEFT_STDIN" 4>&-
flock -n 3 || exit ${CODES.busy}
cat >&3 2>/dev/null || exit ${CODES.unread}
kill -0 "$PPID" 2>/dev/null || exit 1
echo taken
if [ -p "$WEFT_STDIN.end" ]; then echo "$PPID" >"$WEFT_STDIN.end"; fi`;

/** What is to be said of its exit code; null: all of it was given, and so was its end. */
export function inputWords(code: number): string | null {
  if (code === 0) return null;
  if (code === CODES.over) return 'its input is over: nothing more can be brought';
  if (code === CODES.busy) {
    return 'somebody else is bringing its input; nothing of yours is taken. Attach again when they have left; if they were killed, wait a minute';
  }
  if (code === CODES.noLock) return 'its node has no flock(1), and takes no input without it';
  if (code === CODES.unread || code === 141)
    return 'it reads no more input: not all of yours was taken';
  return `what was bringing its input ended with ${code}: not all of it may have been taken`;
}
