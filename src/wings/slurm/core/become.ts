// How a rank becomes its program: by its own number, and where there is no such program with the
// words and the code of slurmstepd, which is the number of the error.

/**
 * How many gpus each rank has to itself, of those of its task on the node; absent: all of them. No
 * name of ours, which the agent alone may set. Ranks are told once: not steps that they start.
 */
export const RANK_GPUS = 'SLURM_RANK_GPUS';

/**
 * Gpus of a rank, by its number on the node: its part of each list by which programs find gpus. The
 * comma behind a list is for a list of one: of a line without any cut(1) takes all for each part.
 */
const OWN_GPUS =
  `if [ "$${RANK_GPUS}" ]; then WEFT_FIRST=$((SLURM_LOCALID * ${RANK_GPUS} + 1)); ` +
  `WEFT_PART=$WEFT_FIRST-$((WEFT_FIRST + ${RANK_GPUS} - 1)); ` +
  ['CUDA_VISIBLE_DEVICES', 'HIP_VISIBLE_DEVICES', 'ZE_AFFINITY_MASK']
    .map(
      (name) =>
        `if [ "$${name}" ]; then ${name}=$(echo "$${name}," | cut -d, -f$WEFT_PART); ` +
        `${name}=\${${name}%,}; fi; `,
    )
    .join('') +
  `unset ${RANK_GPUS}; fi; `;

/** The same for ranks that another program starts, which find no variable of ours. */
export const ownGpus = (count: string): string => `${RANK_GPUS}=${count}; ${OWN_GPUS}`;

/** For a shell with the program in "$@", in place of `exec "$@"`. */
export const BECOME =
  'SLURM_TASK_PID=$$; export SLURM_TASK_PID; ' +
  OWN_GPUS +
  'case $1 in */*) if [ ! -e "$1" ]; then WEFT_NONE=2; elif [ -d "$1" ] || [ ! -x "$1" ]; then WEFT_NONE=13; fi;; ' +
  '*) command -v "$1" >/dev/null || WEFT_NONE=2;; esac; ' +
  'if [ ! "$WEFT_NONE" ]; then exec "$@"; fi; ' +
  'WEFT_WHY="No such file or directory"; if [ $WEFT_NONE = 13 ]; then WEFT_WHY="Permission denied"; fi; ' +
  'echo "slurmstepd-$SLURMD_NODENAME: error: execve(): $1: $WEFT_WHY" >&2; exit $WEFT_NONE';

export function becoming(argv: readonly string[]): string[] {
  return ['/bin/sh', '-c', BECOME, 'srun', ...argv];
}
