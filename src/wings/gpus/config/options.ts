// What the configuration says of gpus, as an agent is told it.

import type { AgentOptions } from '../../../kernel/config/daemon-options.ts';
import type { OptionsPart } from '../../../kernel/config/part.ts';

export interface GpuOptions {
  /** Which of the machine's; null: any. */
  readonly only: readonly string[] | null;
  readonly outsideBytesMin: number;
  readonly freeAfterMs: number;
  readonly everyMs: number;
  /** Program that lists further devices; null: none. */
  readonly devices: string | null;
}

/** What counts where the options of an older release say nothing. */
export const DEFAULTS: GpuOptions = {
  only: null,
  outsideBytesMin: 2 ** 30,
  freeAfterMs: 60_000,
  everyMs: 10_000,
  devices: null,
};

declare module '../../../kernel/config/daemon-options.ts' {
  interface AgentOptions {
    /** Absent: the defaults. */
    readonly gpus?: GpuOptions;
  }
}

/** What every agent is told. */
export const options: OptionsPart = {
  agent: (config): Pick<AgentOptions, 'gpus'> => {
    const only = config.texts('node.gpu_cards');
    const number = (name: string, usual: number): number => config.optionalNumber(name) ?? usual;
    return {
      gpus: {
        only: only.length === 0 ? null : only,
        outsideBytesMin: number('node.gpu_outside_memory', DEFAULTS.outsideBytesMin),
        freeAfterMs: number('node.gpu_free_after', DEFAULTS.freeAfterMs),
        everyMs: number('node.gpu_look_every', DEFAULTS.everyMs),
        devices: config.text('node.devices'),
      },
    };
  },
};
