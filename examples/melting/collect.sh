#!/bin/sh
# Prints `temperature energy` of every task of the job, in order of the array.
# Usage: collect.sh JOB
set -eu
index=0
while [ "$index" -le 9 ]; do
  weft logs "$1[$index]" | sed -n 's/^ENERGY //p'
  index=$((index + 1))
done
