// Own machines, and a Slurm behind a gateway.

import type { Template } from '../../../../kernel/cli/template.ts';

export const slurmFront: Template = {
  name: 'slurm-front',
  summary: 'own machines, and a Slurm cluster behind them',
  listen: '0.0.0.0:5001',
  text: ({
    name,
    listen,
    names,
  }) => `# Own machines, and a Slurm cluster behind them: jobs go where they start first.
# The gateway is a node of its own, with its own file (docs/sites.md): on a machine with Slurm's commands,
#   weft join --name hpc --dir /shared/weft     with   site: {system: slurm, queue: batch}
#   weft gateway --dir /shared/weft
# For who types sbatch and squeue: weft front slurm DIR (docs/migration/slurm.md).

cluster:
  name: ${name}

head:
  listen: ${listen}
  names: [${names}]
  node_timeout: 30s

# Slurm plans by time limits, and so does this: a job without one waits longest everywhere.
defaults:
  cpus: 1
  time: 1h

caps:
  running: 1000

priority:
  fair_share: 1000

partitions:
  # Named none: own machines first.
  default: {labels: "!system=slurm", policy: easy, limits: {time: 7d}}
  # The Slurm cluster alone: weft run --partition slurm
  slurm: {labels: "system=slurm", limits: {time: 7d}}
  # Whichever of all starts it first, by the queues.
  anywhere: {placement: least_wait, limits: {time: 7d}}
  # For \`weft run --partition cheap\`, and prices below: own machines cost nothing.
  cheap: {placement: cheapest, limits: {time: 7d}}

sites:
  hpc: {price: 1}

# backup: {to: /mnt/other-disk/weft, every: 1h, keep: 24}
`,
};
