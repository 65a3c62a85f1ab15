// HTCondor as the fake speaks it, in the forms of test/documented/htcondor.

import { readFileSync } from 'node:fs';
import { type Dialect, lastNumber, option, type Said } from './dialect.ts';
import { CPUS_PER_NODE, type FakeJob } from './fake-site.ts';

function listing(ads: readonly object[]): Said {
  const [first, ...rest] = ads.map((ad) => JSON.stringify(ad, null, 2));
  if (first === undefined) return {};
  return { out: `[\n${first}\n${rest.map((ad) => `,\n${ad}\n`).join('')}]\n` };
}

function adOf({ id, name, owner, node, submittedAt, code, isCancelled }: FakeJob) {
  const isRemoved = isCancelled ? 3 : 4;
  return {
    ClusterId: id,
    ProcId: 0,
    Owner: owner,
    JobBatchName: name,
    QDate: submittedAt,
    JobStatus: code === null ? 2 : isRemoved,
    JobCurrentStartDate: submittedAt,
    ...(code === null ? { RemoteHost: `slot1@${node}` } : { LastRemoteHost: `slot1@${node}` }),
    ...(code === null ? {} : { CompletionDate: submittedAt + 1 }),
    ...(code === null || isCancelled ? {} : { ExitBySignal: false, ExitCode: code }),
  };
}

/** The value of a line of a submit description. */
function line(text: string, name: string): string {
  return new RegExp(`^${name} = (.*)$`, 'm').exec(text)?.[1] ?? '';
}

export const HTCONDOR: Dialect = {
  condor_submit({ args, input, site }) {
    const [, file = ''] = /^"'(.*)'"$/.exec(line(input, 'arguments')) ?? [];
    const id = site.submit({
      name: option(args, '-batch-name'),
      script: readFileSync(file, 'utf8'),
      stdout: line(input, 'output'),
      stderr: line(input, 'error'),
    });
    return { out: `${id}.0 - ${id}.0\n` };
  },
  condor_q({ args, site }) {
    const wanted = lastNumber(args);
    const jobs = site.jobs().filter(({ code }) => code === null);
    return listing(jobs.filter(({ id }) => Number.isNaN(wanted) || id === wanted).map(adOf));
  },
  condor_history({ args, site }) {
    const past = site.jobs().filter(({ id, code }) => code !== null && id === lastNumber(args));
    return past.length === 0 ? { out: '[\n]\n' } : listing(past.map(adOf));
  },
  condor_rm({ args, site }) {
    if (site.cancel(lastNumber(args))) return { out: `Job ${args.at(-1)} marked for removal\n` };
    return { error: `Job ${args.at(-1)} not found\n`, code: 1 };
  },
  condor_status({ args, site }) {
    if (args.includes('-schedd')) return listing([{ Name: 'head' }]);
    return listing(
      site.nodes().map(({ name, used }) => ({
        Machine: name,
        Name: `slot1@${name}`,
        State: 'Unclaimed',
        PartitionableSlot: true,
        Cpus: CPUS_PER_NODE - used,
        TotalSlotCpus: CPUS_PER_NODE,
        Memory: 1000,
        TotalSlotMemory: 1000,
      })),
    );
  },
};
