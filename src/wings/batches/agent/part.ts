// What jobs of batches find on a node, and what becomes of the builds there of their solvers.

import { buildsDirectory } from '../../../kernel/agent/names.ts';
import type {
  AgentInside,
  AgentPart,
  Companion,
  Surroundings,
} from '../../../kernel/agent/part.ts';
import { BuildWatch } from './build-watch.ts';

/** Removes builds that may go, from `begin` on. */
export interface Keeper {
  begin(): void;
  close(): Promise<void>;
}

/** `keeperOf`: for an agent whose tasks these are; absent: builds stay for ever. */
export function batchesPart(keeperOf?: (agent: AgentInside) => Keeper): AgentPart {
  return {
    variables: (of) => ({ ours: batchVariables(of) }),
    accompany: (agent) => companionOf(agent, keeperOf?.(agent)),
  };
}

function companionOf(agent: AgentInside, keeper: Keeper | undefined): Companion {
  const watch = new BuildWatch({
    clock: agent.ports.clock,
    files: agent.ports.files,
    settings: agent.settings,
    onBuilt: (epochId) => agent.step({ kind: 'built', epochId }),
  });
  return {
    adopt: () => watch.adopt(agent.state.epochs.values()),
    started: (epoch) => watch.watch(epoch),
    begin: () => keeper?.begin(),
    close: () => keeper?.close() ?? Promise.resolve(),
    stop: () => watch.stop(),
  };
}

function batchVariables({ order, settings, account }: Surroundings): Record<string, string> {
  const { batch } = order;
  if (batch === undefined) return {};
  if (batch.build === null) return { WEFT_BATCH: batch.title };
  return {
    WEFT_BATCH: batch.title,
    WEFT_BUILDS: buildsDirectory(settings, account.uid),
    WEFT_BUILD: batch.build,
    WEFT_BUILD_ATTEMPT: batch.attempt ?? '',
  };
}
