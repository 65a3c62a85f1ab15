// `weft node add` and `weft node upgrade`: machines become nodes, or nodes of this release, over
// ssh.

import { machine } from 'node:os';
import path from 'node:path';
import { formatSize } from '../../../kernel/base/size.ts';
import type { Context } from '../../../kernel/cli/context.ts';
import { StatusLine } from '../../../kernel/cli/progress/status-line.ts';
import { defineVerb, type Verb } from '../../../kernel/cli/verb.ts';
import { usage } from '../../../kernel/model/failure.ts';
import { type Destination, parseDestination } from '../core/destination.ts';
import { Locks } from './locks.ts';
import { type Outcome, type Rollout, rollOut } from './one-host.ts';
import { packageFiles } from './package-files.ts';
import { readHosts } from './read-hosts.ts';
import { Ssh } from './ssh.ts';
import { Tickets } from './tickets.ts';

interface Options {
  readonly hosts?: string;
  readonly name?: string;
  readonly withoutRoot?: boolean;
}

/** Machines at a time: each takes a copy of the programs from this one. */
const AT_ONCE = 8;
/** Between two looks whether who has no terminal is owed a line. */
const TELL_MS = 1000;

export const verb = verbFor({ isUpgrade: false });
export const upgrade = verbFor({ isUpgrade: true });

function verbFor({ isUpgrade }: { readonly isUpgrade: boolean }): Verb {
  return defineVerb<Options>({
    define(command) {
      command.argument('[host...]', 'machines, as ssh knows them: lab3, ann@lab4');
      command.option('--hosts <file>', 'read them from a file: HOST [NAME] in each line');
      command.option('--name <name>', 'name of the node, for one machine (default: its host name)');
      command.option('--without-root', 'without root there: all jobs run as the user who logs in');
    },
    async run({ context, args, options }) {
      const hosts = destinations(context, args, options);
      const api = await context.api();
      const tickets = new Tickets(api);
      const { fingerprint } = await tickets.during(async (one) => one);
      const ssh = new Ssh();
      const locks = new Locks(context, ssh, `weft node ${isUpgrade ? 'upgrade' : 'add'}`);
      const parts = packageFiles();
      try {
        const { release, nodejs, bytes } = parts;
        const withoutRoot = options.withoutRoot === true;
        const about = { fingerprint, machine: machine(), withoutRoot, isUpgrade };
        const wanted = { release, nodejs, bytes, ...about };
        const rollout = { ssh, locks, api, parts, wanted, tickets };
        return await locks.during(() => each(context, hosts, rollout));
      } finally {
        ssh.close();
        parts.remove();
      }
    },
  });
}

function destinations(context: Context, args: readonly string[], options: Options): Destination[] {
  const { hosts: list, name } = options;
  const named = args.map((text) => {
    const read = parseDestination(text, name ?? null);
    if (!read.ok) throw usage(read.error);
    return read.value;
  });
  const listed = list === undefined ? [] : readHosts(path.resolve(context.cwd, list));
  const all = [...named, ...listed];
  const twice = all.find(({ ssh }, at) =>
    all.some((other, also) => also < at && other.ssh === ssh),
  );
  if (twice !== undefined) throw usage(`'${twice.ssh}' is there twice`);
  if (all.length === 0) throw usage('there is no machine to add; name some, or give --hosts FILE');
  if (name !== undefined && all.length > 1)
    throw usage('--name is for one machine; there are several');
  return all;
}

async function each(
  context: Context,
  hosts: readonly Destination[],
  rollout: Omit<Rollout, 'tell'>,
): Promise<number> {
  const line = new StatusLine(context, () => performance.now());
  const now = new Map<string, string>();
  const show = (): void => line.show([...now].map(([one, said]) => `${one}: ${said}`).join(' · '));
  const tell = (host: string, what: string): void => {
    now.set(host, what);
    show();
  };
  const ticking = setInterval(show, TELL_MS);
  const waiting = [...hosts];
  let failed = 0;
  const work = async (): Promise<void> => {
    for (let host = waiting.shift(); host !== undefined; host = waiting.shift()) {
      const outcome = await rollOut(host, { ...rollout, tell });
      now.delete(host.ssh);
      if (outcome.kind === 'failed') failed += 1;
      say(context, host, outcome);
    }
  };
  try {
    await Promise.all(Array.from({ length: Math.min(AT_ONCE, hosts.length) }, work));
  } finally {
    clearInterval(ticking);
    line.close();
  }
  if (failed > 0 && hosts.length > 1)
    context.note(
      `${failed} of ${hosts.length} machines are not up; run the same again when that is mended`,
    );
  return failed > 0 ? 1 : 0;
}

function say(context: Context, { ssh }: Destination, outcome: Outcome): void {
  if (outcome.kind === 'failed') {
    const what = outcome.what.replace(/\.+$/, '');
    context.note(`${ssh}: ${what}${outcome.remedy === '' ? '' : `. ${outcome.remedy}`}`);
    return;
  }
  const { node, plan } = outcome;
  const { cpuCount, memoryBytes } = node.total;
  const was = plan.joins
    ? 'joined'
    : plan.sends.length > 0
      ? 'has this release now'
      : plan.starts
        ? 'started'
        : 'was up already';
  const later =
    plan.service === 'background' && plan.starts
      ? '; nothing starts it again after a reboot (no systemd for root there)'
      : '';
  context.print(
    `${ssh}: node ${node.name} is up, ${cpuCount} cpus, ${formatSize(memoryBytes)} (${was})${later}`,
  );
}
