// `weft upgrade --check`: what this release, installed beside the one that runs, will find.

import { existsSync } from 'node:fs';
import path from 'node:path';
import type { NodeView } from '../../../kernel/api/nodes.ts';
import type { Context } from '../../../kernel/cli/context.ts';
import { LocalPaths, SERVICES } from '../../../kernel/cli/daemons/local-paths.ts';
import { printFindings } from '../../../kernel/cli/doctor/print.ts';
import { defineVerb } from '../../../kernel/cli/verb.ts';
import { VERSION } from '../../../kernel/cli/version.ts';
import { Failure, usage } from '../../../kernel/model/failure.ts';
import { type NodeRelease, type Parts, upgradeFindings } from '../core/upgrade/findings.ts';

export const verb = defineVerb<{ check?: boolean; output?: string }>({
  define(command) {
    command.option('--check', 'look at all parts and at the records of the head; change nothing');
    command.option('-o, --output <format>', 'json');
  },
  async run({ context, options: { check = false, output } }) {
    if (!check) {
      const hint = 'Look first: weft upgrade --check. Then docs/install.md, Upgrading.';
      throw usage('an upgrade is an installation: this command looks what it will find', hint);
    }
    const { programs } = context;
    const folder = headFolder(context);
    const journals = await programs.readJournals(agentFolder(context));
    // A machine that is only a node has no records.
    const isNode = journals.length > 0 && !existsSync(path.join(folder, 'weft.db'));
    const store = isNode ? null : { folder, reading: await programs.readStore(folder) };
    const parts = { own: VERSION, head: await runningParts(context), store, journals };
    return printFindings(context, upgradeFindings(parts), output);
  },
});

/** The one that was named; else the user's own cluster, where there is one; else the machine's. */
function headFolder(context: Context): string {
  const own = new LocalPaths(context.directory).head;
  if (context.isNamed || existsSync(own) || !existsSync(SERVICES.head)) return own;
  return new LocalPaths(SERVICES.head).head;
}

function agentFolder(context: Context): string {
  const { directory } = context;
  const isOwn = context.isNamed || existsSync(new LocalPaths(directory).head);
  return isOwn || !existsSync(SERVICES.node) ? directory : SERVICES.node;
}

async function runningParts(context: Context): Promise<Parts['head']> {
  try {
    const api = await context.api();
    const { version } = await api.call('info');
    const { nodes } = await api.call('listNodes');
    return { version, nodes: nodes.map(releaseOf) };
  } catch (error) {
    // Also one that takes whoever asks for nobody: what it runs is not told then.
    if (!(error instanceof Failure)) throw error;
    context.note(error.message);
    return null;
  }
}

function releaseOf({ name, facts, running }: NodeView): NodeRelease {
  const version = facts?.['agentVersion'];
  return {
    name,
    version: typeof version === 'string' ? version : null,
    tasks: running.length,
  };
}
