// Every operation of a site tried once, in words: what a gateway will ask of it, before it is one.

import { plural } from '../../../../kernel/base/plural.ts';
import type { Result } from '../../../../kernel/base/result.ts';
import { ruleWarning } from '../../../../kernel/model/filter-rule.ts';
import type { SiteTried } from '../../../../kernel/model/site.ts';
import type { Commands } from '../../../../kernel/ports/commands.ts';
import type { Adaptor, SiteProblem, SiteQuery } from '../../adaptors/adaptor.ts';
import type { Filters } from '../filters/site-filters.ts';
import { runSiteCommand } from './command.ts';

export interface TryOutWorld {
  readonly adaptor: Adaptor;
  readonly commands: Commands;
  readonly settings: {
    readonly timeoutMs: number;
    readonly before: readonly string[];
    readonly queue: string | null;
    readonly account: string | null;
    readonly options: readonly string[];
  };
  /** Null when it has none. */
  readonly filters: Filters | null;
  /** For the job that is submitted, on a file system that the site's nodes see. */
  readonly folder: string;
  /** A file there that has `TRY_SCRIPT`. */
  readonly scriptFile: string;
  /** A name that no other job there has. */
  readonly name: string;
}

/** Long enough to be found, should it start at once; it is cancelled. */
export const TRY_SCRIPT = '#!/bin/sh\nexec sleep 30\n';

export async function tryOut(world: TryOutWorld): Promise<SiteTried[]> {
  const { adaptor } = world;
  const jobs = await tried(world, 'list its jobs', adaptor.jobs, (all) =>
    plural(all.length, 'job'),
  );
  const nodes = await tried(world, 'list its nodes', adaptor.nodes, (all) =>
    plural(all.length, 'node'),
  );
  const queues = await tried(world, 'list its queues', adaptor.queues, (all) =>
    all.map(({ name }) => name).join(', '),
  );
  const found = [jobs, nodes, queues, ...(await tryFilters(world))];
  for (const { what, query, remedy } of adaptor.steering?.requirements ?? []) {
    const answer = await ask(world, query);
    if (!answer.ok) found.push({ what, works: false, words: answer.error.text });
    else
      found.push({
        what,
        works: answer.value,
        words: answer.value ? 'so it is' : `not so; remedy: ${remedy}`,
      });
  }
  return [...found, ...(await tryJob(world))];
}

/** How many nodes, jobs and queues each rule is for; what looks like a mistake is named as that. */
async function tryFilters(world: TryOutWorld): Promise<SiteTried[]> {
  const { filters, adaptor } = world;
  if (filters === null) return [];
  await filters.look();
  const [nodes, jobs, queues] = await Promise.all([
    ask(world, adaptor.nodes),
    ask(world, adaptor.jobs),
    ask(world, adaptor.queues),
  ]);
  if (!nodes.ok || !jobs.ok || !queues.ok) return [];
  const listed = { nodes: filters.nodes(nodes.value), jobs: jobs.value, queues: queues.value };
  const { rules, sources, problem } = filters.state(listed);
  const file = {
    what: 'read the file of filters',
    works: problem === null,
    words: problem ?? 'read',
  };
  return [
    file,
    ...sources.map(({ name, problem: why }) => {
      return { what: `read source ${name}`, works: why === null, words: why ?? 'read' };
    }),
    ...rules.map((rule) => {
      const warning = ruleWarning(rule);
      const words = `matches ${rule.matched} of ${rule.of} ${rule.over}`;
      return {
        what: `rule ${rule.name}`,
        works: true,
        words: warning === null ? words : `warning: it ${warning}`,
      };
    }),
  ];
}

/** Submits a job that only waits, finds it by its name and cancels it. */
async function tryJob(world: TryOutWorld): Promise<SiteTried[]> {
  const { adaptor, folder, name, settings } = world;
  const { queue, account, options } = settings;
  const submission = adaptor.submit({
    name,
    script: TRY_SCRIPT,
    scriptFile: world.scriptFile,
    directory: folder,
    queue,
    account,
    options,
    walltimeMs: 60_000,
    nodeCount: 1,
    cpuCount: 1,
    memoryBytes: null,
    stdout: `${folder}/out`,
    stderr: `${folder}/err`,
  });
  const answer = await ask(world, submission);
  const submit = 'submit a job';
  if (!answer.ok) return [{ what: submit, works: false, words: answer.error.text }];
  const id = answer.value;
  const named = await ask(world, adaptor.named(name));
  const isFound = named.ok && named.value.includes(id);
  const words = named.ok ? `${named.value.length} of that name` : named.error.text;
  const cancel = await ask(world, adaptor.cancel(id));
  const isCancelled = cancel.ok || cancel.error.kind === 'no_such_job';
  return [
    { what: submit, works: true, words: `job ${id}` },
    { what: 'find it by its name', works: isFound, words },
    {
      what: 'cancel it',
      works: isCancelled,
      words: cancel.ok ? 'cancelled' : cancel.error.text,
    },
  ];
}

async function tried<T>(
  world: TryOutWorld,
  what: string,
  query: SiteQuery<T>,
  words: (value: T) => string,
): Promise<SiteTried> {
  const answer = await ask(world, query);
  if (!answer.ok) return { what, works: false, words: answer.error.text };
  return { what, works: true, words: words(answer.value) };
}

async function ask<T>(
  { commands, settings }: TryOutWorld,
  query: SiteQuery<T>,
): Promise<Result<T, SiteProblem>> {
  return query.read(await runSiteCommand(commands, query.command, { ...settings, user: null }));
}
