// Who is at work on a machine: a link there, whose text says so. Nothing holds it open, so that a
// command that was killed leaves one, which counts until it was silent for longer than a step.

import { err, ok, type Result } from '../../../kernel/base/result.ts';
import { quoteWord } from '../../../kernel/base/shell-word.ts';
import type { Places } from './places.ts';

/** Longer than a step takes, as each one renews it. */
export const STALE_S = 1200;
/** Tries to make the link before its error is told. */
const TRIES = 20;

export interface Holder {
  /** Nobody else has it. */
  readonly token: string;
  /** Says who it is: `weft node add of ann@head`. */
  readonly by: string;
}

/** The places of a machine on which nobody else is at work now. */
export interface Held extends Places {
  readonly holder: Holder;
}

/** Another holder; `quietS`: since its last step. */
export interface Other {
  readonly by: string;
  readonly ageS: number;
  readonly quietS: number;
}

/** What became of a try. `after`: one that was cut off, and does not count any more. */
export type Taken =
  | { readonly isTaken: true; readonly after: Other | null }
  | { readonly isTaken: false; readonly other: Other };

/** What is in the link, and in a shell: no sign that either reads as anything else. */
const plain = (by: string): string => by.replaceAll(/[^A-Za-z0-9 ._@-]/g, '_').slice(0, 120);

const variables = ({ programs }: Places, { token, by }: Holder): string => `lock="${programs}.lock"
token=${quoteWord(token)}
by=${quoteWord(plain(by))}
`;

/** Standard output of this is for \`parseTaken\`. */
export function takeScript(places: Places, holder: Holder): string {
  return `set -euf
umask 022
${variables(places, holder)}
mkdir -p "$(dirname "$lock")"
if [ -d "$lock" ]; then echo "$lock is a folder; remove it" >&2; exit 1; fi
found=
tries=0
until ln -s "$token $(date +%s) $(date +%s) $by" "$lock" 2>/dev/null; do
  tries=$((tries + 1))
  was=$(readlink "$lock" 2>/dev/null || true)
  if [ -z "$was" ]; then
    [ $tries -lt ${TRIES} ] || ln -s "$token" "$lock"
    continue
  fi
  set -- $was
  case "\${2:-}\${3:-}" in ''|*[!0-9]*) set -- - 0 0;; esac
  now=$(date +%s)
  quiet=$((now - $3))
  said="$((now - $2)) $quiet"
  who=\${was#* * * }
  if [ $quiet -gt -${STALE_S} ] && [ $quiet -lt ${STALE_S} ]; then
    echo "weft-lock other $said $who"
    exit 0
  fi
  # Whoever is a moment earlier has a link of its own there by now, which is put back.
  mv "$lock" "$lock.$token" 2>/dev/null || continue
  moved=$(readlink "$lock.$token")
  rm -f "$lock.$token"
  if [ "$moved" = "$was" ]; then found="$said $who"; else ln -s "$moved" "$lock" || true; fi
done
echo "weft-lock taken $found"
`;
}

const SAID = /^weft-lock (taken|other) ?(?:(-?\d{1,12}) (-?\d{1,12}) (.{0,200}))?$/m;

export function parseTaken(output: string): Result<Taken, string> {
  const [, kind, age, quiet, by] = SAID.exec(output) ?? [];
  if (kind === undefined) return err('it did not say whether another command is at work there');
  const seconds = (text = '0'): number => Math.max(0, Number(text));
  const other =
    by === undefined ? null : { by: plain(by), ageS: seconds(age), quietS: seconds(quiet) };
  if (kind === 'taken') return ok({ isTaken: true, after: other });
  return other === null
    ? err('it did not say who is at work there')
    : ok({ isTaken: false, other });
}

/** Before each step: it is still this one's turn, and the others see that it goes on. */
export function keepScript(places: Held): string {
  return `${variables(places, places.holder)}was=$(readlink "$lock" 2>/dev/null || true)
case "$was" in
  "$token "*) ;;
  *) echo 'another command has taken this machine over' >&2; exit 75;;
esac
rest=\${was#* }
ln -sfn "$token \${rest%% *} $(date +%s) $by" "$lock.$token"
mv -f "$lock.$token" "$lock"
`;
}

export function releaseScript(places: Held): string {
  return `${variables(places, places.holder)}rm -f "$lock.$token"
case "$(readlink "$lock" 2>/dev/null || true)" in "$token "*) rm -f "$lock";; esac
`;
}

/** The command that takes away a lock of one who is gone, typed on this machine. */
export function removeCommand({ programs }: Places, host: string, as: string): string {
  const words = as === '' ? '' : 'sudo ';
  return `ssh ${host} ${words}rm ${programs.replace(/^\$HOME\//, '')}.lock`;
}
