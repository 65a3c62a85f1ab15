// What a wing adds to the options of daemons. They are made from the configuration where a daemon
// is started, which most commands never do.

import type { Settings } from '../model/settings.ts';
import type { Config } from './config.ts';
import type { AgentOptions, HeadOptions } from './daemon-options.ts';

/** Which agent is started. */
export interface AgentPlace {
  /** Where its own socket is, for users of its machine. */
  readonly door: string;
  /** The node joined a cluster of several machines; otherwise it is one of `weft up`. */
  readonly isJoined: boolean;
}

/** Each throws a failure when the configuration is wrong. */
export interface OptionsPart {
  /** What a head is told at its start. */
  head?(config: Config): Partial<HeadOptions>;
  /** What it is told also while it runs. */
  live?(config: Config): Partial<HeadOptions>;
  /** What its decisions depend on. */
  settings?(config: Config): Partial<Settings>;
  agent?(config: Config, place: AgentPlace): Partial<AgentOptions>;
}

/** A wing as whoever starts daemons knows it. */
export interface OptionsWing {
  readonly options?: () => Promise<OptionsPart>;
}

/** The parts of these wings, loaded. */
export function optionsOf(wings: readonly OptionsWing[]): Promise<readonly OptionsPart[]> {
  return Promise.all(wings.flatMap(({ options }) => options?.() ?? []));
}

/** What wings tell an agent. */
export function agentOptionsOf(
  parts: readonly OptionsPart[],
  config: Config,
  place: AgentPlace,
): Partial<AgentOptions> {
  return Object.assign({}, ...parts.map((part) => part.agent?.(config, place)));
}
