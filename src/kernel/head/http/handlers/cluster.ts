// The cluster as a whole, and whether its head lives.

import { availableParallelism, freemem, hostname, loadavg, totalmem, userInfo } from 'node:os';
import { nameOfBareUid } from '../../../base/account-name.ts';
import { err, ok } from '../../../base/result.ts';
import { capsOf } from '../../../machine/caps.ts';
import { numbersIn } from '../../../model/caps.ts';
import { refuse } from '../../../model/errors.ts';
import { PROTOCOL_VERSION } from '../../../wire/messages.ts';
import { nodeState } from '../../answers/node-view.ts';
import { clusterResources, countJobs, roomOf } from '../../answers/overview.ts';
import { unmetTypes } from '../../answers/unmet-types.ts';
import type { Handler } from '../call.ts';
import type { Services } from '../services.ts';

export const info: Handler<'info'> = ({ engine, facts, archive, answerParts }, { actor }) => {
  const { state, settings } = engine;
  const nodes = [...state.nodes.values()];
  const { clusterName, version, multiUser } = facts;
  return ok({
    clusterName,
    version,
    protocol: PROTOCOL_VERSION,
    multiUser,
    ...countJobs(state),
    nodes: countBy(nodes.map(nodeState)),
    ...roomOf(state),
    resources: clusterResources(engine),
    losses: state.losses.map(({ given, ...loss }) => ({ jobIdTo: given.nextJobId - 1, ...loss })),
    obstacle: engine.obstacle,
    behind: engine.behind,
    copied: state.copied,
    clockSteps: state.clockSteps.map(({ at, byMs }) => ({ at, byMs })),
    onNodeLoss: settings.defaults.onNodeLoss ?? null,
    ownCaps: numbersIn(capsOf(state, settings.scheduling, actor.name)),
    settingsNotes: [
      ...unmetTypes(state, settings.scheduling),
      ...answerParts.flatMap((part) => part.settingsNotes?.(settings) ?? []),
    ],
    archive: { bytes: archive.bytes, bytesMax: archive.bytesMax, next: archive.next },
    head: headFacts({ engine, facts }),
  });
};

function headFacts({ engine, facts }: Pick<Services, 'engine' | 'facts'>) {
  return {
    hostname: hostname(),
    fingerprint: facts.fingerprint,
    certificateUntil: facts.certificateUntil,
    addresses: [...facts.addresses],
    pid: process.pid,
    user: loginName(),
    nodeVersion: process.versions.node,
    startedAt: engine.startedAt,
    cpuCount: facts.capacity.cpuCount ?? availableParallelism(),
    memoryBytes: facts.capacity.memoryBytes ?? memoryHere(),
    memoryFreeBytes: freemem(),
    load1: loadavg()[0] ?? 0,
    residentBytes: process.memoryUsage.rss(),
    seq: engine.seq,
    now: engine.now(),
  };
}

/** What the head's control group leaves it. Node says 0 when it does not know. */
function memoryHere(): number {
  return Math.min(totalmem(), process.constrainedMemory() || totalmem());
}

function loginName(): string {
  try {
    return userInfo().username;
  } catch {
    return nameOfBareUid(process.getuid?.() ?? 0);
  }
}

export const health: Handler<'health'> = () => ok({ status: 'ok' });

/** A head whose store cannot write accepts nothing. */
export const readiness: Handler<'readiness'> = ({ engine }) => {
  const cause = engine.failure ?? engine.shortage;
  return cause === null ? ok({ status: 'ok' }) : err(refuse('store.unavailable', { cause }));
};

export const openapi: Handler<'openapi'> = ({ document }) => ok(document());

export function countBy(words: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const word of words) counts[word] = (counts[word] ?? 0) + 1;
  return counts;
}
