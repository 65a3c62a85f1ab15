// LSF as the fake speaks it, in the forms of test/documented/lsf.

import { readFileSync } from 'node:fs';
import { type Dialect, option, type Said } from './dialect.ts';
import { CPUS_PER_NODE, type FakeJob } from './fake-site.ts';

const MONTHS = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ');

function time(seconds: number): string {
  const at = new Date(seconds * 1000);
  const day = String(at.getUTCDate()).padStart(2);
  const clock = at.toISOString().slice(11, 19);
  return `${MONTHS[at.getUTCMonth()]} ${day} ${clock} ${at.getUTCFullYear()}`;
}

function document(program: string, count: string, records: readonly object[]): Said {
  const all = { COMMAND: program, [count]: records.length, RECORDS: records };
  return { out: `${JSON.stringify(all, null, 2)}\n` };
}

function recordOf({ id, name, owner, node, submittedAt, code, isCancelled }: FakeJob) {
  const stat = code === 0 ? 'DONE' : 'EXIT';
  return {
    JOBID: String(id),
    JOBINDEX: '0',
    JOB_NAME: name,
    USER: owner,
    QUEUE: 'normal',
    STAT: code === null ? 'RUN' : stat,
    SUBMIT_TIME: time(submittedAt),
    START_TIME: time(submittedAt),
    FINISH_TIME: code === null ? '' : time(submittedAt + 1),
    EXEC_HOST: node,
    NALLOC_SLOT: '1',
    RUNTIMELIMIT: '60.0',
    EXIT_CODE: code === null || code === 0 ? '' : String(code),
    EXIT_REASON: isCancelled ? 'TERM_OWNER: job killed by owner' : '',
  };
}

export const LSF: Dialect = {
  bsub({ args, site }) {
    const [, file = ''] = /^sh (.*)$/.exec(args.at(-1) ?? '') ?? [];
    const id = site.submit({
      name: option(args, '-J'),
      script: readFileSync(file, 'utf8'),
      stdout: option(args, '-o'),
      stderr: option(args, '-e'),
    });
    return { out: `Job <${id}> is submitted to default queue <normal>.\n` };
  },
  bjobs({ args, site }) {
    const wanted = /^\d+$/.test(args.at(-1) ?? '') ? Number(args.at(-1)) : null;
    const jobs = site.jobs().filter(({ id }) => wanted === null || id === wanted);
    if (jobs.length > 0) return document('bjobs', 'JOBS', jobs.map(recordOf));
    if (wanted === null) return { error: 'No job found\n' };
    return { error: `Job <${wanted}> is not found\n`, code: 255 };
  },
  bkill({ args, site }) {
    const id = Number(args.at(-1));
    if (site.cancel(id)) return { out: `Job <${id}> is being terminated\n` };
    return { error: `Job <${id}>: No matching job found\n`, code: 255 };
  },
  bhosts({ site }) {
    const records = site.nodes().map(({ name, isOff, used }) => ({
      HOST_NAME: name,
      MAX: String(CPUS_PER_NODE),
      NJOBS: String(used),
      STATUS: isOff ? 'closed_Adm' : 'ok',
    }));
    return document('bhosts', 'HOSTS', records);
  },
  bqueues: () => document('bqueues', 'QUEUES', [{ QUEUE_NAME: 'normal', STATUS: 'Open:Active' }]),
  badmin({ args, site }) {
    site.setOff(args.at(-1) ?? '', args[0] === 'hclose');
    return {};
  },
};
