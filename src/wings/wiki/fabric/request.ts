// What a scheduler asks for: one command and its arguments.

import { err, ok, type Result } from '../../../kernel/base/result.ts';
import { parseNodeNames } from '../../../kernel/model/node-names.ts';
import { type WikiProblem, wikiProblem } from './codes.ts';

/** Which records: those changed since a time, and all or those named. */
export interface WikiSelection {
  /** Seconds since 1970; 0: whenever they changed. */
  readonly sinceS: number;
  /** Null: all. */
  readonly ids: readonly string[] | null;
}

export type WikiRequest =
  | { readonly kind: 'get_nodes' | 'get_jobs'; readonly select: WikiSelection }
  /** A node stands once for each task that it gets. */
  | { readonly kind: 'start_job'; readonly job: string; readonly tasks: readonly string[] }
  | { readonly kind: 'cancel_job'; readonly job: string; readonly because: 'admin' | 'walltime' }
  | { readonly kind: 'suspend_job' | 'resume_job' | 'requeue_job'; readonly job: string }
  | {
      readonly kind: 'modify_job';
      readonly job: string;
      /** Name in capitals to value, as given. */
      readonly changes: Readonly<Record<string, string>>;
    }
  /** Name without `SIG`, or number. */
  | { readonly kind: 'signal_job'; readonly job: string; readonly signal: string }
  | { readonly kind: 'notify_job'; readonly job: string; readonly message: string };

/** Nodes times tasks of a start: as many as a packet holds, in short names. */
const TASKS_MAX = 100_000;

type Reader = (given: Arguments) => Result<WikiRequest, WikiProblem>;

/** Values by name, without `ARG`, which stands apart. */
interface Arguments {
  readonly command: string;
  readonly argument: string;
  readonly named: ReadonlyMap<string, string>;
}

const READERS: Readonly<Record<string, Reader>> = {
  GETNODES: (given) => selection('get_nodes', given),
  GETJOBS: (given) => selection('get_jobs', given),
  STARTJOB: readStart,
  CANCELJOB: readCancel,
  SUSPENDJOB: (given) => ofJob(given, (job) => ok({ kind: 'suspend_job', job })),
  RESUMEJOB: (given) => ofJob(given, (job) => ok({ kind: 'resume_job', job })),
  REQUEUEJOB: (given) => ofJob(given, (job) => ok({ kind: 'requeue_job', job })),
  MODIFYJOB: readModify,
  SIGNALJOB: readSignal,
  NOTIFYJOB: (given) =>
    ofJob(given, (job) => ok({ kind: 'notify_job', job, message: given.named.get('MSG') ?? '' })),
};

/** @param data `CMD=NAME [ARG=…] [NAME=VALUE]…` */
export function parseWikiRequest(data: string): Result<WikiRequest, WikiProblem> {
  const [, command = '', rest = ''] = /^CMD=(\S+)\s*(.*)$/s.exec(data) ?? [];
  const reader = READERS[command.toUpperCase()];
  if (reader === undefined) {
    const known = Object.keys(READERS).join(', ');
    const words = `the command '${command.slice(0, 40)}' is not supported; known are ${known}`;
    return err(wikiProblem('unsupported', words));
  }
  const named = namedIn(rest);
  return reader({ command: command.toUpperCase(), argument: named.get('ARG') ?? '', named });
}

/** A value goes on until the next `NAME=`; that of a message, to the end. */
function namedIn(text: string): Map<string, string> {
  const named = new Map<string, string>();
  let left = text;
  while (left !== '') {
    const found = /^([A-Za-z_]+)=(.*)$/s.exec(left);
    if (found === null) break;
    const [, name = '', behind = ''] = found;
    const next = name === 'MSG' ? -1 : behind.search(/\s+[A-Za-z_]+=/);
    const value = next < 0 ? behind : behind.slice(0, next);
    named.set(name.toUpperCase(), value.trim());
    left = next < 0 ? '' : behind.slice(next).trimStart();
  }
  return named;
}

