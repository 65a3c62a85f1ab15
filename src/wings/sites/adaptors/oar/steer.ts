// How OAR is steered: its queues are off, so that jobs are taken and wait. A start is what its own
// scheduler does after a decision: cores are assigned in the database, and the server is told to
// launch.

import { ok, type Result } from '../../../../kernel/base/result.ts';
import type { SiteCommand, SiteOutput, SiteProblem, Steering } from '../adaptor.ts';
import { siteProblem, unreadable } from '../read.ts';
import { failure } from './failure.ts';
import { QUEUES_COMMAND, readQueues } from './nodes.ts';

/**
 * Only root and the user `oar` may read the accounts of the database there. OAR itself evaluates
 * what users type only with the one that may not write.
 */
const DATABASE_SHELL =
  '. /etc/oar/oar.conf && ask() { PGCONNECT_TIMEOUT="$wait" PGPASSWORD="$2" psql -XqAt -v ON_ERROR_STOP=1 -v VERBOSITY=terse' +
  ' -h "$DB_HOSTNAME" -p "$DB_PORT" -U "$1" "$DB_BASE_NAME"; } && ';
const READ = 'ask "$DB_BASE_LOGIN_RO" "$DB_BASE_PASSWD_RO"';
const WRITE = 'ask "$DB_BASE_LOGIN" "$DB_BASE_PASSWD"';
/** The first line is asked by one account; only its numbers come to the rest, by the other. */
const READ_THEN_WRITE =
  `IFS= read -r look && found=$(printf '%s\\n' "$look" | ${READ}) || exit; case $found in *[!0-9,]*)` +
  ` echo 'what was found is no list of numbers' >&2; exit 1;; esac;` +
  ` { printf "SET weft.eligible = '{%s}';\\n" "$found"; cat; } | ${WRITE}`;

/**
 * A database that hangs gives up before the gateway ends the command (`site.timeout`): else it
 * might do later what was given up here. A start asks twice.
 */
const ASKED = 2;
const PSQL_WAIT_MIN_S = 2;

interface Bounds {
  /** For a connection; `psql` takes 1 for 2. */
  readonly waitS: number;
  /** For one statement, with what it waits for. */
  readonly statementMs: number;
}

function boundsOf(timeoutMs: number): Bounds {
  const eachMs = timeoutMs / (2 * ASKED);
  const waitS = Math.max(PSQL_WAIT_MIN_S, Math.floor(eachMs / 2 / 1000));
  return { waitS, statementMs: Math.floor(eachMs) };
}

/** @param timeoutMs after which the gateway ends a command */
export function queuesOff(timeoutMs: number): Steering {
  const bounds = boundsOf(timeoutMs);
  const sql = (shell: string, ...texts: readonly string[]) => sqlCommand(shell, texts, bounds);
  return {
    takeover: 'disabled_scheduler',
    needsHandle: false,
    requirements: [
      {
        what: 'all queues are off',
        query: { command: QUEUES_COMMAND, read: areOff },
        remedy: 'oarnotify -D',
      },
      {
        what: "the gateway may write to OAR's database with the account in /etc/oar/oar.conf",
        query: { command: sql(WRITE, MAY_WRITE), read: readTruth },
        remedy: "run it as root on OAR's server, with psql, or let site.before lead there as root",
      },
      {
        what: "the account DB_BASE_LOGIN_RO may read OAR's database, and not write to it",
        query: { command: sql(READ, MAY_ONLY_READ), read: readTruth },
        remedy:
          'set DB_BASE_LOGIN_RO and DB_BASE_PASSWD_RO in /etc/oar/oar.conf to such an account',
      },
    ],
    start: ({ id }, nodes) => [
      sql(READ_THEN_WRITE, eligible(id, nodes), launch(id, nodes)),
      // Should it get lost, the server finds the job itself, within minutes.
      { argv: ['oarnotify', `OARRUNJOB_${numberOf(id)}`] },
    ],
    read: readStart,
    // A start either has all it asks for or changes nothing.
    takeBack: () => [],
  };
}

/** Each text on lines of its own, under the bounds. */
function sqlCommand(
  shell: string,
  texts: readonly string[],
  { waitS, statementMs }: Bounds,
): SiteCommand {
  const bound = `SET statement_timeout = ${statementMs};`;
  return {
    argv: ['sh', '-c', `wait=${waitS}; ${DATABASE_SHELL}${shell}`],
    input: texts.map((text) => `${bound} ${text}`).join('\n'),
  };
}

function areOff(output: SiteOutput): Result<boolean, SiteProblem> {
  const queues = readQueues(output);
  return queues.ok ? ok(queues.value.every(({ isStarted }) => !isStarted)) : queues;
}

