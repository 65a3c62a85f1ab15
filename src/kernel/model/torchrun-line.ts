// What runs on each node of a job that was submitted with `--torchrun`, before its own words.

const [PORT_FROM, PORTS, JOB_STEP] = [20_000, 12_000, 97];

/** Where processes of this start find each other: another port for each start, as a rule. */
export function meetingPort(jobId: number, epoch: number): number {
  return PORT_FROM + ((jobId * JOB_STEP + epoch) % PORTS);
}

/**
 * Nodes of `weft up` have names that nobody else knows, and are on one machine. The port is the
 * same on all nodes, and another one for each start.
 */
const LINE = `
gpus=$(printf %s "\${WEFT_GPUS:-}" | tr ',' '\\n' | grep -c .)
first=$(head -n 1 "$WEFT_HOSTFILE")
getent hosts "$first" > /dev/null 2>&1 || first=127.0.0.1
exec torchrun --nnodes "$WEFT_NODE_COUNT" --node-rank "$WEFT_NODE_RANK" \\
  --nproc-per-node "$((gpus > 0 ? gpus : 1))" --master-addr "$first" \\
  --master-port "$((${PORT_FROM} + (WEFT_JOB_ID * ${JOB_STEP} + WEFT_EPOCH) % ${PORTS}))" "$@"
`.trim();

export const TORCHRUN: readonly string[] = ['/bin/sh', '-c', LINE, 'torchrun'];
