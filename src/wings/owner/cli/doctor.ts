// Whether the nodes of this machine would notice that somebody uses it: what each of their
// detectors saw, and which of them cannot see.

import type { Context } from '../../../kernel/cli/context.ts';
import type { Finding } from '../../../kernel/cli/doctor/finding.ts';
import { presenceLine } from '../../../kernel/cli/nodes/presence-words.ts';
import { Failure } from '../../../kernel/model/failure.ts';
import { readOwnerFile } from '../config/owner-file.ts';
import { type LocalNode, localNodes, statusOfNode } from './agent-sockets.ts';

export async function ownerPresence(context: Context): Promise<Finding[]> {
  const found = await ownerFile(context);
  for (const node of localNodes(context)) found.push(...(await ofNode(node)));
  if (found.length > 0) return found;
  return [{ state: 'ok', text: 'no agent of a node is on this machine' }];
}

/** The owner finds out here what is wrong with what was written. */
async function ownerFile(context: Context): Promise<Finding[]> {
  const path = (await context.configOrDefaults()).text('node.owner_file');
  if (path === null) return [];
  const { rules, problem } = readOwnerFile(path);
  const remedy = 'Mend the file; until then its node takes no new work. docs/pause.md explains it.';
  if (problem !== null) return [{ state: 'bad', text: problem, remedy }];
  return rules === null ? [] : [{ state: 'ok', text: `${path} is followed` }];
}

async function ofNode(node: LocalNode): Promise<Finding[]> {
  try {
    const { presence } = await statusOfNode(node);
    if (presence === null) {
      return [{ state: 'ok', text: `node ${node.name} does not look (node.yield is not set)` }];
    }
    return presence.map((one) => ({
      state: one.state === 'blind' ? 'note' : 'ok',
      text: `node ${node.name}: ${presenceLine(one, Date.now())}`,
    }));
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return [{ state: 'note', text: error.message }];
  }
}
