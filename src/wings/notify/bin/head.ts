// The wing in the program of a head.

import type { HeadPart } from '../../../kernel/head/part.ts';
import { systemClock } from '../../../kernel/os/clock.ts';
import { systemCommands } from '../../../kernel/os/commands.ts';
import type { HeadProgram } from '../../../kernel/wing.ts';
import { notifyOptions } from '../config/notify-options.ts';
import { notifiersOf } from '../head/notifiers.ts';
import { notifyHead } from '../head/part.ts';

export function headOf({ options, audit, onReload }: HeadProgram): HeadPart {
  if (options.notify === undefined) return {};
  const world = { commands: systemCommands, clock: systemClock };
  const notifiers = notifiersOf(options.notify, world);
  const { change, ...part } = notifyHead({ notifiers, audit, clusterName: options.clusterName });
  onReload((config) => {
    const notify = notifyOptions(config);
    return () => change(notifiersOf(notify, world));
  });
  return part;
}
