// Input of a task that others bring while it runs (`--stdin attach`): a named pipe, which stays
// open between two of them. What brings input is no business of the kernel's: `src/wings/steps`.

import type { EpochId } from '../model/ids.ts';
import { fileNameOf, spoolDirectory } from './names.ts';
import type { AgentSettings } from './ports.ts';

/** Says where the pipe is, to whoever brings input. */
export const INPUT_VARIABLE = 'WEFT_STDIN';

/**
 * A line in the pipe with this end says that the input is over; in it the process that is to tell
 * whoever brought it that all was taken. It has five seconds for that: the task may end with its
 * input, and takes with it what was started beside it.
 */
const OVER = '.end';

/**
 * A process of the task's own holds the pipe open, as agents come and go: `$0` is the pipe, the
 * rest the program. It is nobody's child, so that a program that waits for all of its own does not
 * wait for it, and outlives signals that are meant for the program.
 */
const HOLDING = `u=$(umask); umask 077; rm -f "$0" "$0${OVER}"
mkfifo "$0" "$0${OVER}" || exit 125
umask "$u"; exec 3<>"$0" 4>"$0" <"$0" 3>&-
( ( trap '' HUP INT QUIT TERM USR1 USR2; exec >/dev/null 2>&1
    read -r by <>"$0${OVER}"; rm -f "$0" "$0${OVER}"; n=0
    while [ $n -lt 100 ] && kill -0 "$by"; do
      n=$((n + 1)); sleep 0.05 || { n=$((n + 20)); sleep 1; }
    done ) </dev/null & )
exec 4>&-; exec "$@"`;

interface Place {
  readonly uid: number;
  readonly epochId: EpochId;
}

export function inputPipe(settings: AgentSettings, { uid, epochId }: Place): string {
  return `${spoolDirectory(settings, uid)}/${fileNameOf(epochId)}.in`;
}

/** Files of one task's input: the pipe, and the one that ends it. */
export function inputPipes(settings: AgentSettings, place: Place): string[] {
  const pipe = inputPipe(settings, place);
  return [pipe, `${pipe}${OVER}`];
}

export function argvWithInput(pipe: string, argv: readonly string[]): readonly string[] {
  return ['/bin/sh', '-c', HOLDING, pipe, ...argv];
}