const MAY_WRITE = `SELECT has_table_privilege('jobs', 'UPDATE')
  AND has_table_privilege('assigned_resources', 'INSERT');
`;

const MAY_ONLY_READ = `SELECT has_table_privilege('jobs', 'SELECT') AND has_table_privilege('resources', 'SELECT')
  AND has_table_privilege('moldable_job_descriptions', 'SELECT')
  AND has_table_privilege('job_resource_groups', 'SELECT')
  AND NOT has_table_privilege('jobs', 'INSERT, UPDATE, DELETE')
  AND NOT has_table_privilege('assigned_resources', 'INSERT, UPDATE, DELETE');
`;

function readTruth(output: SiteOutput): Result<boolean, SiteProblem> {
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

function namesIn(nodes: readonly string[]): string[] {
  return nodes.filter((name) => NODE_NAME.test(name)).map((name) => `'${name}'`);
}

/** Where its options and their conditions are. */
const OPTIONS =
  'moldable_job_descriptions JOIN job_resource_groups ON res_group_moldable_id = moldable_id';

/**
 * One line that finds the cores of these nodes that are as the job's own conditions want them.
 * Conditions are text of users, who may make more of it than a condition: what it finds is looked
 * at again before it is used.
 */
function eligible(job: string, nodes: readonly string[]): string {
  return `DO $weft$
DECLARE
  wanted bigint := ${numberOf(job)};
  own text;
  condition text;
  one bigint;
  cores bigint[] := '{}';
BEGIN
  SELECT properties INTO own FROM jobs WHERE job_id = wanted;
  SELECT res_group_property INTO condition FROM ${OPTIONS}
    WHERE moldable_job_id = wanted ORDER BY moldable_id, res_group_id LIMIT 1;
  FOR one IN EXECUTE format('SELECT resource_id FROM resources
    WHERE network_address = ANY (%L::text[]) AND (%s) AND (%s)', ARRAY[${namesIn(nodes).join(', ')}]::text[],
    coalesce(nullif(own, ''), 'true'), coalesce(nullif(condition, ''), 'true'))
  LOOP cores := cores || one; END LOOP;
  PERFORM set_config('weft.eligible', array_to_string(cores, ','), false);
END $weft$; SELECT current_setting('weft.eligible');`.replaceAll(/\n */g, ' ');
}

/**
 * All or nothing, and one start at a time. Told again to start what is to be launched, it changes
 * nothing. No text of users is in it, and none is run by it.
 */
function launch(job: string, nodes: readonly string[]): string {
  const names = namesIn(nodes);
  // Sites give the table of resources columns of their own, also of these names.
  return `DO $weft$
#variable_conflict use_variable
DECLARE
  wanted bigint := ${numberOf(job)};
  job jobs;
  option bigint;
  eligible bigint[] := current_setting('weft.eligible');
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
  SELECT moldable_id INTO STRICT option FROM ${OPTIONS}
    WHERE moldable_job_id = wanted ORDER BY moldable_id, res_group_id LIMIT 1;
  each := ceil(coalesce(substring(job.message from '^R=([0-9]+)')::numeric, 1) / ${names.length});
  FOREACH node IN ARRAY ARRAY[${names.join(', ')}]::text[] LOOP
    SELECT array_agg(resource_id) INTO free FROM (SELECT resource_id FROM resources
      WHERE network_address = node AND state = 'Alive' AND next_state = 'UnChanged' AND drain = 'NO'
      AND resource_id = ANY (eligible) AND resource_id NOT IN
        (SELECT resource_id FROM assigned_resources WHERE assigned_resource_index = 'CURRENT')
      ORDER BY resource_id LIMIT each) AS cores;
    IF coalesce(cardinality(free), 0) < each THEN
      RAISE '% has % free cores for job %, which needs %', node, coalesce(cardinality(free), 0), wanted, each;
    END IF;
    chosen := chosen || free;
  END LOOP;
  INSERT INTO assigned_resources (moldable_job_id, resource_id, assigned_resource_index)
    SELECT option, unnest(chosen), 'CURRENT';
  UPDATE job_state_logs SET date_stop = at WHERE job_id = wanted AND date_stop = 0;
  INSERT INTO job_state_logs (job_id, job_state, date_start) VALUES (wanted, 'toLaunch', at);
  UPDATE jobs SET state = 'toLaunch', start_time = at, assigned_moldable_job = option
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
  if (/^canceling statement/.test(words)) return siteProblem('away', `${name}: ${words}`);
  const kind = /^there is no job /.test(words) ? 'no_such_job' : 'refused';
  return siteProblem(kind, `${name}: ${words}`);
}
