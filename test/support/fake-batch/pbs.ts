// PBS as the fake speaks it, in the forms of test/documented/pbs.

import { type Dialect, lastNumber, option } from './dialect.ts';
import { CPUS_PER_NODE, type FakeJob } from './fake-site.ts';

const HEAD = { timestamp: 1_795_377_600, pbs_version: '23.06.06', pbs_server: 'head' };

function ctime(seconds: number): string {
  const [day, date = '', month, year, clock] = new Date(seconds * 1000).toUTCString().split(/,? /);
  return `${day} ${month} ${date.replace(/^0/, ' ')} ${clock} ${year}`;
}

function recordOf({ name, owner, pid, node, submittedAt, code, isCancelled, said }: FakeJob) {
  const isWaiting = pid === 0 && code === null;
  const inUse = isWaiting ? 'Q' : 'R';
  return {
    Job_Name: name,
    Job_Owner: `${owner}@login1`,
    job_state: code === null ? inUse : 'F',
    queue: 'workq',
    ctime: ctime(submittedAt),
    ...(pid === 0 ? {} : { stime: ctime(submittedAt), exec_host: `${node}/0` }),
    Resource_List: { ncpus: 1, nodect: 1, walltime: '01:00:00', ...askedIn(said.asked ?? '') },
    ...(said.comment === undefined ? {} : { comment: said.comment }),
    ...(code === null ? {} : { Exit_status: isCancelled ? 271 : code, mtime: ctime(submittedAt) }),
  };
}

/** @param asked as behind `-l`; other forms are made a select of */
function askedIn(asked: string): { readonly select: string; readonly place: string } {
  const [, node] = /^nodes=(\w+)$/.exec(asked) ?? [];
  if (node !== undefined) return { select: `1:ncpus=1:host=${node}`, place: 'scatter' };
  const [, select = '1:ncpus=1'] = /^select=(.*)$/.exec(asked) ?? [];
  return { select, place: 'free' };
}

/** What qalter makes of `comment="…"`: its closing quote is a blank. */
function commentIn(words: string): string {
  return words.replace(/^comment=/, '').replace(/^"(.*)"$/, '$1 ');
}

function listing(part: string, records: readonly (readonly [string, object])[]): string {
  const found = records.length === 0 ? {} : { [part]: Object.fromEntries(records) };
  return `${JSON.stringify({ ...HEAD, ...found }, null, '\t')}\n`;
}

export const PBS: Dialect = {
  qsub({ args, input, site }) {
    if (option(args, '-q') === 'nosuch') return { error: 'qsub: Unknown queue\n', code: 170 };
    const id = site.submit({
      name: option(args, '-N'),
      script: input,
      stdout: option(args, '-o'),
      stderr: option(args, '-e'),
      ...(site.isSteered ? { waits: true } : {}),
      said: { asked: option(args, '-l') },
    });
    return { out: `${id}.head\n` };
  },
  qstat({ args, site }) {
    if (args.includes('-Q')) {
      const workq = { queue_type: 'Execution', enabled: 'True', started: 'True' };
      return { out: listing('Queue', [['workq', workq]]) };
    }
    if (args.includes('-B')) {
      const scheduling = site.isSteered ? 'False' : 'True';
      return { out: listing('Server', [['head', { server_state: 'Active', scheduling }]]) };
    }
    const isPast = args.includes('-x');
    const wanted = lastNumber(args);
    const jobs = site.jobs().filter(({ code }) => isPast || code === null);
    const found = Number.isNaN(wanted) ? jobs : jobs.filter(({ id }) => id === wanted);
    const out = listing(
      'Jobs',
      found.map((job) => [`${job.id}.head`, recordOf(job)] as const),
    );
    if (Number.isNaN(wanted) || found.length > 0) return { out };
    return { out, error: `qstat: Unknown Job Id ${args.at(-1)}\n`, code: 153 };
  },
  qdel({ args, site }) {
    if (site.cancel(lastNumber(args))) return {};
    return { error: `qdel: Unknown Job Id ${args.at(-1)}\n`, code: 153 };
  },
  qalter({ args, site }) {
    if (site.say(lastNumber(args), { comment: commentIn(option(args, '-W')) })) return {};
    return { error: `qalter: Unknown Job Id ${args.at(-1)}\n`, code: 153 };
  },
  qrun({ args, site }) {
    const [, node = ''] = /^\((\w+)\)$/.exec(option(args, '-H')) ?? [];
    if (site.begin(lastNumber(args), node)) return {};
    return { error: `qrun: Request invalid for state of job ${args.at(-1)}\n`, code: 144 };
  },
  pbsnodes({ args, site }) {
    if (args.includes('-o') || args.includes('-r')) {
      site.setOff(args.at(-1) ?? '', args.includes('-o'));
      return {};
    }
    const nodes = site.nodes().map(({ name, isOff, used }) => {
      const resources = { ncpus: CPUS_PER_NODE, mem: '1024000kb' };
      const state = isOff ? 'offline' : used >= CPUS_PER_NODE ? 'job-busy' : 'free';
      const assigned = used === 0 ? {} : { ncpus: used };
      const node = { state, resources_available: resources, resources_assigned: assigned };
      return [name, node] as const;
    });
    return { out: listing('nodes', nodes) };
  },
};
