// What runs on each node of a job that was submitted with `--torchrun`, before its own words.

const [PORT_FROM, PORTS] = [20_000, 12_000];
/**
 * With these the ports of four starts of each of 64 tasks of an array differ, and also those of 43
 * such jobs in a row.
 */
const [JOB_STEP, INDEX_STEP] = [97, 4547];

/** Where processes of this start find each other: another port for each start, as a rule. */
export function meetingPort(jobId: number, index: number | null, epoch: number): number {
  return PORT_FROM + ((jobId * JOB_STEP + (index ?? 0) * INDEX_STEP + epoch) % PORTS);
}

const SUM = `WEFT_JOB_ID * ${JOB_STEP} + \${WEFT_ARRAY_INDEX:-0} * ${INDEX_STEP} + WEFT_EPOCH`;

/**
 * Nodes of `weft up` have names that nobody else knows, and are on one machine. The port is the
 * same on all nodes, and another one for each start, as a rule.
 */
const LINE = `
gpus=$(printf %s "\${WEFT_GPUS:-}" | tr ',' '\\n' | grep -c .)
first=$(head -n 1 "$WEFT_HOSTFILE")
getent hosts "$first" > /dev/null 2>&1 || first=127.0.0.1
exec torchrun --nnodes "$WEFT_NODE_COUNT" --node-rank "$WEFT_NODE_RANK" \\
  --nproc-per-node "$((gpus > 0 ? gpus : 1))" --master-addr "$first" \\
  --master-port "$((${PORT_FROM} + (${SUM}) % ${PORTS}))" "$@"
`.trim();

export const TORCHRUN: readonly string[] = ['/bin/sh', '-c', LINE, 'torchrun'];
/** Releases have another sum each. */
const BEGINNING = LINE.slice(0, LINE.indexOf('--master-port'));

/** Also one that another release has submitted. */
export function isTorchrun(argv: readonly string[]): boolean {
  return TORCHRUN.every((word, at) => {
    return word === LINE ? argv[at]?.startsWith(BEGINNING) === true : argv[at] === word;
  });
}