function selection(
  kind: 'get_nodes' | 'get_jobs',
  { command, argument }: Arguments,
): Result<WikiRequest, WikiProblem> {
  const [time = '', ...ids] = splitColons(argument);
  if (!/^\d{1,15}$/.test(time) || ids.length === 0) {
    return err(
      wikiProblem('malformed', `${command} needs ARG=<time>:ALL or ARG=<time>:<id>[:<id>]…`),
    );
  }
  const all = ids.length === 1 && ids[0]?.toUpperCase() === 'ALL';
  return ok({ kind, select: { sinceS: Number(time), ids: all ? null : ids } });
}

/** Colons separate, but for those behind a backslash. */
function splitColons(text: string): string[] {
  if (text === '') return [];
  return text.split(/(?<!\\):/).map((word) => word.replace(/\\(.)/gs, '$1'));
}

function ofJob(
  { command, argument }: Arguments,
  then: (job: string) => Result<WikiRequest, WikiProblem>,
): Result<WikiRequest, WikiProblem> {
  const job = splitColons(argument);
  if (job.length === 1 && job[0] !== undefined && /^\S+$/.test(job[0])) return then(job[0]);
  return err(wikiProblem('malformed', `${command} needs ARG=<job>`));
}

function readStart(given: Arguments): Result<WikiRequest, WikiProblem> {
  return ofJob(given, (job) => {
    const list = given.named.get('TASKLIST') ?? '';
    const tasks: string[] = [];
    for (const entry of list.split(/[:,](?![^[]*\])/).filter((word) => word !== '')) {
      const [, names = entry, count = '1'] = /^(.*)\*(\d{1,6})$/.exec(entry) ?? [];
      const nodes = parseNodeNames(names);
      if (!nodes.ok) return err(wikiProblem('malformed', `TASKLIST: ${nodes.error}`));
      if (tasks.length + nodes.value.length * Number(count) > TASKS_MAX) {
        return err(wikiProblem('malformed', `TASKLIST names more than ${TASKS_MAX} tasks`));
      }
      for (let time = 0; time < Number(count); time += 1) tasks.push(...nodes.value);
    }
    if (tasks.length > 0) return ok({ kind: 'start_job', job, tasks });
    return err(wikiProblem('malformed', 'STARTJOB needs TASKLIST=<node>[:<node>]…, one per task'));
  });
}

const CANCEL_TYPES: Readonly<Record<string, 'admin' | 'walltime'>> = {
  '': 'admin',
  ADMIN: 'admin',
  WALLCLOCK: 'walltime',
  TIMEOUT: 'walltime',
};

function readCancel(given: Arguments): Result<WikiRequest, WikiProblem> {
  const type = given.named.get('TYPE') ?? '';
  const because = CANCEL_TYPES[type.toUpperCase()];
  if (because !== undefined) return ofJob(given, (job) => ok({ kind: 'cancel_job', job, because }));
  const words = `CANCELJOB of TYPE=${type.slice(0, 40)}; expected ADMIN or WALLCLOCK`;
  return err(wikiProblem('malformed', words));
}

function readModify(given: Arguments): Result<WikiRequest, WikiProblem> {
  const changes = Object.fromEntries([...given.named].filter(([name]) => name !== 'ARG'));
  if (Object.keys(changes).length > 0) {
    return ofJob(given, (job) => ok({ kind: 'modify_job', job, changes }));
  }
  return err(wikiProblem('malformed', 'MODIFYJOB names nothing to change, as TIMELIMIT=<minutes>'));
}

function readSignal(given: Arguments): Result<WikiRequest, WikiProblem> {
  const [, signal] =
    /^(?:SIG)?([A-Z0-9]{1,10})$/.exec((given.named.get('VALUE') ?? '').toUpperCase()) ?? [];
  if (signal !== undefined) return ofJob(given, (job) => ok({ kind: 'signal_job', job, signal }));
  const words = 'SIGNALJOB needs ACTION=signal VALUE=<number or name>, as USR1';
  return err(wikiProblem('malformed', words));
}
