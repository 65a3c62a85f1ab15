// The options of a gateway, from its configuration.

import path from 'node:path';
import type { Config } from '../../../kernel/config/config.ts';
import type { AgentOptions } from '../../../kernel/config/daemon-options.ts';
import type { OptionsPart } from '../../../kernel/config/part.ts';
import type { SiteSystem } from '../../../kernel/model/site.ts';

export interface SiteOptions {
  readonly system: SiteSystem;
  readonly mode: 'submit' | 'steer';
  readonly takeover: 'execution_queue' | 'disabled_scheduler';
  /** Where users of the site submit to. */
  readonly main: string;
  readonly execution: string;
  readonly ticket: string;
  readonly environment: string | null;
  readonly spread: readonly string[];
  /** Words that start what drives a `script`, `weft` or `slurmrestd` site. */
  readonly program: readonly string[];
  /** Where slurmrestd is. */
  readonly url: string | null;
  /** The node of the site that this agent stands for; absent: it is the gateway itself. */
  readonly member?: string;
  readonly queue: string | null;
  readonly account: string | null;
  readonly options: readonly string[];
  /** Words before each command. */
  readonly before: readonly string[];
  /** The file of its filters; null: none. */
  readonly filters: string | null;
  readonly pollMs: number;
  readonly timeoutMs: number;
  readonly commandsMax: number;
}

declare module '../../../kernel/config/daemon-options.ts' {
  interface AgentOptions {
    /** Another cluster runs its tasks; absent: this machine does. */
    readonly site?: SiteOptions;
  }
}

export function siteOptions(config: Config): Pick<AgentOptions, 'site'> {
  const system = config.text('site.system');
  if (system === null) return {};
  return {
    site: {
      system: system as SiteSystem,
      mode: config.text('site.mode') === 'steer' ? 'steer' : 'submit',
      takeover: config.text('site.takeover') as 'execution_queue' | 'disabled_scheduler',
      main: config.text('site.main') ?? '',
      execution: config.text('site.execution') ?? '',
      ticket: config.text('site.ticket') ?? '',
      environment: config.text('site.environment'),
      spread: config.texts('site.spread'),
      program: config.texts('site.program'),
      url: config.text('site.url'),
      queue: config.text('site.queue'),
      account: config.text('site.account'),
      options: config.texts('site.options'),
      before: config.texts('site.before'),
      filters: filtersFile(config),
      pollMs: config.number('site.poll'),
      timeoutMs: config.number('site.timeout'),
      commandsMax: config.number('site.commands'),
    },
  };
}

/** Returns null when it has none. Beside the configuration, where it is not absolute. */
function filtersFile(config: Config): string | null {
  const name = config.text('site.filters');
  if (name === null) return null;
  const [beside = ''] = (config.origin.file ?? config.file ?? '').split(' and ');
  return path.resolve(path.dirname(beside), name);
}

/** What agents are told that joined: the nodes of `weft up` are no gateways. */
export const options: OptionsPart = {
  agent: (config, { isJoined }) => (isJoined ? siteOptions(config) : {}),
};
