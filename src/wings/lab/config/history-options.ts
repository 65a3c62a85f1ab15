// What the configuration says of the history.

import type { Config } from '../../../kernel/config/config.ts';
import type { OptionsPart } from '../../../kernel/config/part.ts';

export interface HistoryOptions {
  /** Null: for ever. */
  readonly keepMs: number | null;
  /** Null: any number. */
  readonly jobsMax: number | null;
  /** What goes is written to a file first. */
  readonly exports?: boolean;
}

declare module '../../../kernel/config/daemon-options.ts' {
  interface HeadOptions {
    /** How long accounting records stay, and how many. */
    readonly history?: HistoryOptions;
  }
}

export function historyOptions(config: Config): HistoryOptions {
  return {
    keepMs: config.optionalNumber('history.keep'),
    jobsMax: config.optionalNumber('history.jobs'),
    exports: config.flag('history.export'),
  };
}

export const options: OptionsPart = { head: (config) => ({ history: historyOptions(config) }) };
