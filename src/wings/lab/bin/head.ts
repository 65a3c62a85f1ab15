// The wing in the program of a head.

import type { HeadPart } from '../../../kernel/head/part.ts';
import type { HeadProgram } from '../../../kernel/wing.ts';
import { type HistoryOptions, historyOptions } from '../config/history-options.ts';
import { Retention } from '../head/retention.ts';

/** For a head whose options were written before there was a limit. */
const ALL: HistoryOptions = { keepMs: null, jobsMax: null };

export function headOf({ options, onReload }: HeadProgram): HeadPart {
  let rule = options.history ?? ALL;
  let retention: Retention | null = null;
  onReload((config) => {
    const changed = historyOptions(config);
    return () => {
      rule = changed;
      retention?.change(changed);
    };
  });
  return {
    begin({ engine, clock, log }) {
      retention = new Retention(rule, { store: engine.store, clock, log });
      return retention;
    },
  };
}
