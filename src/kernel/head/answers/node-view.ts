// Nodes as the API shows them.

import type { NodeView } from '../../api/nodes.ts';
import { formatInstant } from '../../base/instant.ts';
import { plural } from '../../base/plural.ts';
import { formatSize } from '../../base/size.ts';
import { freeOf, gpusUnusable } from '../../machine/nodes/cards.ts';
import type { Node } from '../../machine/nodes/facts.ts';
import { cloneWords } from '../../machine/nodes/machine.ts';
import { labelsOf } from '../../machine/nodes/view.ts';
import type { State } from '../../machine/state.ts';
import type { NodeFacts } from '../../model/node.ts';
import { withoutFeatures } from '../../model/node-features.ts';
import { pauseWords } from '../../model/pause.ts';
import type { Presence } from '../../model/presence.ts';
import type { Resources } from '../../model/resources.ts';
import type { NodeLoad } from '../../wire/messages.ts';
import { gpusOf } from './gpu-view.ts';
import { maintenanceOfNode } from './maintenance-view.ts';
import { unlookedWords } from './words/nodes.ts';

/** What only a connected node's session knows. */
export interface Live {
  readonly load: NodeLoad | null;
  readonly clockOffsetMs: number | null;
  readonly presence: readonly Presence[] | null;
  /** When it said something last. */
  readonly heardAt: number;
}

export function viewNode(state: State, node: Node, live: Live): NodeView {
  const { load, clockOffsetMs, presence, heardAt } = live;
  const maintenance = maintenanceOfNode(state, node.name);
  const unusable = gpusUnusable(node);
  return {
    name: node.name,
    state: nodeState(node),
    drained: node.drain === null ? null : { ...node.drain },
    fault: node.clones.length > 0 ? 'cloned' : node.fault,
    paused: node.pausing.now === null ? null : { ...node.pausing.now },
    pauseWanted: node.pausing.wish !== null,
    presence: presence?.map((one) => ({ ...one })) ?? null,
    gpus: gpusOf(node),
    maintenance,
    reason: reasonOf(state, node, maintenance),
    total: copyOf(node.total),
    free: copyOf(freeOf(node)),
    ...(unusable > 0 && { gpusUnusable: unusable }),
    declared: node.declared === null ? null : copyOf(node.declared),
    labels: withoutFeatures(labelsOf(node)).sort(),
    sharedPaths: [...node.sharedPaths],
    running: [...node.holding.values()]
      .filter(({ next }) => next === null)
      .map(({ epochId }) => epochId),
    unreachableSince: node.unreachableSince,
    // The journal keeps when it connected, not each word that it says since.
    lastSeenAt: node.connected ? Math.max(heardAt, node.lastSeenAt ?? 0) : node.lastSeenAt,
    ...(node.connected && node.lastSeenAt !== null ? { connectedAt: node.lastSeenAt } : {}),
    load: load === null ? null : { ...load },
    clockOffsetMs: clockOffsetMs === null ? null : Math.round(clockOffsetMs),
    facts: node.facts === null ? null : factsOf(node.facts, node.name),
    bootId: node.bootId === '' ? null : node.bootId,
    session: node.session,
  };
}

/** Largest nodes of a site in words: `32 cpus 64 GiB, 8 cpus 512 GiB`. */
function factsOf(
  { sizes, siteSkills: _, takesFrom, ...own }: NodeFacts,
  name: string,
): NodeView['facts'] {
  const users = takesFrom?.join(', ') || 'nobody';
  const facts = takesFrom === undefined ? own : { ...own, takesJobsOf: users };

  if (facts.site !== undefined && facts.site !== name) {
    // The rest is of the machine of its gateway.
    const { agentVersion, site, switchesUser, user } = facts;
    return { agentVersion, site, switchesUser, user };
  }
  if (sizes === undefined) return facts;
  const words = sizes.map(({ cpuCount, memoryBytes }) => {
    const cpus = plural(cpuCount, 'cpu');
    return memoryBytes === null ? cpus : `${cpus} ${formatSize(memoryBytes)}`;
  });
  return { ...facts, largestNodes: words.join(', ') };
}

export function nodeState(node: Node): NodeView['state'] {
  if (node.connected) return 'up';
  if (node.session === 0) return 'never_seen';
  return node.unreachableSince === null ? 'away' : 'unreachable';
}

function reasonOf(
  { scratch }: State,
  node: Node,
  maintenance: NodeView['maintenance'],
): string | null {
  const state = nodeState(node);
  const reasons: string[] = [];
  if (maintenance?.begun === true) {
    const { id, until, reason } = maintenance;
    reasons.push(`maintenance ${id} until ${formatInstant(until)}: ${reason}`);
  }
  if (state === 'never_seen') reasons.push('its agent has never connected');
  if (state === 'away') reasons.push('its agent is not connected');
  if (state === 'unreachable' && node.unreachableSince !== null) {
    reasons.push(`unreachable since ${formatInstant(node.unreachableSince)}`);
  }
  const cloned = cloneWords(node);
  if (cloned !== null) reasons.push(`${cloned}; none gets work until that is settled`);
  if (node.fault !== null) reasons.push(`${node.fault}; no new work until that ends`);
  if (node.pausing.now !== null) reasons.push(pauseWords(node.pausing.now));
  const unlooked = node.connected ? scratch.unlooked.get(node.name) : undefined;
  if (unlooked !== undefined) reasons.push(unlookedWords(unlooked.site));
  if (node.drain !== null) reasons.push(`drained by ${node.drain.by}: ${node.drain.reason}`);
  return reasons.length === 0 ? null : reasons.join('; ');
}

export function copyOf(resources: Resources): NodeView['total'] {
  return { ...resources, counted: { ...resources.counted } };
}
