// The owner of a machine, beside the agent of its node: who uses the machine is looked for, and a
// listener lets whoever may pause the node.

import type { AgentInside, AgentPart } from '../../../kernel/agent/part.ts';
import type { Link, PauseListener } from './listener/pause-listener.ts';
import { type YieldSettings, YieldWatch } from './yield-watch.ts';

export interface OwnerOptions {
  /** When the node stands aside by itself; null: never. */
  readonly yielding: YieldSettings | null;
  /** Longest pause that anybody may ask for; absent: the default. */
  readonly pauseMaxMs?: number | undefined;
  /** Lets owners in. Never rejects; absent: the node has no listener. */
  readonly open?: (
    agent: AgentInside,
    watch: YieldWatch,
    link: Link,
  ) => Promise<readonly PauseListener[]>;
}

export function ownerPart({ yielding, pauseMaxMs, open }: OwnerOptions): AgentPart {
  return {
    ...(pauseMaxMs === undefined ? {} : { pauseMaxMs }),
    accompany: (agent) => {
      const { clock, log } = agent.ports;
      const watch = new YieldWatch({
        clock,
        log,
        pausing: agent.pausing,
        settings: yielding,
        gpus: () => agent.gpus(),
        onChange: agent.sayAlive,
      });
      const link = { isConnected: false };
      let opening: Promise<readonly PauseListener[]> | undefined;
      return {
        begin: () => {
          watch.start();
          opening = open?.(agent, watch, link);
        },
        presence: () => watch.presence,
        greeted: () => {
          link.isConnected = true;
        },
        parted: () => {
          link.isConnected = false;
        },
        close: async () => {
          await Promise.all(((await opening) ?? []).map((one) => one.close()));
        },
        stop: () => watch.stop(),
      };
    },
  };
}
