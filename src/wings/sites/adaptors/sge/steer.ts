// How Grid Engine is steered: each job asks for a ticket of its own that no host has. We give the
// ticket to the hosts that are to run it, let the scheduler make one pass, and take it away again.
// All elements of an array have the same ticket: for the pass those that are not meant get a system
// hold.

import { ok, type Result } from '../../../../kernel/base/result.ts';
import type {
  NotePlace,
  Requirement,
  SiteCommand,
  SiteOutput,
  SiteProblem,
  Steering,
  Suspension,
} from '../adaptor.ts';
import { saidBy, siteProblem, unreadable } from '../read.ts';
import { failure } from './failure.ts';
import { readJobs } from './jobs.ts';
import { below, type Element, parseXml } from './xml.ts';

export function tickets(complex: string): Steering {
  const set = (host: string, value: string) => ({
    argv: ['qconf', '-mattr', 'exechost', 'complex_values', `${complex}=${value}`, host],
  });
  return {
    takeover: 'disabled_scheduler',
    needsHandle: true,
    requirements: [
      longInterval,
      {
        what: `each job asks for a ${complex} (a server JSV)`,
        query: { command: { argv: ['qconf', '-sconf'] }, read: (output) => hasScript(output) },
        remedy: 'set jsv_url with qconf -mconf; docs/sites/sge.md has the script',
      },
      keepsNoFinished,
      {
        what: `${complex} is a FORCED RESTRING complex`,
        query: { command: { argv: ['qconf', '-sc'] }, read: (output) => isForced(output, complex) },
        remedy: `add '${complex} tk RESTRING == FORCED NO NONE 0' with qconf -mc`,
      },
      {
        // Of whichever queue: the ticket is the host's.
        what: `each host that has a queue has a ${complex}`,
        query: {
          command: { argv: ['qhost', '-q', '-F', complex, '-xml'] },
          read: (output) => haveAll(output, complex),
        },
        remedy: `qconf -mattr exechost complex_values ${complex}=none HOST for each that has none (qhost -F ${complex})`,
      },
    ],
    start: ({ id, handle }, nodes) => [
      ...onlyElement(id),
      ...nodes.map((host) => set(host, handle ?? 'none')),
      { argv: ['qconf', '-tsm'] },
      ...nodes.map((host) => set(host, 'none')),
      ...allElements(id),
    ],
    read: readDone,
    takeBack: ({ id }, nodes) => [...nodes.map((host) => set(host, 'none')), ...allElements(id)],
    leftovers: [
      { command: HELD_COMMAND, read: readHeld },
      {
        command: { argv: ['qhost', '-F', complex, '-xml'] },
        read: (output) => readOpened(output, complex, set),
      },
    ],
    notes: jobContext,
    suspension: byManager,
  };
}

/** `h_rt` is counted by the wall clock. `qmod -usj` is for managers and for the job's owner. */
const byManager: Suspension = {
  stopsLimit: false,
  isForOwners: true,
  suspend: (job) => [{ argv: ['qmod', '-sj', job] }],
  resume: (job) => [{ argv: ['qmod', '-usj', job] }],
};

/** A variable of the job's context, which `qstat -j` shows; a comma would begin the next one. */
const jobContext: NotePlace = {
  write(job, words) {
    const change = words === null ? ['-dc', 'weft'] : ['-ac', `weft=${inContext(words)}`];
    return [{ argv: ['qalter', ...change, job] }];
  },
  written: { command: { argv: ['qstat', '-j', '*'] }, read: readContexts },
};

function inContext(words: string): string {
  return words.replaceAll(',', ';');
}

function readContexts(output: SiteOutput): Result<ReadonlyMap<string, string>, SiteProblem> {
  const written = new Map<string, string>();
  // Of no jobs it is asked for some that do not exist.
  if (/following jobs do not exist/i.test(saidBy(output))) return ok(written);
  if (output.code !== 0) return failure('qstat', output);
  let job: string | undefined;
  for (const line of output.stdout.split('\n')) {
    job = /^job_number:\s+(\d+)$/.exec(line)?.[1] ?? job;
    const [, words] = /^context:\s+(?:.*,)?weft=([^,]*)/.exec(line) ?? [];
    if (job !== undefined && words !== undefined) written.set(job, words);
  }
  return ok(written);
}

function readDone(output: SiteOutput, program: string): Result<null, SiteProblem> {
  if (output.code === 0) return ok(null);
  const words = saidBy(output);
  if (/job "\S+" does not exist/.test(words)) {
    return siteProblem('no_such_job', `${program}: ${words}`);
  }
  return failure(program, output);
}

function onlyElement(id: string): readonly SiteCommand[] {
  const [array = id, element] = id.split('.');
  if (element === undefined) return [];
  return [
    { argv: ['qhold', '-h', 's', array] },
    { argv: ['qrls', '-h', 's', array, '-t', element] },
  ];
}

