// `weft node uninstall`: takes nodes out of the cluster and Weft off their machines, over ssh.

import { setTimeout as sleep } from 'node:timers/promises';
import type { NodeView } from '../../../kernel/api/nodes.ts';
import { plural } from '../../../kernel/base/plural.ts';
import type { Context } from '../../../kernel/cli/context.ts';
import { forEach } from '../../../kernel/cli/jobs/each.ts';
import { defineVerb } from '../../../kernel/cli/verb.ts';
import type { Api } from '../../../kernel/connect/api.ts';
import { refuse } from '../../../kernel/model/errors.ts';
import { Failure, failure, usage } from '../../../kernel/model/failure.ts';
import { parseDestination } from '../core/destination.ts';
import { placesFor } from '../core/places.ts';
import { elsewhereOf } from '../core/plan.ts';
import { type Probe, parseProbe, probeScript } from '../core/probe.ts';
import { uninstallScript } from '../core/scripts.ts';
import { Locks } from './locks.ts';
import { Ssh } from './ssh.ts';
import { lastLine, Stopped } from './stopped.ts';

interface Options {
  readonly now?: boolean;
  readonly withoutRoot?: boolean;
}

const SCRIPT_MS = 120_000;
const EMPTY_MS = 120_000;
const LOOK_MS = 200;

export const verb = defineVerb<Options>({
  define(command) {
    command.argument('<host...>', 'machines, as ssh knows them');
    command.option('--now', 'also where tasks run: they start again elsewhere');
    command.option('--without-root', 'remove what `weft node add --without-root` installed');
  },
  async run({ context, args, options }) {
    const ssh = new Ssh();
    const locks = new Locks(context, ssh, 'weft node uninstall');
    const work = { context, ssh, locks, ...options };
    try {
      return await locks.during(() => forEach(context, args, (host) => uninstall(host, work)));
    } finally {
      ssh.close();
    }
  },
});

interface Work extends Options {
  readonly context: Context;
  readonly ssh: Ssh;
  readonly locks: Locks;
}

async function uninstall(host: string, work: Work): Promise<void> {
  const read = parseDestination(host);
  if (!read.ok) throw usage(read.error);
  const { rights } = await probed(host, work);
  const as = rights === 'sudo' ? 'sudo -n ' : '';
  const places = placesFor(rights === 'none' ? 'user' : 'system');
  try {
    await work.locks.hold({ host, places, as }, async (held) => {
      const { context, ssh, now = false } = work;
      // Another command may have been at work there until now.
      const { member } = await probed(host, work);
      if (member !== null) await leave(context, { host, now, ...member });
      const done = await ssh.script(host, uninstallScript(held), { as, timeoutMs: SCRIPT_MS });
      if (done.code !== 0) throw problem(host, lastLine(done.error) || `exit ${done.code}`);
      const node = member === null ? '' : `, and node ${member.name} is removed`;
      context.print(`${host}: Weft is off it${node}.`);
    });
  } catch (error) {
    if (!(error instanceof Stopped)) throw error;
    throw problem(host, error.problem.what, error.problem.remedy);
  }
}

async function probed(host: string, { ssh, withoutRoot = false }: Work): Promise<Probe> {
  const how = { as: '', timeoutMs: SCRIPT_MS };
  const looked = await ssh.script(host, probeScript({ withoutRoot }), how);
  const probe = parseProbe(looked.out);
  if (!probe.ok) throw problem(host, `${probe.error}: ${lastLine(looked.error)}`);
  const elsewhere = elsewhereOf(probe.value);
  if (elsewhere !== null) throw problem(host, elsewhere.what, 'Type it for that machine.');
  const { member, release } = probe.value;
  if (member !== null || release !== null) return probe.value;
  throw problem(host, 'nothing that `weft node add` has put there was found');
}

const problem = (host: string, what: string, hint?: string) =>
  failure(refuse('argument.invalid', { what: `${host}: ${what}` }, hint));

interface Leaving {
  readonly host: string;
  readonly name: string;
  readonly fingerprint: string;
  readonly now: boolean;
}

/** Out of the cluster before anything is done there: what is refused has then changed nothing. */
async function leave(context: Context, { host, name, fingerprint, now }: Leaving): Promise<void> {
  const api = await context.api();
  if ((await api.call('info')).head.fingerprint !== fingerprint) {
    const hint = 'Give the head of that cluster with --dir or --head.';
    throw usage(`${host}: it is node ${name} of another cluster`, hint);
  }
  const params = { name };
  const node = await known(api, name);
  // The head has forgotten it already.
  if (node === null) return;
  await api.call('drainNode', { params, body: { reason: 'weft node uninstall' } });
  const { running } = (await known(api, name)) ?? node;
  if (running.length > 0 && !now) {
    if (node.reason === null) await api.call('undrainNode', { params });
    const hint = `Wait for them (weft node drain ${name}), or move them with --now.`;
    throw usage(`${plural(running.length, 'task')} run on ${name}`, hint);
  }
  for (const task of running) {
    await api.call('requeueJob', { params: { id: task.replace(/#.*/, '') } });
  }
  await untilEmpty(api, name);
  await api.call('removeNode', { params });
}

/** Tasks that are told to end take their time to do so. */
async function untilEmpty(api: Api, name: string): Promise<void> {
  const end = performance.now() + EMPTY_MS;
  while (((await known(api, name))?.running.length ?? 0) > 0) {
    if (performance.now() > end) {
      throw usage(`tasks on ${name} do not end`, `See weft node show ${name}.`);
    }
    await sleep(LOOK_MS);
  }
}

/** Returns null when the head knows no node of that name. */
async function known(api: Api, name: string): Promise<NodeView | null> {
  try {
    return await api.call('getNode', { params: { name } });
  } catch (error) {
    if (error instanceof Failure && error.kind === 'not_found') return null;
    throw error;
  }
}
