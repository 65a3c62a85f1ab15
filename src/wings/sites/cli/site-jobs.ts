// Jobs of sites as operands: `hpc/4711`, wherever a job id may stand.

import type { Command } from 'commander';
import type { Context } from '../../../kernel/cli/context.ts';
import { usage } from '../../../kernel/model/failure.ts';

/** A site, and an id as that site has it. */
const FORM = /^[A-Za-z0-9][A-Za-z0-9._-]*\/[A-Za-z0-9._-]+$/;
/** Operands called so are ids of jobs. */
const JOB = 'job';

/** The operands with the ids of our own in the place of those of sites. */
export async function withOwnIds(command: Command, context: Context): Promise<readonly string[]> {
  const declared = command.registeredArguments;
  const isJob = (at: number): boolean => {
    const argument = declared[Math.min(at, declared.length - 1)];
    return argument?.name() === JOB && (at < declared.length || argument.variadic);
  };
  const { args } = command;
  if (!args.some((text, at) => isJob(at) && FORM.test(text))) return args;
  return Promise.all(args.map((text, at) => (isJob(at) ? ownId(text, context) : text)));
}

/** What its site or our rules say of a job that is none of ours; null: nothing is known. */
async function whyNot(
  api: Awaited<ReturnType<Context['api']>>,
  site: string,
  id: string,
): Promise<string | null> {
  const { sites } = await api.call('listSites');
  if (!sites.some(({ name }) => name === site)) return null;
  const { jobs } = await api.call('getSite', { params: { name: site } });
  return jobs.find((job) => job.id === id)?.reason ?? null;
}

async function ownId(text: string, context: Context): Promise<string> {
  if (!FORM.test(text)) return text;
  const api = await context.api();
  const { jobs } = await api.call('listJobs', { query: { state: 'all', siteJob: text, limit: 1 } });
  const [job] = jobs;
  if (job !== undefined) return String(job.id);
  const site = text.slice(0, text.indexOf('/'));
  const why = await whyNot(api, site, text.slice(site.length + 1));
  if (why !== null) throw usage(`no job of ours stands for ${text}: ${why}`);
  throw usage(`no job of ours stands for ${text}`, `\`weft site show ${site}\` lists its jobs.`);
}
