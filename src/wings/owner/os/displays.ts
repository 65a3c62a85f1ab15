// X displays of this machine. Who types there only the X server knows, and it answers nobody but
// the user of the session: a helper in the session tells (docs/pause.md). Until it does this is
// blind.

import { type Detector, namesIn } from './detector.ts';

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
