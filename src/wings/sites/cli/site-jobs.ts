// Jobs of sites as operands: `hpc/4711`, wherever a job id may stand.

import type { Context } from '../../../kernel/cli/context.ts';
import { usage } from '../../../kernel/model/failure.ts';

/** A site, and an id as that site has it. */
const FORM = /^[A-Za-z0-9][A-Za-z0-9._-]*\/[A-Za-z0-9._-]+$/;
/** What its site or our rules say of a job that is none of ours; null: nothing is known. */
async function whyNot(
  api: Awaited<ReturnType<Context['api']>>,
  site: string,
  id: string,
): Promise<string | null> {
  const { jobs } = await api.call('getSite', { params: { name: site } });
  return jobs.find((job) => job.id === id)?.reason ?? null;
}

/** The job of ours that stands for it; null: it is not written so, or names no site. */
export async function ownId(text: string, context: Context): Promise<string | null> {
  if (!FORM.test(text)) return null;
  const api = await context.api();
  const { jobs } = await api.call('listJobs', { query: { state: 'all', siteJob: text, limit: 1 } });
  const [job] = jobs;
  if (job !== undefined) return String(job.id);
  const site = text.slice(0, text.indexOf('/'));
  const { sites } = await api.call('listSites');
  if (!sites.some(({ name }) => name === site)) return null;
  const why = await whyNot(api, site, text.slice(site.length + 1));
  if (why !== null) throw usage(`no job of ours stands for ${text}: ${why}`);
  throw usage(`no job of ours stands for ${text}`, `\`weft site show ${site}\` lists its jobs.`);
}
