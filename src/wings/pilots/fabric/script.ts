// The script that a batch system runs for each pilot of a launch: it joins, runs an agent, and
// leaves nothing behind when it is told to end.

import { quoteWord } from '../../../kernel/base/shell-word.ts';
import { fleetLabel, type PilotRequest, pilotLog } from '../model/pilot.ts';

const MIB = 1_048_576;
/**
 * For two minutes a pilot waits for a head that is just being started anew: it has waited longer
 * than that for its turn in the queue, and would lose it.
 */
const JOIN = 'WEFT_JOIN_RETRIES=24 WEFT_JOIN_RETRY_WAIT=5s';

export interface PilotScript {
  readonly fleet: string;
  readonly launch: number;
  readonly wish: PilotRequest;
  /** `weft-join:…`, for this launch alone. */
  readonly ticket: string;
  /** The words that start `weft` where pilots run; in a container it is `weft`. */
  readonly program: readonly string[];
}

export function pilotScript({ fleet, launch, wish, ticket, program }: PilotScript): string {
  const { image, directory } = wish;
  const labels = [fleetLabel(fleet), `system=${wish.system}`].map(quoteWord).join(' ');
  return `#!/bin/sh
# A pilot of the Weft fleet ${fleet}: an agent that lives as long as this job.
index=\${SLURM_ARRAY_TASK_ID:-\${SGE_TASK_ID:-1}}
name=${quoteWord(`${fleet}-${launch}-`)}$index
PATH=\${PATH:-/usr/local/bin:/usr/bin:/bin}
cd ${quoteWord(directory)} || exit 1
exec >"${pilotLog('$name')}" 2>&1 </dev/null
d=$(mktemp -d "\${TMPDIR:-/tmp}/weft-pilot.XXXXXX") || exit 1
# A batch system that hands on nothing says nothing of the account either.
HOME=\${HOME:-$(getent passwd "$(id -u)" | cut -d: -f6)}
HOME=\${HOME:-$d}; USER=\${USER:-$(id -un)}; LOGNAME=\${LOGNAME:-$USER}; export HOME
${memoryLines(wish)}
${image === null ? onMachine(program, wish, labels) : inContainer(wish, labels)}
ticket=${quoteWord(ticket)}
ended=
end() { ended=yes; stop; }
trap end TERM INT HUP USR1 USR2 XCPU
${OVER}
run
clean
rm -rf "$d"
[ -n "$ended" ] && exit 0
exit "\${code:-1}"
`;
}

/**
 * Waits for process `$a`: a signal to the shell ends a wait, and not what it waits for. The first
 * wait is before the first look, which does not find a process that has ended already.
 */
const OVER =
  'over() { wait $a; code=$?; while kill -0 $a 2>/dev/null; do wait $a; code=$?; done; }';

/** A pilot's share of the machine's memory by its cpus, where nobody said how much. */
function memoryLines({ memoryBytes, cpuCount }: PilotRequest): string {
  if (memoryBytes !== null) return `memory=${Math.max(1, Math.floor(memoryBytes / MIB))}M`;
  return `kib=$(sed -n 's/^MemTotal: *\\([0-9]*\\) kB$/\\1/p' /proc/meminfo)
all=$(getconf _NPROCESSORS_ONLN)
cpus=${cpuCount}; [ "$cpus" -gt "$all" ] && cpus=$all
memory=$((kib / 1024 * cpus / all))M`;
}

/**
 * A batch system may kill this shell with all of its session: the agent is in another one, sees
 * that its parent is gone, and ends what it runs. Launcher and tasks outlive their agent by design;
 * here nobody comes back to them, and the end of this job is evidence that they are gone.
 */
