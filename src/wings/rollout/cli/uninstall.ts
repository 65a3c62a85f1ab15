// `weft node uninstall`: takes nodes out of the cluster and Weft off their machines, over ssh.

import { plural } from '../../../kernel/base/plural.ts';
import type { Context } from '../../../kernel/cli/context.ts';
import { forEach } from '../../../kernel/cli/jobs/each.ts';
import { defineVerb } from '../../../kernel/cli/verb.ts';
import { refuse } from '../../../kernel/model/errors.ts';
import { Failure, failure, usage } from '../../../kernel/model/failure.ts';
import { parseDestination } from '../core/destination.ts';
import { PROBE_SCRIPT, parseProbe } from '../core/probe.ts';
import { placesFor, uninstallScript } from '../core/scripts.ts';
import { Ssh } from './ssh.ts';

interface Options {
  readonly now?: boolean;
}

const SCRIPT_MS = 120_000;

export const verb = defineVerb<Options>({
  define(command) {
    command.argument('<host...>', 'machines, as ssh knows them');
    command.option('--now', 'also where tasks run: they end');
  },
  async run({ context, args, options }) {
    const ssh = new Ssh();
    try {
      return await forEach(context, args, (host) => uninstall(context, ssh, host, options));
    } finally {
      ssh.close();
    }
  },
});

async function uninstall(
  context: Context,
  ssh: Ssh,
  host: string,
  { now }: Options,
): Promise<void> {
  const read = parseDestination(host);
  if (!read.ok) throw usage(read.error);
  const looked = await ssh.script(host, PROBE_SCRIPT, { as: '', timeoutMs: SCRIPT_MS });
  const probe = parseProbe(looked.out);
  if (!probe.ok) throw problem(host, `${probe.error}: ${looked.error.trim().split('\n').at(-1)}`);
  const { member, rights, release } = probe.value;
  if (member === null && release === null)
    throw problem(host, 'nothing that `weft node add` has put there was found');
  if (member !== null && now !== true) await refuseBusy(context, member.name);
  const as = rights === 'sudo' ? 'sudo -n ' : '';
  const script = uninstallScript(placesFor(rights !== 'none'));
  const done = await ssh.script(host, script, { as, timeoutMs: SCRIPT_MS });
  if (done.code !== 0)
    throw problem(host, done.error.trim().split('\n').at(-1) ?? `exit ${done.code}`);
  if (member !== null) await forget(context, member.name);
  context.print(
    `${host}: Weft is off it${member === null ? '' : `, and node ${member.name} is removed`}.`,
  );
}

const problem = (host: string, what: string) =>
  failure(refuse('argument.invalid', { what: `${host}: ${what}` }));

async function refuseBusy(context: Context, name: string): Promise<void> {
  const api = await context.api();
  const { running } = await api.call('getNode', { params: { name } });
  if (running.length === 0) return;
  const what = `${plural(running.length, 'task')} run on ${name}`;
  throw usage(what, `Wait for them (weft node drain ${name}), or end them with --now.`);
}

/** The head may have forgotten the node before. */
async function forget(context: Context, name: string): Promise<void> {
  try {
    await (await context.api()).call('removeNode', { params: { name } });
  } catch (error) {
    if (!(error instanceof Failure) || error.kind !== 'not_found') throw error;
  }
}
