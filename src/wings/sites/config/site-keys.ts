// Keys that make an agent the gateway of a site: another cluster, whose own system runs the tasks.

import { key } from '../../../kernel/config/key.ts';
import type { KeysPart } from '../../../kernel/config/schema.ts';
import { SITE_SYSTEMS } from '../../../kernel/model/site.ts';

/** What the wing adds to the configuration. */
export const keys: KeysPart = {
  place: { after: 'node.switch_user' },
  keys: [
    key(
      'site.system',
      'choice',
      null,
      "Tasks of this node are given to this batch system, as the user's jobs there. See sites.md.",
      { choices: SITE_SYSTEMS },
    ),
    key('site.queue', 'text', null, 'Its queue or partition for them; default: its own default.'),
    key(
      'site.mode',
      'choice',
      'submit',
      "Who decides: the site's own scheduler (submit), or that of the head (steer). See sites.md.",
      { choices: ['submit', 'steer'] },
    ),
    key(
      'site.takeover',
      'choice',
      'execution_queue',
      "How Slurm's own scheduler is kept from starting jobs. Grid Engine and OAR have one way each.",
      { choices: ['execution_queue', 'disabled_scheduler'] },
    ),
    key('site.main', 'text', 'main', 'Where its users submit to: a partition or a queue.'),
    key(
      'site.execution',
      'text',
      'steer',
      'Partition of Slurm that jobs are moved to for a start.',
    ),
    key('site.ticket', 'text', 'ticket', 'Complex of Grid Engine that keeps jobs from starting.'),
    key(
      'site.environment',
      'text',
      null,
      'Parallel environment of Grid Engine: slots on one host.',
    ),
    key('site.spread', 'texts', '', 'Its parallel environments that give one slot on each host.'),
    key(
      'site.program',
      'texts',
      '',
      'Words that start what drives the site: your program for `script`, weft, or curl for slurmrestd.',
    ),
    key(
      'site.url',
      'text',
      null,
      'Where slurmrestd is, with its version: `http://head:6820/slurm/v0.0.38`.',
    ),
    key('site.account', 'text', null, 'The account that they are charged to there.'),
    key('site.options', 'texts', '', 'More words for each submission, like `--qos=low`.'),
    key('site.before', 'texts', '', 'Words before each of its commands, like `ssh, login1`.'),
    key(
      'site.filters',
      'text',
      null,
      'File of rules over its nodes, jobs and queues, beside weft.yaml. See sites.md.',
    ),
    key('site.poll', 'duration', '5s', 'Between two listings of its jobs.', { min: 500 }),
    key('site.timeout', 'duration', '30s', 'A command that takes longer is ended.', { min: 1000 }),
    key('site.commands', 'count', '4', 'Commands that run there at once.', { min: 1, max: 64 }),
  ],
};
