#!/bin/sh
#WEFT --name train
#WEFT --nodes 2
#WEFT --gpus 2
#WEFT --cpus 2
#WEFT --memory 512M
# One process for each gpu of each node, which together fit one model. Where torchrun is installed it
# starts them, else this script does, with the same variables.
# Usage: weft submit job.sh [STEPS]
set -eu
here=${WEFT_GPUS:-}
per_node=$(printf '%s' "$here" | tr ',' '\n' | grep -c . || true)
[ "$per_node" -gt 0 ] || per_node=$WEFT_PROCS_PER_NODE
# All nodes find the first one; nodes of `weft up` are all on this machine.
master=$(head -n 1 "$WEFT_HOSTFILE")
getent hosts "$master" > /dev/null 2>&1 || master=127.0.0.1
# The same port on all nodes, another one for each start.
port=$((20000 + (WEFT_JOB_ID * 97 + WEFT_EPOCH) % 20000))

if command -v torchrun > /dev/null 2>&1; then
  exec torchrun --nnodes "$WEFT_NODE_COUNT" --node-rank "$WEFT_NODE_RANK" --nproc-per-node "$per_node" \
    --master-addr "$master" --master-port "$port" train.py "$@"
fi
export MASTER_ADDR="$master" MASTER_PORT="$port" WORLD_SIZE=$((per_node * WEFT_NODE_COUNT))
pids=
local_rank=0
while [ "$local_rank" -lt "$per_node" ]; do
  RANK=$((WEFT_NODE_RANK * per_node + local_rank)) LOCAL_RANK=$local_rank LOCAL_WORLD_SIZE=$per_node \
    python3 train.py "$@" &
  pids="$pids $!"
  local_rank=$((local_rank + 1))
done
code=0
for pid in $pids; do wait "$pid" || code=$?; done
exit "$code"
