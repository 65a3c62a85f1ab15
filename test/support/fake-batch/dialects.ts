// The systems that the fake speaks for.

import { CCS } from './ccs.ts';
import type { Dialect } from './dialect.ts';
import { HTCONDOR } from './htcondor.ts';
import { LOADLEVELER } from './loadleveler.ts';
import { LSF } from './lsf.ts';
import { PBS } from './pbs.ts';

export const DIALECTS: Readonly<Record<string, Dialect>> = {
  pbs: PBS,
  htcondor: HTCONDOR,
  lsf: LSF,
  loadleveler: LOADLEVELER,
  ccs: CCS,
};