/** Users' and operators' own holds stay. */
function allElements(id: string): readonly SiteCommand[] {
  const [array = id, element] = id.split('.');
  return element === undefined ? [] : [{ argv: ['qrls', '-h', 's', array] }];
}

const HELD_COMMAND = { argv: ['qstat', '-xml', '-u', '*', '-s', 'hs'] };

/** Elements that are held by nobody else. */
function readHeld(output: SiteOutput): Result<readonly SiteCommand[], SiteProblem> {
  const jobs = readJobs(output, { oneSlotPerHost: [], environment: null, ticket: '' });
  if (!jobs.ok) return jobs;
  const arrays = jobs.value.filter(({ state, elements }) => state === 'held' && elements !== null);
  return ok(arrays.map(({ id }) => ({ argv: ['qrls', '-h', 's', id] })));
}

/** Hosts that have a ticket still. */
function readOpened(
  output: SiteOutput,
  complex: string,
  set: (host: string, value: string) => SiteCommand,
): Result<readonly SiteCommand[], SiteProblem> {
  const hosts = hostsIn(output);
  if (!hosts.ok) return hosts;
  const opened = hosts.value.filter((host) => (ticketOf(host, complex) ?? 'none') !== 'none');
  return ok(opened.map(({ attributes }) => set(attributes.name ?? '', 'none')));
}

/** On one without it what asks for no ticket, as jobs from before the JSV, starts beside us. */
function haveAll(output: SiteOutput, complex: string): Result<boolean, SiteProblem> {
  const hosts = hostsIn(output);
  if (!hosts.ok) return hosts;
  const withQueues = hosts.value.filter(({ children }) => {
    return children.some(({ name }) => name === 'queue');
  });
  return ok(withQueues.every((host) => ticketOf(host, complex) !== null));
}

function hostsIn(output: SiteOutput): Result<readonly Element[], SiteProblem> {
  if (output.code !== 0) return failure('qhost', output);
  const document = parseXml(output.stdout.trim());
  if (document?.name !== 'qhost') return unreadable('qhost', 'its answer is no whole qhost');
  return ok([...below(document, 'host')]);
}

/** Returns null when it has none, so that whoever asks for none starts there. */
function ticketOf({ children }: Element, complex: string): string | null {
  const value = children.find(({ name, attributes }) => {
    return name === 'resourcevalue' && attributes.name === complex;
  });
  return value?.text.trim() ?? null;
}

/** Else it would say of those that they are there, when it is asked for them. */
const keepsNoFinished: Requirement = {
  what: 'jobs that are over are forgotten (finished_jobs 0)',
  query: { command: { argv: ['qconf', '-sconf'] }, read: forgetsFinished },
  remedy: 'set finished_jobs 0 with qconf -mconf',
};

function forgetsFinished(output: SiteOutput): Result<boolean, SiteProblem> {
  if (output.code !== 0) return failure('qconf', output);
  return ok(/^finished_jobs\s+0\s*$/m.test(output.stdout));
}

const longInterval: Requirement = {
  what: 'the scheduler makes no passes of its own',
  query: { command: { argv: ['qconf', '-ssconf'] }, read: isQuiet },
  remedy:
    'set schedule_interval 24:0:0, flush_submit_sec 0 and flush_finish_sec 0 with qconf -msconf',
};

const INTERVAL_MIN_S = 3600;

function isQuiet(output: SiteOutput): Result<boolean, SiteProblem> {
  if (output.code !== 0) return failure('qconf', output);
  const value = (name: string) => new RegExp(`^${name}\\s+(\\S+)`, 'm').exec(output.stdout)?.[1];
  const parts = (value('schedule_interval') ?? '0').split(':').map(Number);
  const interval = parts.reduce((sum, part) => sum * 60 + part, 0);
  const isFlushed = ['flush_submit_sec', 'flush_finish_sec'].some((name) => value(name) !== '0');
  return ok(interval >= INTERVAL_MIN_S && !isFlushed);
}

function hasScript(output: SiteOutput): Result<boolean, SiteProblem> {
  if (output.code !== 0) return failure('qconf', output);
  const [, url = 'none'] = /^jsv_url\s+(\S+)/m.exec(output.stdout) ?? [];
  return ok(!/^none$/i.test(url));
}

/** `name shortcut type relop requestable consumable default urgency`. */
function isForced(output: SiteOutput, complex: string): Result<boolean, SiteProblem> {
  if (output.code !== 0) return failure('qconf', output);
  const lines = output.stdout.split('\n').map((line) => line.trim().split(/\s+/));
  const line = lines.find(([name]) => name === complex);
  return ok(line?.[2] === 'RESTRING' && line[4] === 'FORCED');
}
