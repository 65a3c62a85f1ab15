// The script that a site runs for us, and the receipts that it writes. Whoever takes the claim
// first decides: a second start of the same launch does nothing, and a gateway that takes it knows
// that nothing of the launch has run or ever will.

import { quoteWord } from '../../../../kernel/base/shell-word.ts';
import type { ExitStatus } from '../../../../kernel/model/job.ts';
import { END } from '../../ports/input-pieces.ts';
import { PROGRAM } from './program-file.ts';
import { trapAll } from './traps.ts';

export const CLAIM = 'claim';
export const STARTED = 'started';
export const ENDED = 'ended';

export interface SiteLaunch {
  /** Where receipts and the program's files (program-file.ts) are, as the site's nodes see it. */
  readonly folder: string;
  readonly cwd: string;
  readonly umask: number;
  readonly stdin: string;
  /** `stdin` is a file that a client's input is written to while the program runs (input.ts). */
  readonly isFed?: boolean;
  readonly stdout: string;
  readonly stderr: string;
  readonly append: boolean;
}

export function siteScript(launch: SiteLaunch): string {
  const { folder, cwd, umask, stdin, isFed = false, stdout, stderr, append } = launch;
  const into = append ? '>>' : '>';
  const streams = [
    `<${isFed ? FED_FROM : quoteWord(stdin === '' ? '/dev/null' : stdin)}`,
    `${into}${quoteWord(stdout)}`,
    stderr === stdout ? '2>&1' : `2${into}${quoteWord(stderr)}`,
  ];
  return `#!/bin/sh
# What it writes is to be read, whatever language its user has.
LC_ALL=C; export LC_ALL
PATH=\${PATH:-/usr/local/bin:/usr/bin:/bin}
f=${quoteWord(folder)}
mkdir "$f/${CLAIM}" 2>/dev/null || exit 0
receipt() { printf '%s\\n' "$2" >"$f/$1.new" && mv "$f/$1.new" "$f/$1"; }
${isFed ? openInput(stdin) : ''}# The end is to be told by this shell also when all of the job gets a signal. Its program runs in the
# foreground, as a signal ends the \`wait\` for one in the background, and its status may then be lost.
${trapAll(':')}(
  receipt ${STARTED} "$(date +%s) $(uname -n)"
  ${isFed ? NEED_INPUT : ''}umask ${umask.toString(8).padStart(4, '0')}
  cd ${quoteWord(cwd)} || exit 125
  exec env -i /bin/sh "$f/${PROGRAM}"
) ${streams.join(' ')}
code=$?
${isFed ? CLOSE_INPUT : ''}receipt ${ENDED} "$(date +%s) $code $(times | tail -n 1)"
exit $code
`;
}

export interface StartReceipt {
  readonly at: number;
  readonly host: string;
}

export interface EndReceipt {
  readonly at: number;
  readonly exit: ExitStatus;
  readonly userUs: number;
  readonly systemUs: number;
}

/** Returns null when it is none, or not whole. */
export function parseStartReceipt(text: string): StartReceipt | null {
  const [, seconds, host] = /^(\d{1,12}) (\S+)\n$/.exec(text) ?? [];
  return seconds === undefined || host === undefined ? null : { at: Number(seconds) * 1000, host };
}

/**
 * A code over 128 is a signal, as shells have it: the two cannot be told apart. Scripts of older
 * gateways wrote `0m0,000s` in some languages.
 */
export function parseEndReceipt(text: string): EndReceipt | null {
  const found = /^(\d{1,12}) (\d{1,3}) (\d+)m([\d.,]+)s (\d+)m([\d.,]+)s\n$/.exec(text);
  if (found === null) return null;
  const [at, code, ...times] = found.slice(1).map((one) => Number(one.replace(',', '.')));
  if (at === undefined || code === undefined) return null;
  const [userMin = 0, userS = 0, systemMin = 0, systemS = 0] = times;
  return {
    at: at * 1000,
    exit: code > 128 && code <= 128 + 64 ? { signal: code - 128 } : { code },
    userUs: Math.round((userMin * 60 + userS) * 1e6),
    systemUs: Math.round((systemMin * 60 + systemS) * 1e6),
  };
}

// How a job's script reads the input that a client sends while it runs: from a folder that its
// gateway puts pieces into (ports/input-pieces.ts).

/**
 * Lines of a shell that pass pieces on into a pipe of the node, `$p`, in the background. A file
 * server shows a folder as it is to those who list it, so that each look lists it anew. Signals for
 * all of the job are the program's: the end of what feeds it would be the end of its input. A piece
 * is passed on when all of it could be read, and the last one stays until there is another: by that
 * the next gateway knows how far it is.
 * @param folder as the site's nodes see it
 */
function openInput(folder: string): string {
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
const FED_FROM = '"$' + '{p:-/dev/null}"';

/** Follows the start of the program's shell: without its input it is not started. */
const NEED_INPUT =
  '[ -n "$p" ] || { echo "weft: no pipe for its input can be made in $t" >&2; exit 125; }\n  ';

/** When the program is over: who passes its input on then finds no pipe. */
const CLOSE_INPUT = 'rm -rf "$d"\n';
