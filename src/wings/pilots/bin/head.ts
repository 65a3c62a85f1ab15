// The wing in the program of a head.

import type { HeadPart } from '../../../kernel/head/part.ts';
import { systemClock } from '../../../kernel/os/clock.ts';
import type { HeadProgram } from '../../../kernel/wing.ts';
import { head } from '../head/part.ts';
import { keepPilots } from './pilots.ts';

export function headOf({ log, onServing, onEnd }: HeadProgram): HeadPart {
  onServing(({ engine }, door) => {
    const pilots = keepPilots({ engine, clock: systemClock, log, door });
    onEnd(() => pilots.close());
  });
  return head;
}
