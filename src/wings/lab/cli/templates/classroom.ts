// Many users who do the same at the same time, and must all get their turn.

import type { Template } from '../../../../kernel/cli/template.ts';

export const classroom: Template = {
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

# A message that all see: weft notice add 'The exercise ends at 16:00'
`,
};
