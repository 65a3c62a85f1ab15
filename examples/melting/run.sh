#!/bin/sh
#WEFT --name melt
#WEFT --array 0-9
#WEFT --memory 200M
#WEFT --time 5m
# One temperature per array task: 0.5, 0.7, … 2.3. LAMMPS writes its log to standard output.
set -eu
tenths=$((5 + 2 * WEFT_ARRAY_INDEX))
temperature="$((tenths / 10)).$((tenths % 10))"
exec lmp -in "${1:-in.melt}" -var T "$temperature" -log none
