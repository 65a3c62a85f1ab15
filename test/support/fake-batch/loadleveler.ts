// LoadLeveler as the fake speaks it, in the forms of test/documented/loadleveler.

import { readFileSync } from 'node:fs';
import type { Dialect, Said } from './dialect.ts';
import { CPUS_PER_NODE, type FakeJob } from './fake-site.ts';

function time(seconds: number): string {
  const [day, date = '', month, year, clock] = new Date(seconds * 1000).toUTCString().split(/,? /);
  return `${day} ${month} ${date.replace(/^0/, ' ')} ${clock} UTC ${year}`;
}

function step({ id, name, owner, node, submittedAt, code, isCancelled }: FakeJob): string {
  const ended = isCancelled ? 'Removed' : 'Completed';
  const fields: [string, string][] = [
    ['Job Step Id', `head.${id}.0`],
    ['Job Name', name],
    ['Owner', owner],
    ['Queue Date', time(submittedAt)],
    ['Status', code === null ? 'Running' : ended],
    ['Dispatch Time', time(submittedAt)],
    ['Completion Date', code === null ? '' : time(submittedAt + 1)],
    ['Completion Code', code === null ? '' : String(code << 8)],
    ['Class', 'long'],
    ['Allocated Host', node],
  ];
  const lines = fields.map(([key, value]) => `${key.padStart(19)}: ${value}\n`).join('');
  return `=============== Job Step head.${id}.0 ===============\n${lines}\n`;
}

/** The value of a keyword of a job command file. */
function keyword(text: string, name: string): string {
  return new RegExp(`^# @ ${name} = (.*)$`, 'm').exec(text)?.[1] ?? '';
}

function numberOf(word: string | undefined): number {
  return Number(/^head\.(\d+)\.0$/.exec(word ?? '')?.[1]);
}

export const LOADLEVELER: Dialect = {
  llsubmit({ input, site }) {
    const id = site.submit({
      name: keyword(input, 'job_name'),
      stdout: keyword(input, 'output'),
      stderr: keyword(input, 'error'),
      script: readFileSync(keyword(input, 'arguments'), 'utf8'),
    });
    return { out: `llsubmit: The job "head.${id}" has been submitted.\n` };
  },
  llq({ args, site }): Said {
    const wanted = numberOf(args.at(-1));
    const steps = site.jobs().filter(({ id }) => Number.isNaN(wanted) || id === wanted);
    if (steps.length === 0) return { out: 'llq: There is currently no job status to report.\n' };
    const words = '0 waiting, 0 pending, 0 running, 0 held, 0 preempted';
    return { out: `${steps.map(step).join('')}${steps.length} job step(s) in query, ${words}\n` };
  },
  llcancel({ args, site }) {
    site.cancel(numberOf(args.at(-1)));
    return { out: 'llcancel: Cancel command has been sent to the central manager.\n' };
  },
  llstatus({ site }) {
    const lines = site.nodes().map(({ name, isOff, used }) => {
      const inUse = used === 0 ? 'Idle' : 'Running';
      const fields = [name, isOff ? 'Drained' : inUse, CPUS_PER_NODE, used, 1000, 'x86_64'];
      return `${fields.join('!')}!Linux2!1\n`;
    });
    return { out: lines.join('') };
  },
  llclass: () => ({ out: 'Name  MaxJobCPU MaxProcCPU Free Max\nlong  undefined undefined 4 4\n' }),
  llctl({ args, site }) {
    site.setOff(args[1] ?? '', args[2] === 'drain');
    return {};
  },
};
