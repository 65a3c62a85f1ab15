// The configurations that `weft init --template` knows, by what kind of cluster they are for.

import type { Template } from '../../../../kernel/cli/template.ts';

/** Many users who do the same at the same time, and must all get their turn. */
const classroom: Template = {
  name: 'classroom',
  summary: 'many users at once, small and short jobs',
  listen: '0.0.0.0:5001',
  text: ({
    name,
    listen,
    names,
  }) => `# A class: many users at once, small and short jobs, and each gets a turn.
# docs/config.md has all keys; \`weft config check\` reads this file before the head does.

cluster:
  name: ${name}

head:
  listen: ${listen}
  names: [${names}]
  # Files and output of one user that the head keeps; what is oldest goes first.
  user_files: 2G
  archive_age: 7d
  log_limit: 8M

# What a job gets that does not say.
defaults:
  cpus: 1
  memory: 1G
  time: 30m

# What one student may hold at once. For a teacher: weft user set kim --cpus none --running none
caps:
  cpus: 4
  gpus: 1
  running: 4

# Who has used least today goes first; what was used yesterday hardly counts.
priority:
  fair_share: 10000
  age: 1
fair_share:
  half_life: 2h
  gpu_weight: 8

qos:
  # Of everybody who names none. An array is one job, whatever it has.
  normal: {waiting_jobs: 20}
  # Teachers, whose demonstration does not wait: weft user create kim --groups teachers
  teaching: {priority: 1, tier: 1, groups: [teachers]}

partitions:
  default: {policy: easy, limits: {time: 2h, default_time: 30m, nodes: 1}}

# A message that all see: weft notice set 'The exercise ends at 16:00'
`,
};

/** Several machines of one group, with a head that stays on. */
const forLab: Template = {
  name: 'lab',
  summary: 'several workstations, some twenty users',
  listen: '0.0.0.0:5001',
  text: ({
    name,
    listen,
    names,
  }) => `# Several workstations of one group, some twenty users, one head that stays on.
# docs/config.md has all keys; \`weft config check\` reads this file before the head does.

cluster:
  name: ${name}

head:
  # Nodes dial this port; nothing has to be open on them.
  listen: ${listen}
  # Under which name or address nodes reach this machine; it stands in the certificate.
  names: [${names}]
  # A cable that is pulled for a moment is no lost node.
  node_timeout: 30s

# What a job gets that does not say. With a time limit on every job, \`weft why\` can say when each starts.
defaults:
  cpus: 1
  time: 12h
  # A machine that is switched off: after so long its tasks start elsewhere. They are ended there by
  # then, if only the network was gone. A job says otherwise by --on-node-loss.
  on_node_loss: lease=15m

# What one user may hold at once, in the whole cluster. For one of them another:
# weft user set ann --cpus 64 --gpus 2 --running 500
caps:
  # cpus: 32
  # gpus: 2
  running: 200

# Who has used little in the last days goes first. A gpu counts as much as 8 cpus, 4 GiB as one.
priority:
  fair_share: 1000
  age: 10
fair_share:
  half_life: 7d
  gpu_weight: 8
  memory_weight: 0.25

partitions:
  # All machines. The first that waits has its start, what is short fills the gaps.
  default: {policy: easy, limits: {time: 7d}}
  # Tries: they go first, and never for long.
  quick: {tier: 1, limits: {time: 15m, default_time: 15m, tasks_per_user: 4}}
  # Whatever is left over, for as long as nobody else wants it: what runs here is requeued for others.
  spare: {tier: -1, preempt: requeue}

# Users may set machines aside for a talk or a deadline: weft reserve
reservations:
  users: false

# On another disk than the head's; the head must be able to write there (docs/backup.md).
# backup: {to: /mnt/other-disk/weft, every: 1h, keep: 24}

# Mail when a job has ended, to addresses of the lab only: weft run --notify mail:ann@example.org
# notify: {mail_program: /usr/sbin/sendmail, mail_from: weft@example.org, mail_to: ["*@example.org"]}

# Each node has a file of its own (/etc/weft/weft.yaml there): what is the same folder everywhere, and
# when the machine is its owner's.
# node:
#   shared: [/home]
#   yield: {hours: "Mon-Fri 08:00-18:00", idle_below: 10m}
`,
};

/** Own machines, and a Slurm behind a gateway. */
const slurmFront: Template = {
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

/** One machine with a few users: head and node are the same. */
const workstation: Template = {
  name: 'workstation',
  summary: 'one machine that a few people share',
  listen: '127.0.0.1:5001',
  text: ({
    name,
    listen,
    names,
  }) => `# One machine that a few people share: it is head and node at once.
# docs/config.md has all keys; \`weft config check\` reads this file before the head does.

cluster:
  name: ${name}

head:
  # Nobody comes in from other machines. For a second machine: 0.0.0.0:5001, and \`weft node add\`.
  listen: ${listen}
  names: [${names}]

# What a job gets that does not say. Without a time limit nobody can be told when theirs starts.
defaults:
  cpus: 1
  time: 4h

# What one user may hold at once. For one of them another: weft user set ann --cpus 16 --gpus 1
caps:
  # cpus: 8
  running: 100

# Who has used little lately goes first; after a day half of it is forgotten.
priority:
  fair_share: 1000
fair_share:
  half_life: 1d

partitions:
  default: {policy: easy, limits: {time: 7d}}
  # Short tries go first, and never for long: weft run --partition quick
  quick: {tier: 1, limits: {time: 10m, default_time: 10m, tasks_per_user: 2}}

# Whoever sits at the machine comes first: its jobs stand aside while somebody types, and go on
# 5 minutes later. Of the node, which reads this file if it is in /etc/weft or in its own folder.
node:
  yield:
    # idle_below: 10m
    resume_after: 5m

# On another disk than the head's; the head must be able to write there.
# backup: {to: /mnt/other-disk/weft, every: 1h, keep: 24}
`,
};

export const TEMPLATES: readonly Template[] = [workstation, forLab, classroom, slurmFront];
