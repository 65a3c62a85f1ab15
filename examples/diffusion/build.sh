#!/bin/sh
# Runs once per node: compiles what looks at the trajectories, and sees that LAMMPS is there.
set -eu
lmp -help | sed -n '/^Large-scale/p'
cc -O2 -o wander input/wander.c
