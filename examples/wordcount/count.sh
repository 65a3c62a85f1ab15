#!/bin/sh
#WEFT --name wordcount
#WEFT --nodes 2
#WEFT --procs 2
#WEFT --memory 100M
# Each of the 2 × 2 processes counts the words of its share of the lines: every fourth line, from
# its own rank on. The counts go to `counts/RANK` in the directory of submission.
# Usage: weft submit count.sh TEXT
set -eu
rank=$((WEFT_NODE_RANK * WEFT_PROCS_PER_NODE + WEFT_PROC_RANK))
all=$((WEFT_NODE_COUNT * WEFT_PROCS_PER_NODE))
mkdir -p counts
awk -v rank="$rank" -v all="$all" 'NR % all == rank' "$1" |
  tr -cs '[:alpha:]' '\n' | tr '[:upper:]' '[:lower:]' | sed '/^$/d' |
  sort | uniq -c > "counts/$rank.part"
mv "counts/$rank.part" "counts/$rank"
