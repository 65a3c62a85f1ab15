// Jobs of sites as operands: `hpc/4711`, wherever a job id may stand.

import type { Context } from '../../../kernel/cli/context.ts';
import { usage } from '../../../kernel/model/failure.ts';
import { elementOf } from '../model/site-elements.ts';

/** A site, and an id as that site has it. */
const FORM = /^[A-Za-z0-9][A-Za-z0-9._-]*\/[A-Za-z0-9._[\]-]+$/;
type Api = Awaited<ReturnType<Context['api']>>;

async function jobCalled(api: Api, siteJob: string) {
  const { jobs } = await api.call('listJobs', { query: { state: 'all', siteJob, limit: 1 } });
  return jobs[0];
}

/** The task of ours that an element of an array is; null: it is none. */
async function taskCalled(api: Api, site: string, id: string): Promise<string | null> {
  const element = elementOf(id);
  if (element === null) return null;
  const array = await jobCalled(api, `${site}/${element.array}`);
  return array === undefined || array.array === null ? null : `${array.id}[${element.index}]`;
}

/** What its site or our rules say of a job that is none of ours; null: nothing is known. */
async function whyNot(api: Api, site: string, id: string): Promise<string | null> {
  const { jobs } = await api.call('getSite', { params: { name: site } });
  return jobs.find((job) => job.id === id)?.reason ?? null;
}

/** The job of ours that stands for it; null: it is not written so, or names no site. */
export async function ownId(text: string, context: Context): Promise<string | null> {
  if (!FORM.test(text)) return null;
  const api = await context.api();
  const job = await jobCalled(api, text);
  if (job !== undefined) return String(job.id);
  const site = text.slice(0, text.indexOf('/'));
  const task = await taskCalled(api, site, text.slice(site.length + 1));
  if (task !== null) return task;
  const { sites } = await api.call('listSites');
  if (!sites.some(({ name }) => name === site)) return null;
  const why = await whyNot(api, site, text.slice(site.length + 1));
  if (why !== null) throw usage(`no job of ours stands for ${text}: ${why}`);
  throw usage(`no job of ours stands for ${text}`, `\`weft site show ${site}\` lists its jobs.`);
}
