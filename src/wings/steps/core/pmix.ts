// Ranks of Open MPI as one step: the node's own `mpirun`, which has the PMIx server of the release
// that its programs are built with, told where each rank goes (docs/decisions/0020).

import { quoteWord } from '../../../kernel/base/shell-word.ts';

export interface PmixWish {
  /** The node of each rank, in order; those of a node stand together. */
  readonly nodes: readonly string[];
  /** The node that `mpirun` is started on. */
  readonly here: string;
  readonly argv: readonly string[];
  /**
   * Names of what `mpirun` has, and ranks are to have beside what their node gives the task. Every
   * user of the node may read its command line: values do not stand there.
   */
  readonly handed?: readonly string[];
  /** Names of what ranks are not to have. */
  readonly taken?: readonly string[];
  /** A line of a shell that each rank begins with. */
  readonly begin?: string;
  /** The output says which rank has written what: see `TaggedOutput`. */
  readonly isTagged: boolean;
}

/** A first line of output whose tags end with a blank. */
export const BLANK_MARK = 'weft: a blank ends each tag\n';

/**
 * Looks for an `mpirun` of Open MPI in the PATH: the one of MPICH starts each rank of such a
 * program for itself. Variables of Slurm are not to make it start ranks by Slurm's own `srun`. The
 * first word is whether output is tagged. What Weft lets root run needs no leave.
 */
const START = `
tags=$1
shift
export OMPI_MCA_plm=rsh OMPI_MCA_ras=^slurm PRTE_MCA_plm=ssh PRTE_MCA_ras=^slurm
export OMPI_MCA_plm_rsh_agent="\${OMPI_MCA_plm_rsh_agent:-\${WEFT_RSH:-false}}"
export PRTE_MCA_plm_ssh_agent="\${PRTE_MCA_plm_ssh_agent:-\${WEFT_RSH:-false}}"
for name in mpirun mpirun.openmpi orterun prterun; do
  path=$(command -v "$name") || continue
  case $("$path" --version 2>/dev/null) in
    *OpenRTE*|*'Open MPI) '[1-4].*) tag=--tag-output ;;
    *'Open MPI'*|*PRRTE*|*prterun*) tag='--output tag' ;;
    *) continue ;;
  esac
  if [ "$tags" = no ]; then tag=; fi
  if [ "$tag" = '--output tag' ]; then
    echo '${BLANK_MARK.trimEnd()}'
    echo '${BLANK_MARK.trimEnd()}' >&2
  fi
  if [ "$(id -u)" = 0 ]; then tag="$tag --allow-run-as-root"; fi
  if [ -n "$WEFT_STEP_ID" ]; then tag="$tag -x WEFT_STEP_ID"; fi
  exec "$path" $tag "$@"
done
echo 'no mpirun of Open MPI is in the PATH of this node (mpirun, mpirun.openmpi, orterun, prterun)' >&2
exit 127`;

/** What each rank finds of a step, with the names that steps give it. */
const RANK =
  'WEFT_STEP_RANK=$OMPI_COMM_WORLD_RANK WEFT_STEP_COUNT=$OMPI_COMM_WORLD_SIZE; ' +
  'export WEFT_STEP_RANK WEFT_STEP_COUNT; ';

/** The program of the step. */
export function pmixArgv(wish: PmixWish): string[] {
  const { nodes, argv, handed = [], taken = [], begin = '', isTagged } = wish;
  const rank = ['/bin/sh', '-c', `${RANK}${begin}exec "$@"`, 'rank', ...argv];
  const without = taken.flatMap((name) => ['-u', name]);
  return [
    ...['/bin/sh', '-c', START, 'pmix', isTagged ? 'yes' : 'no'],
    ...['--host', hostsOf(wish), '-n', String(nodes.length), '--map-by', 'slot'],
    ...handed.flatMap((name) => ['-x', name]),
    ...(taken.length === 0 ? rank : ['env', ...without, ...rank]),
  ];
}

/** `n1:2,n2:2`. A node alone needs no name: those of `weft up` have none that a machine knows. */
function hostsOf({ nodes, here }: PmixWish): string {
  const counts = new Map<string, number>();
  for (const node of nodes) counts.set(node, (counts.get(node) ?? 0) + 1);
  const isHere = counts.size === 1 && nodes[0] === here;
  return [...counts].map(([node, count]) => `${isHere ? 'localhost' : node}:${count}`).join();
}

