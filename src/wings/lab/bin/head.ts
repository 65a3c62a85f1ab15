// The wing in the program of a head.

import { statfsSync } from 'node:fs';
import type { HeadPart } from '../../../kernel/head/part.ts';
import { systemClock } from '../../../kernel/os/clock.ts';
import type { HeadProgram } from '../../../kernel/wing.ts';
import { type HistoryOptions, historyOptions } from '../config/history-options.ts';
import { Retention } from '../head/retention.ts';
import { type Disk, handlers, measure, Room } from '../head/room.ts';

/** For a head whose options were written before there was a limit. */
const ALL: HistoryOptions = { keepMs: null, jobsMax: null };

export function headOf({ options, onReload }: HeadProgram): HeadPart {
  let rule = options.history ?? ALL;
  let retention: Retention | null = null;
  const room = new Room(systemClock, () => diskOf(options.directory));
  onReload((config) => {
    const changed = historyOptions(config);
    return () => {
      rule = changed;
      retention?.change(changed);
    };
  });
  return {
    handlers,
    measure,
    openListeners: () => ({ services: { room } }),
    begin({ engine, clock, log }) {
      const old = new Retention(rule, { store: engine.store, clock, log });
      retention = old;
      return {
        tick() {
          old.tick();
          room.tick();
        },
      };
    },
  };
}

function diskOf(directory: string): Disk | null {
  try {
    const { bavail, blocks, bsize } = statfsSync(directory);
    return { freeBytes: bavail * bsize, totalBytes: blocks * bsize };
  } catch {
    return null;
  }
}
