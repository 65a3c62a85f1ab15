// Several machines of one group, with a head that stays on.

import type { Template } from '../../../../kernel/cli/template.ts';

export const forLab: Template = {
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

# Mail when a job has ended, to addresses of the lab only: weft run --notify mailto:ann@example.org
# notify: {mail_program: /usr/sbin/sendmail, mail_from: weft@example.org, mail_to: ["*@example.org"]}

# Each node has a file of its own (/etc/weft/weft.yaml there): what is the same folder everywhere, and
# when the machine is its owner's.
# node:
#   shared: [/home]
#   yield: {hours: "Mon-Fri 08:00-18:00", idle_below: 10m}
`,
};
