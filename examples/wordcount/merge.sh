#!/bin/sh
# Adds up what the processes counted and prints the most frequent words. Usage: merge.sh [HOW-MANY]
set -eu
cat counts/[0-9]* | awk '{ sum[$2] += $1 } END { for (word in sum) print sum[word], word }' |
  sort -k1,1nr -k2,2 | head -n "${1:-10}"
