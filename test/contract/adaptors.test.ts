// What every adaptor must do, whatever its system prints. A new system gets a case of its own in
// adaptors/cases and is named here.

import type { AdaptorCase } from './adaptors/case.ts';
import { HTCONDOR } from './adaptors/cases/htcondor.ts';
import { LOADLEVELER } from './adaptors/cases/loadleveler.ts';
import { LSF } from './adaptors/cases/lsf.ts';
import { OAR } from './adaptors/cases/oar.ts';
import { PBS } from './adaptors/cases/pbs.ts';
import { SCRIPT } from './adaptors/cases/script.ts';
import { SGE } from './adaptors/cases/sge.ts';
import { SLURM } from './adaptors/cases/slurm.ts';
import { SLURMRESTD } from './adaptors/cases/slurmrestd.ts';
import { WEFT } from './adaptors/cases/weft.ts';
import { doubts } from './adaptors/doubts.ts';
import { ends } from './adaptors/ends.ts';
import { listings } from './adaptors/listings.ts';
import { orders } from './adaptors/orders.ts';

const CASES: readonly AdaptorCase[] = [SLURM, SGE, OAR, PBS, HTCONDOR, LSF];
/** By programs that are not a batch system's own commands. */
const BY_PROGRAMS: readonly AdaptorCase[] = [SCRIPT, LOADLEVELER, WEFT, SLURMRESTD];

for (const one of [...CASES, ...BY_PROGRAMS]) {
  listings(one);
  ends(one);
  doubts(one);
  orders(one);
}
