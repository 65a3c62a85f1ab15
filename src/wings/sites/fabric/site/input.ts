// How a job's script reads the input that a client sends while it runs: from a folder that its
// gateway puts pieces into (ports/input-pieces.ts).

import { quoteWord } from '../../../../kernel/base/shell-word.ts';
import { END } from '../../ports/input-pieces.ts';
import { trapAll } from './traps.ts';

/**
 * Lines of a shell that pass pieces on into a pipe of the node, `$p`, in the background. A file
 * server shows a folder as it is to those who list it, so that each look lists it anew. Signals for
 * all of the job are the program's: the end of what feeds it would be the end of its input. A piece
 * is passed on when all of it could be read, and the last one stays until there is another: by that
 * the next gateway knows how far it is.
 * @param folder as the site's nodes see it
 */
export function openInput(folder: string): string {
  return `i=${quoteWord(folder)}
t=\${TMPDIR:-/tmp}
d=$t/weft-input-$$-$(date +%s)
p=$d/pipe
pass() {
  at=0
  last=
  said=
  while [ -p "$p" ]; do
    ls "$i" >/dev/null 2>&1
    if [ -e "$i/$at" ]; then
      has=$(($(wc -c <"$i/$at")))
      cat "$i/$at" >"$d/part"
      if [ $has -gt 0 ] && [ $(($(wc -c <"$d/part"))) -eq $has ]; then
        cat "$d/part" 2>/dev/null || return
        [ -z "$last" ] || rm -f "$last"
        last=$i/$at
        at=$((at + has))
        continue
      fi
      [ -n "$said" ] || echo "weft: input of this job waits: $d/part cannot be written" >&2
      said=y
    elif [ -e "$i/${END}$at" ]; then
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
