// How PBS is steered: its schedulers are off, and an operator's `qrun -H` starts a job on the nodes
// that we name.

import { ok, type Result } from '../../../../kernel/base/result.ts';
import type { SiteOutput, SiteProblem, Steering } from '../adaptor.ts';
import { saidBy, siteProblem, unreadable } from '../read.ts';
import { failure, NO_SUCH_JOB } from './failure.ts';
import { isTrue } from './nodes.ts';
import { jobComment } from './note.ts';
import { recordsIn } from './values.ts';

export function schedulingOff(): Steering {
  return {
    takeover: 'disabled_scheduler',
    needsHandle: false,
    requirements: [
      {
        what: 'the scheduling of the server is off',
        query: { command: { argv: ['qstat', '-B', '-f', '-F', 'json'] }, read: isOff },
        remedy: "qmgr -c 'set server scheduling = False'",
      },
    ],
    start: ({ id }, nodes) => [
      // Parts of the job's own request go to the nodes in turn.
      { argv: ['qrun', '-H', nodes.map((node) => `(${node})`).join('+'), id] },
    ],
    read: readStart,
    // It either runs or stays as it was.
    takeBack: () => [],
    notes: jobComment,
  };
}

function isOff(output: SiteOutput): Result<boolean, SiteProblem> {
  const servers = recordsIn('qstat', 'Server', output);
  if (!servers.ok) return servers;
  if (servers.value.length === 0) return unreadable('qstat', 'it lists no server');
  return ok(servers.value.every(([, server]) => !isTrue(server.scheduling)));
}

function readStart(output: SiteOutput, program: string): Result<null, SiteProblem> {
  if (output.code === 0) return ok(null);
  const words = saidBy(output);
  if (NO_SUCH_JOB.test(words)) return siteProblem('no_such_job', `${program}: ${words}`);
  return failure(program, output);
}
