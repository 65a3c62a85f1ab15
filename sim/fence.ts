// A power switch that answers after a while; what it has switched off is on again later.

import type { CommandEnd, Commands } from '../src/kernel/ports/commands.ts';
import type { Streams } from './chance.ts';
import type { Time } from './clock.ts';
import type { Machine } from './machine.ts';

export interface FenceWorld {
  readonly time: Time;
  readonly streams: Streams;
  readonly machines: () => readonly Machine[];
  /** Share of its tries that succeed. */
  readonly success: number;
  readonly note: (text: string) => void;
}

export function powerSwitch({ time, streams, machines, success, note }: FenceWorld): Commands {
  const run: Commands['run'] = async ({ argv }): Promise<CommandEnd> => {
    const node = argv[0] ?? '';
    const dice = streams.of(node);
    await new Promise<void>((resolve) => time.after(dice.whole(100, 5000), resolve));
    const machine = machines().find(({ name }) => name === node);
    const said = { output: '', errors: '', isThere: () => false };
    if (machine === undefined || !dice.happens(success)) {
      return { succeeded: false, code: 1, how: 'no', ...said };
    }
    note(`${node} is fenced`);
    machine.powerOff(false);
    time.after(dice.whole(1, 20_000), () => machine.powerOn());
    return { succeeded: true, code: 0, how: 'yes', ...said };
  };
  return { run };
}