/** Runs a program bound to the cpus that `WEFT_CPUSET` says (taskset(1)). */
const BIND =
  'command -v taskset >/dev/null || { echo "no taskset is on this node: it cannot be bound" >&2; exit 126; }; ' +
  'exec taskset -c "$WEFT_CPUSET" "$@"';

export function boundArgv(argv: readonly string[]): string[] {
  return ['/bin/sh', '-c', BIND, 'bound', ...argv];
}

/** A line of a shell by which each rank has its cpus. */
export function cpusByRank(cpus: readonly string[]): string {
  return `${byRank(cpus.map((one) => `WEFT_CPUSET=${one};`))} export WEFT_CPUSET; `;
}

/** A line of a shell: which of so many texts is run by which rank. */
export function byRank(lines: readonly string[]): string {
  const [first = ''] = lines;
  if (lines.every((line) => line === first)) return first;
  const arms = lines.map((line, rank) => `${rank}) ${line} ;;`);
  return `case $OMPI_COMM_WORLD_RANK in ${arms.join(' ')} esac; `;
}

export interface Written {
  /** Null: of `mpirun` itself. */
  readonly rank: number | null;
  /** A character a byte. */
  readonly text: string;
}

/** `[1,3]<stdout>:` of Open MPI 4, `[prterun-n1-77@1,3]<stdout>: ` of 5, after a mark. */
const TAG = /\[(?:[^\]@\s]*@)?\d+,(\d+)\]<std(?:out|err|diag)>:/;
/** Longer than any tag. */
const TAG_MAX = 300;

/** What `mpirun` has written of which rank: a tag goes before each line, and each piece of one. */
export class TaggedOutput {
  #rank: number | null = null;
  #rest = '';
  /** Null: the first line is not here yet. */
  #hasBlank: boolean | null = null;
  #isAfterTag = false;

  /** `text`: a character a byte. */
  write(text: string): Written[] {
    this.#rest += text;
    return this.#cut(false);
  }

  end(): Written[] {
    return this.#cut(true);
  }

  #cut(isLast: boolean): Written[] {
    const found: Written[] = [];
    if (!this.#begin(isLast)) return found;
    while (this.#rest !== '') {
      if (this.#isAfterTag) {
        this.#isAfterTag = false;
        if (this.#rest.startsWith(' ')) this.#rest = this.#rest.slice(1);
        continue;
      }
      const tag = TAG.exec(this.#rest);
      const lineEnd = this.#rest.indexOf('\n') + 1;
      if (tag?.index === 0) {
        this.#rank = Number(tag[1]);
        this.#rest = this.#rest.slice(tag[0].length);
        this.#isAfterTag = this.#hasBlank === true;
        continue;
      }
      const at = Math.min(tag?.index ?? Infinity, lineEnd || Infinity, this.#safe(isLast));
      if (at === 0) break;
      found.push({ rank: this.#rank, text: this.#rest.slice(0, at) });
      this.#rest = this.#rest.slice(at);
      if (at === lineEnd) this.#rank = null;
    }
    return found;
  }

  /** Whether it is known how tags end. */
  #begin(isLast: boolean): boolean {
    if (this.#hasBlank !== null) return true;
    const isOpen = this.#rest.length < BLANK_MARK.length && BLANK_MARK.startsWith(this.#rest);
    if (isOpen && !isLast) return false;
    this.#hasBlank = this.#rest.startsWith(BLANK_MARK);
    if (this.#hasBlank) this.#rest = this.#rest.slice(BLANK_MARK.length);
    return true;
  }

  /** Up to where a tag may have begun whose end has not come. */
  #safe(isLast: boolean): number {
    const { length } = this.#rest;
    const open = this.#rest.lastIndexOf('[');
    if (isLast || open === -1 || length - open > TAG_MAX) return length;
    return /^\[[^\]\s]*(?:\](?:<[a-z]*>?)?)?$/.test(this.#rest.slice(open)) ? open : length;
  }
}

/** The words of `mpirun` for people: what was typed, not what starts it. */
export function titleOf(argv: readonly string[]): string {
  return argv.map(quoteWord).join(' ');
}
