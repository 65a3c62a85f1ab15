#!/bin/sh
# One temperature and density: job.sh T RHO. Reads input/, leaves its results in distribute_save/.
set -eu
export OMP_NUM_THREADS=1
lmp -in input/in.liquid -log none -var T "$1" -var rho "$2" \
  -var settle "${SETTLE:-500}" -var steps "${STEPS:-2000}" -var save distribute_save
./wander distribute_save/positions.dump 0.005 > distribute_save/msd.csv
tail -n 1 distribute_save/msd.csv
