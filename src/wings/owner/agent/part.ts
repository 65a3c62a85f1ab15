// The owner of a machine, beside the agent of its node: who uses the machine is looked for, and a
// listener lets whoever may pause the node.

import type { AgentInside, AgentPart } from '../../../kernel/agent/part.ts';
import type { OwnerFile, OwnerRules } from '../model/owner-file.ts';
import type { Link, PauseListener } from './listener/pause-listener.ts';
import { OwnerRulesWatch } from './owner-rules-watch.ts';
import { type YieldSettings, YieldWatch } from './yield-watch.ts';

export interface OwnerOptions {
  /** When the node stands aside by itself; null: never. */
  readonly yielding: YieldSettings | null;
  /** What its owner says of it; absent: the owner has no file. */
  readonly rules?: OwnersWord | undefined;
  /** Longest pause that anybody may ask for; absent: the default. */
  readonly pauseMaxMs?: number | undefined;
  /** Lets owners in. Never rejects; absent: the node has no listener. */
  readonly open?: (
    agent: AgentInside,
    watch: YieldWatch,
    link: Link,
  ) => Promise<readonly PauseListener[]>;
}

export interface OwnersWord {
  readonly read: () => OwnerFile;
  /** The node's settings, with what the owner says on top of them. */
  readonly over: (rules: OwnerRules) => YieldSettings | null;
}

export function ownerPart({ yielding, rules, pauseMaxMs, open }: OwnerOptions): AgentPart {
  return {
    ...(pauseMaxMs === undefined ? {} : { pauseMaxMs }),
    accompany: (agent) => {
      const { clock, log } = agent.ports;
      const own =
        rules && new OwnerRulesWatch({ clock, log, read: rules.read, onChange: agent.introduce });
      const watch = new YieldWatch({
        clock,
        log,
        pausing: agent.pausing,
        settings: () => (own?.rules ? (rules?.over(own.rules) ?? null) : yielding),
        mayChange: own !== undefined,
        isUnknown: () => own?.isUnknown === true,
        gpus: () => agent.gpus(),
        onChange: agent.sayAlive,
      });
      const link = { isConnected: false };
      let opening: Promise<readonly PauseListener[]> | undefined;
      return {
        begin: () => {
          own?.start();
          watch.start();
          opening = open?.(agent, watch, link);
        },
        presence: () => watch.presence,
        kept: () => own?.kept ?? null,
        greeted: () => {
          link.isConnected = true;
        },
        parted: () => {
          link.isConnected = false;
        },
        close: async () => {
          await Promise.all(((await opening) ?? []).map((one) => one.close()));
        },
        stop: () => {
          own?.stop();
          watch.stop();
        },
      };
    },
  };
}
