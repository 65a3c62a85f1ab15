// How a job's script reads the input that a client sends while it runs: from a file that grows
// (ports/input-file.ts).

import { quoteWord } from '../../../../kernel/base/shell-word.ts';
import { INPUT_HEAD_BYTES } from '../../ports/input-file.ts';
import { trapAll } from './traps.ts';

/** What the script passes on at a time: it is on the node's own disk for a moment. */
const PART_BYTES = 1_048_576;

/**
 * Lines of a shell that pass a growing file on into a pipe of the node, `$p`, in the background. A
 * file server shows a file as it is to those who open it, so that each look opens it anew. Signals
 * for all of the job are the program's: the end of what feeds it would be the end of its input. A
 * part is passed on when all of it could be read.
 * @param file as the site's nodes see it
 */
export function openInput(file: string): string {
  return `i=${quoteWord(file)}
t=\${TMPDIR:-/tmp}
d=$t/weft-input-$$-$(date +%s)
p=$d/pipe
pass() {
  at=0
  said=
  while [ -p "$p" ]; do
    all=
    read -r all <"$i"
    has=$(($(wc -c <"$i") - ${INPUT_HEAD_BYTES} - at))
    [ $has -le ${PART_BYTES} ] || has=${PART_BYTES}
    if [ $has -gt 0 ]; then
      tail -c +$((at + ${INPUT_HEAD_BYTES + 1})) "$i" | head -c $has >"$d/part"
      if [ $(($(wc -c <"$d/part"))) -eq $has ]; then
        cat "$d/part" 2>/dev/null || return
        at=$((at + has))
        continue
      fi
      [ -n "$said" ] || echo "weft: input of this job waits: $d/part cannot be written" >&2
      said=y
    elif [ -n "$all" ] && [ "$all" -le $at ]; then
      return
    fi
    sleep 1
  done
}
${trapAll("''")}if (umask 077 && mkdir "$d") && mkfifo -m 600 "$p"; then
  pass >"$p" &
else
  p=
fi
`;
}

/** What the program reads, as a word of the shell. */
export const FED_FROM = '"$' + '{p:-/dev/null}"';

/** Follows the start of the program's shell: without its input it is not started. */
export const NEED_INPUT =
  '[ -n "$p" ] || { echo "weft: no pipe for its input can be made in $t" >&2; exit 125; }\n  ';

/** When the program is over: who passes its input on then finds no pipe. */
export const CLOSE_INPUT = 'rm -rf "$d"\n';
