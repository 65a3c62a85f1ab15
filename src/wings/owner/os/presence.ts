// The OwnerPresence port: all detectors of this machine. Several look for the same, because each of
// them is blind somewhere.

import type { Clock } from '../../../kernel/ports/clock.ts';
import type { OwnerPresence, Sign } from '../ports/presence.ts';
import { type Detector, namesIn } from './detector.ts';
import { foreignLoad } from './foreign-load.ts';
import { inputDevices } from './input-devices.ts';
import { interrupts } from './interrupts.ts';
import { logind } from './logind.ts';
import { ProcessTable } from './processes.ts';
import { terminals } from './terminals.ts';
import { utmp } from './utmp.ts';

/** The nodes of one process ask one after the other, and are given the same answer. */
const FRESH_MS = 500;

export function systemPresence(clock: Pick<Clock, 'now' | 'monotonic'>): OwnerPresence {
  return presenceOf(systemDetectors(), clock);
}

function systemDetectors(): Detector[] {
  const table = new ProcessTable();
  const ours = (): Set<number> => {
    const all = [...table.read().values()].filter(({ isOurs }) => isOurs);
    return new Set(all.map(({ terminal }) => terminal));
  };
  return [
    inputDevices(),
    interrupts(),
    terminals({ directory: '/dev', ours }),
    displays(),
    logind(),
    utmp(),
    foreignLoad(() => table.read()),
  ];
}

export function presenceOf(
  detectors: readonly Detector[],
  clock: Pick<Clock, 'now' | 'monotonic'>,
): OwnerPresence {
  let last: { readonly key: string; readonly at: number; readonly signs: Sign[] } | null = null;
  return {
    look(wanted) {
      const now = { at: clock.now(), monotonic: clock.monotonic() };
      const key = [...wanted].sort().join();
      if (last?.key === key && now.monotonic - last.at < FRESH_MS) return last.signs;
      const asked = detectors.filter((one) => wanted.has(one.of));
      last = { key, at: now.monotonic, signs: asked.flatMap((one) => one.look(now)) };
      return last.signs;
    },
    close() {
      for (const one of detectors) one.close?.();
    },
  };
}

/**
 * X displays of this machine. Who types there only the X server knows, and it answers nobody but
 * the user of the session: a helper in the session tells (docs/pause.md). Until it does this is
 * blind.
 */
export function displays(directory = '/tmp/.X11-unix'): Detector {
  return {
    of: 'input',
    look() {
      const names = namesIn(directory).filter((name) => /^X\d+$/.test(name));
      return names.map((name) => {
        const display = `:${name.slice(1)}`;
        const why = 'no `weft node watch-session` reports from it; its users can start one';
        return { kind: 'blind', by: `display ${display}`, of: 'input', why } as const;
      });
    },
  };
}
