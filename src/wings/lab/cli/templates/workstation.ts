// One machine with a few users: head and node are the same.

import type { Template } from '../../../../kernel/cli/template.ts';

export const workstation: Template = {
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
