// The machine of simulated heads: that of real ones.

import './all-wings.ts';
import { loadMachine } from '../src/bin/machine.ts';

export const HEAD_MACHINE = await loadMachine();
