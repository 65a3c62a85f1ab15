// What runs on each node of a job that was submitted with `--torchrun`, before its own words.

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
  --master-port "$((20000 + (WEFT_JOB_ID * 97 + WEFT_EPOCH) % 12000))" "$@"
`.trim();

export const TORCHRUN: readonly string[] = ['/bin/sh', '-c', LINE, 'torchrun'];
