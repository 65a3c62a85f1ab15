// How OAR is steered: its queues are off, so that jobs are taken and wait. A start is what its own
// scheduler does after a decision: cores are assigned in the database, and the server is told to launch.

import { ok, type Result } from '../../core/base/result.ts';
import type { SiteCommand, SiteOutput, SiteProblem, Steering } from '../adaptor.ts';
import { siteProblem, unreadable } from '../read.ts';
import { failure } from './failure.ts';
import { QUEUES_COMMAND, readQueues } from './nodes.ts';

/** Only root and the user `oar` may read the account of the database there. */
const DATABASE_SHELL =
  '. /etc/oar/oar.conf && PGPASSWORD="$DB_BASE_PASSWD" exec psql -XqAt -v ON_ERROR_STOP=1 -v VERBOSITY=terse' +
  ' -h "$DB_HOSTNAME" -p "$DB_PORT" -U "$DB_BASE_LOGIN" "$DB_BASE_NAME"';

export function queuesOff(): Steering {
  return {
    ...{ takeover: 'disabled_scheduler', needsHandle: false },
    requirements: [
      {
        what: 'all queues are off',
        query: { command: QUEUES_COMMAND, read: areOff },
        remedy: 'oarnotify -D',
      },
      {
        what: "the gateway may write to OAR's database with the account in /etc/oar/oar.conf",
        query: { command: sql(MAY_WRITE), read: readMayWrite },
        remedy: "run it as root on OAR's server, with psql, or let site.before lead there as root",
      },
    ],
    start: ({ id }, nodes) => [
      sql(launch(id, nodes)),
      // Should it get lost, the server finds the job itself, within minutes.
      { argv: ['oarnotify', `OARRUNJOB_${numberOf(id)}`] },
    ],
    read: readStart,
    // A start either has all it asks for or changes nothing.
    takeBack: () => [],
  };
}

function sql(text: string): SiteCommand {
  return { argv: ['sh', '-c', DATABASE_SHELL], input: text };
}

function areOff(output: SiteOutput): Result<boolean, SiteProblem> {
  const queues = readQueues(output);
  return queues.ok ? ok(queues.value.every(({ isStarted }) => !isStarted)) : queues;
}

const MAY_WRITE = `SELECT has_table_privilege('jobs', 'UPDATE')
  AND has_table_privilege('assigned_resources', 'INSERT');
`;

function readMayWrite(output: SiteOutput): Result<boolean, SiteProblem> {
  if (output.code !== 0) return failure('psql', output);
  const answer = output.stdout.trim();
  if (answer === 't' || answer === 'f') return ok(answer === 't');
  return unreadable('psql', 'neither t nor f');
}

/** Nothing but digits goes into a statement. */
function numberOf(job: string): string {
  return /^\d{1,15}$/.test(job) ? job : '0';
}

const NODE_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]*$/;

/**
 * All or nothing, and one start at a time. Told again to start what is to be launched, it changes nothing. A
 * job's own conditions choose its cores, as OAR itself has them do.
 */
function launch(job: string, nodes: readonly string[]): string {
  const names = nodes.filter((name) => NODE_NAME.test(name)).map((name) => `'${name}'`);
  return `DO $weft$
DECLARE
  wanted bigint := ${numberOf(job)};
  job jobs;
  option record;
  node text;
  each int;
  free bigint[];
  chosen bigint[] := '{}';
  at int := extract(epoch from now());
BEGIN
  LOCK TABLE assigned_resources IN SHARE ROW EXCLUSIVE MODE;
  SELECT * INTO job FROM jobs WHERE job_id = wanted FOR UPDATE;
  IF NOT FOUND THEN RAISE 'there is no job %', wanted; END IF;
  IF job.state = 'toLaunch' THEN RETURN; END IF;
  IF job.state <> 'Waiting' OR job.reservation <> 'None' THEN
    RAISE 'job % is %, with reservation %', wanted, job.state, job.reservation;
  END IF;
  SELECT moldable_id, res_group_property AS condition INTO STRICT option
    FROM moldable_job_descriptions JOIN job_resource_groups ON res_group_moldable_id = moldable_id
    WHERE moldable_job_id = wanted ORDER BY moldable_id, res_group_id LIMIT 1;
  each := ceil(coalesce(substring(job.message from '^R=([0-9]+)')::numeric, 1) / ${names.length});
  FOREACH node IN ARRAY ARRAY[${names.join(', ')}]::text[] LOOP
    EXECUTE format('SELECT array_agg(resource_id) FROM (SELECT resource_id FROM resources
      WHERE network_address = %L AND state = ''Alive'' AND next_state = ''UnChanged'' AND (%s) AND (%s)
      AND resource_id NOT IN
        (SELECT resource_id FROM assigned_resources WHERE assigned_resource_index = ''CURRENT'')
      ORDER BY resource_id LIMIT %s) AS cores', node, coalesce(nullif(job.properties, ''), 'true'),
      coalesce(nullif(option.condition, ''), 'true'), each) INTO free;
    IF coalesce(cardinality(free), 0) < each THEN
      RAISE '% has % free cores for job %, which needs %', node, coalesce(cardinality(free), 0), wanted, each;
    END IF;
    chosen := chosen || free;
  END LOOP;
  INSERT INTO assigned_resources (moldable_job_id, resource_id, assigned_resource_index)
    SELECT option.moldable_id, unnest(chosen), 'CURRENT';
  UPDATE job_state_logs SET date_stop = at WHERE job_id = wanted AND date_stop = 0;
  INSERT INTO job_state_logs (job_id, job_state, date_start) VALUES (wanted, 'toLaunch', at);
  UPDATE jobs SET state = 'toLaunch', start_time = at, assigned_moldable_job = option.moldable_id
    WHERE job_id = wanted;
END $weft$;
`;
}

function readStart(output: SiteOutput, program: string): Result<null, SiteProblem> {
  if (output.code === 0) return ok(null);
  // Statements go to the database by a line of the shell.
  const name = program === 'sh' ? 'psql' : program;
  const [, words] = /ERROR: +(.*)/.exec(output.stderr) ?? [];
  if (words === undefined) return failure(name, output);
  const kind = /^there is no job /.test(words) ? 'no_such_job' : 'refused';
  return siteProblem(kind, `${name}: ${words}`);
}
