// What the configuration says of pauses, as an agent is told it.

import type { Config } from '../../../kernel/config/config.ts';
import type { AgentOptions } from '../../../kernel/config/daemon-options.ts';
import type { OptionsPart } from '../../../kernel/config/part.ts';
import type { YieldRules } from '../../../kernel/model/presence.ts';

/** For whoever owns the machine or sits at it. */
export interface PauseOptions {
  /** Longest pause that anybody may ask for. */
  readonly maxMs: number;
  /** Login names that may ask for one. */
  readonly owners: readonly string[];
  /** The agent's own socket, for users of the machine. */
  readonly door: string;
  /** Whether local users find it without knowing where; absent: it is where they look. */
  readonly isAnnounced?: true;
  /** When the node stands aside by itself; absent: never. */
  readonly yield?: YieldOptions;
  /** Where its owner says more of that; absent: nowhere. */
  readonly ownerFile?: OwnerFilePlace;
}

export interface OwnerFilePlace extends Pick<YieldOptions, 'resumeAfterMs' | 'vacateAfterMs'> {
  readonly path: string;
}

/** The rules of `src/kernel/model/presence.ts`, with the hours as they were written. */
export type YieldOptions = Omit<YieldRules, 'hours'> & { readonly hours: string | null };

declare module '../../../kernel/config/daemon-options.ts' {
  interface AgentOptions {
    /** Absent: the defaults. */
    readonly pause?: PauseOptions;
  }
}

/** `door`: the agent's own socket, whether all are told of it, and where its owner's rules are. */
export function pauseOptions(
  config: Config,
  door: Pick<PauseOptions, 'door' | 'isAnnounced' | 'ownerFile'>,
): Pick<AgentOptions, 'pause'> {
  const maxMs = config.optionalNumber('node.pause_max') ?? 0;
  const wish = yieldOptions(config);
  const own = { maxMs, owners: config.texts('node.owners'), ...door };
  return { pause: { ...own, ...(wish === null ? {} : { yield: wish }) } };
}

/** Returns null when nothing is to be looked at, so that there is nothing to stand aside for. */
function yieldOptions(config: Config): YieldOptions | null {
  const idleBelowMs = config.optionalNumber('node.yield.idle_below');
  const sessions = config.flag('node.yield.sessions');
  const loadAbove = config.optionalNumber('node.yield.load_above');
  const hours = config.text('node.yield.hours');
  const gpus = config.flag('node.yield.gpus');
  const isAsked = sessions || gpus || idleBelowMs !== null || loadAbove !== null || hours !== null;
  if (!isAsked) return null;
  return {
    idleBelowMs,
    sessions,
    loadAbove,
    ...(gpus ? { gpus } : {}),
    hours,
    ...times(config),
  };
}

function times(config: Config): Pick<YieldOptions, 'resumeAfterMs' | 'vacateAfterMs'> {
  return {
    resumeAfterMs: config.optionalNumber('node.yield.resume_after') ?? 0,
    vacateAfterMs: config.optionalNumber('node.yield.vacate_after'),
  };
}

/** A cluster of `weft up` is one user's, and has no other owner. */
function ownerFile(config: Config, isJoined: boolean): Pick<PauseOptions, 'ownerFile'> {
  const path = config.text('node.owner_file');
  return path === null || !isJoined ? {} : { ownerFile: { path, ...times(config) } };
}

/** What every agent is told. */
export const options: OptionsPart = {
  agent: (config, { door, isJoined }) =>
    pauseOptions(config, {
      ...(isJoined ? { door, isAnnounced: true } : { door }),
      ...ownerFile(config, isJoined),
    }),
};
