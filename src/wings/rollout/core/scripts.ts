// What is run on a machine, as POSIX sh on standard input: nothing that is secret, and nothing that
// another user could change, stands on a command line.

import { quoteWord } from '../../../kernel/base/shell-word.ts';
import { type Held, keepScript } from './lock.ts';
import type { Places } from './places.ts';
import type { Plan } from './plan.ts';

const opening = ({ programs, state, link }: Places): string => `set -eu
umask 022
programs="${programs}"
state="${state}"
link="${link}"
said() { tr '\\0' ' ' < "/proc/$1/cmdline" 2>/dev/null || true; }
is_agent() { case "$(said "$1")" in *" agent --dir $state "*) true;; *) false;; esac; }
is_ours() { case "$(said "$1")" in *" agent --dir $state "*|*" --socket $state/nodes/"*) true;; *) false;; esac; }
`;

/** How a script begins that changes the machine. */
const change = (places: Held): string => `${opening(places)}${keepScript(places)}`;

/** Makes the folder of what is sent; what an earlier run has left half sent goes. */
export function makeRoomScript(places: Held): string {
  return `${change(places)}
mkdir -p "$programs"
rm -rf "$programs"/new-*
mkdir "$programs/new-${places.holder.token}"
`;
}

/**
 * The command that unpacks standard input, a packed tar, where `putScript` finds it. What came in
 * part goes at once: a disk that it has filled is of use to nobody.
 */
export function unpackCommand({ programs, holder }: Held, as: Plan['as']): string {
  const folder = `${programs}/new-${holder.token}`;
  const inner = `umask 022; tar -xzf - -C "${folder}" || { rm -rf "${folder}"; exit 1; }`;
  // The user's own shell, whichever it is, gets one word.
  return `${as}sh -c ${quoteWord(inner)}`;
}

/**
 * What was unpacked runs, and takes the place of what was there, at once. A Node.js that was not
 * sent is the one that is there; if that does not run, the next run sends it. `nodejs`: its
 * SHA-256, hexadecimal.
 */
export function putScript(places: Held, release: string, nodejs: string): string {
  return `${change(places)}
new="$programs/new-${places.holder.token}"
cat > "$new/weft" <<'END'
#!/bin/sh
here=$(dirname "$(readlink -f "$0")")
exec "$here/node" "$here/bin/weft.mjs" "$@"
END
[ -e "$new/node" ] || ln "$programs/now/node" "$new/node" 2>/dev/null || cp "$programs/now/node" "$new/node"
printf '%s\\n' ${quoteWord(nodejs)} > "$new/node.sha256"
chmod 0755 "$new" "$new/weft" "$new/node"
"$new/weft" --version > /dev/null || { rm -f "$programs/now/node.sha256"; exit 1; }
rm -rf "$programs/old"
[ ! -e "$programs/now" ] || mv "$programs/now" "$programs/old"
mv "$new" "$programs/now"
chmod 0755 "$programs"
printf '%s\\n' ${quoteWord(release)} > "$programs/release"
mkdir -p "$(dirname "$link")"
case "$(readlink "$link" 2>/dev/null || true)" in
  "$programs"/*) ln -sfn "$programs/now/weft" "$link";;
  *) [ -e "$link" ] || [ -L "$link" ] || ln -s "$programs/now/weft" "$link";;
esac
`;
}

/** `ticket`: of the head; it stands in the script, which comes on standard input. */
export function joinScript(places: Held, ticket: string, name: string | null): string {
  const named = name === null ? '' : ` --name ${quoteWord(name)}`;
  return `${change(places)}
mkdir -p "$state"
uname -n > "$state/machine"
"$programs/now/weft" join --dir "$state"${named} - <<'END'
${ticket}
END
`;
}

/** Starts the agent, or starts it again. Jobs that run there go on: the next agent adopts them. */
export function startScript(places: Held, service: Plan['service']): string {
  const start = service === 'systemd' ? SYSTEMD : BACKGROUND;
  return `${change(places)}${start}uname -n > "$state/machine"\ncp "$programs/release" "$state/started"\nrm -rf "$programs/old"\n`;
}

const SYSTEMD = `
for unit in weft-agent weft-jobs; do
  sed "s|/usr/bin/weft|$programs/now/weft|; s|/var/lib/weft/node|$state|" \\
    "$programs/now/deploy/systemd/$unit.service" > "/etc/systemd/system/$unit.service"
done
systemctl daemon-reload
systemctl enable --quiet weft-agent
systemctl restart weft-agent
`;

const BACKGROUND = `
pid=$(cat "$state/rollout.pid" 2>/dev/null || echo none)
if is_agent "$pid"; then
  kill -TERM "$pid"
  tries=0
  while is_agent "$pid" && [ $tries -lt 100 ]; do tries=$((tries + 1)); sleep 0.1; done
fi
setsid "$programs/now/weft" agent --dir "$state" --log-file "$state/agent.log" \\
  > "$state/agent.out" 2>&1 < /dev/null &
printf '%s\\n' "$!" > "$state/rollout.pid"
`;

/** The last words of an agent that does not come up. */
export function lastWordsScript(places: Places): string {
  return `${opening(places)}
cat "$state/agent.out" 2>/dev/null | tail -n 3
journalctl -u weft-agent -n 3 -o cat 2>/dev/null || true
`;
}

/** Ends the agent and its jobs, and leaves nothing. */
export function uninstallScript(places: Held): string {
  return `${change(places)}
if [ -e /etc/systemd/system/weft-agent.service ] && [ -d /run/systemd/system ] && [ "$(id -u)" = 0 ]; then
  systemctl disable --quiet --now weft-agent weft-jobs || true
  rm -f /etc/systemd/system/weft-agent.service /etc/systemd/system/weft-jobs.service
  systemctl daemon-reload
fi
for signal in TERM KILL; do
  tries=0
  while [ $tries -lt 100 ]; do
    left=no
    for process in /proc/[0-9]*; do
      pid=\${process#/proc/}
      if is_ours "$pid"; then
        left=yes
        [ $tries -gt 0 ] || kill -$signal "$pid" 2>/dev/null || true
      fi
    done
    [ $left = yes ] || break
    tries=$((tries + 1)); sleep 0.1
  done
done
rm -rf "$state" "$programs"
case "$(readlink "$link" 2>/dev/null || true)" in "$programs"/*) rm -f "$link";; esac
if [ "$(id -u)" = 0 ]; then rm -f /etc/weft/client.yaml; rm -rf /var/cache/weft/node; fi
`;
}