function onMachine(program: readonly string[], wish: PilotRequest, labels: string): string {
  const weft = program.map(quoteWord).join(' ');
  const shared = quoteWord(wish.sharedPaths.join(','));
  return `# What it runs gets a clean environment, as on every node.
weft() {
  exec setsid env -i HOME="$HOME" USER="$USER" LOGNAME="$LOGNAME" PATH="$PATH" \\
    LANG="\${LANG:-C.UTF-8}" TMPDIR="$d" WEFT_NODE_CPUS=${wish.cpuCount} \\
    WEFT_NODE_MEMORY="$memory" WEFT_NODE_SHARED=${shared} WEFT_NODE_SWITCH_USER=false \\
    ${JOIN} ${weft} "$@" --dir "$d"
}
run() {
  # In the background, so that a signal ends it: it may wait for its head.
  printf '%s\\n' "$ticket" | (weft join - --name "$name" --label ${labels}) & a=$!; over
  if [ "$code" = 0 ] && [ -z "$ended" ]; then (weft agent --leave) & a=$!; over; fi
}
stop() { kill -TERM $a; }
# Its launcher, and tasks if the agent did not end by itself: they find their host file in the folder.
# What a task has handed to the batch system may run here, and has that variable as well: its parents
# lead to a program of that system, and not to the launcher, or to whoever takes in orphans.
left() {
  own=$(grep -lsaF "$d/nodes/$name/launcher.sock" /proc/[0-9]*/cmdline | cut -d/ -f3)
  all=$own
  [ "$code" = 0 ] || all="$own $(grep -lsaF "$d/" /proc/[0-9]*/environ | cut -d/ -f3)"
  all=" $(echo $all) "
  for one in $all; do
    top=$one
    while case "$all" in *" $top "*) ;; *) false;; esac; do top=$(parent $top); done
    case " 1 $above " in *" \${top:-1} "*) echo $one;; esac
  done | sort -u
}
parent() { sed -n 's/^PPid:[[:space:]]*//p' /proc/$1/status 2>/dev/null; }
above=
one=$$; while [ "\${one:-0}" -gt 0 ]; do one=$(parent $one); above="$above $one"; done
clean() {
  # One that was just being started is seen the next time.
  for time in 1 2 3 4 5 6; do
    for one in $(left); do [ "$one" = $$ ] || kill "$one" 2>/dev/null; done
    sleep 0.3
  done
  for one in $(left); do kill -9 "$one" 2>/dev/null; done
}`;
}

/**
 * The container's standard input stays open as long as this shell lives: the container is no child
 * of ours, and has to end also when nobody can tell it to. A shell gives what it starts in the
 * background an empty input unless told otherwise.
 */
function inContainer(wish: PilotRequest, labels: string): string {
  const { image, dockerArgs, directory, cpuCount, sharedPaths } = wish;
  const args = dockerArgs.map(quoteWord).join(' ');
  const inside = `read -r t; printf "%s\\n" "$t" | ${JOIN} weft join - --dir "$0" --name "$1" --label ${labels} || exit 1
exec 3<&0
weft agent --dir "$0" --leave </dev/null 3<&- & a=$!
(cat <&3 >/dev/null; kill -TERM $a) &
trap "kill -TERM $a" TERM INT
${OVER}
over
exit $code`;
  return `run() {
  mkfifo "$d/in"
  set -- -e WEFT_NODE_CPUS=${cpuCount} -e "WEFT_NODE_MEMORY=$memory" \\
    -e WEFT_NODE_SHARED=${quoteWord(sharedPaths.join(','))} -e WEFT_NODE_SWITCH_USER=false
  docker run --rm -i --network host --name "weft-$name" -v ${quoteWord(`${directory}:${directory}`)} \\
    "$@" ${args} --entrypoint /bin/sh ${quoteWord(image ?? '')} \\
    -c ${quoteWord(inside)} /tmp/weft-pilot "$name" <"$d/in" & a=$!
  exec 3>"$d/in"
  printf '%s\\n' "$ticket" >&3
  over
}
stop() { exec 3>&-; docker stop -t 20 "weft-$name"; }
clean() { docker rm -f "weft-$name" 2>/dev/null; }`;
}
