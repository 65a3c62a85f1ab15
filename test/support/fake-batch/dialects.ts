// The systems that the fake speaks for.

import type { Dialect } from './dialect.ts';
import { HTCONDOR } from './htcondor.ts';
import { PBS } from './pbs.ts';

export const DIALECTS: Readonly<Record<string, Dialect>> = { pbs: PBS, htcondor: HTCONDOR };
