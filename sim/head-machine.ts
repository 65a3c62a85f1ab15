// The machine of simulated heads: that of real ones.

import { loadMachine } from '../src/bin/machine.ts';

export const HEAD_MACHINE = await loadMachine();
