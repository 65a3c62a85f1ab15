// The one list of wings. Without its line and its folder a wing is gone, and the rest works.

import type { Wing } from './kernel/wing.ts';
import { backups } from './wings/backups/wing.ts';
import { batches } from './wings/batches/wing.ts';
import { calls } from './wings/calls/wing.ts';
import { cm } from './wings/cm/wing.ts';
import { distribute } from './wings/distribute/wing.ts';
import { goals } from './wings/goals/wing.ts';
import { gpus } from './wings/gpus/wing.ts';
import { lab } from './wings/lab/wing.ts';
import { logins } from './wings/logins/wing.ts';
import { manual } from './wings/manual/wing.ts';
import { mcp } from './wings/mcp/wing.ts';
import { mpi } from './wings/mpi/wing.ts';
import { notices } from './wings/notices/wing.ts';
import { notify } from './wings/notify/wing.ts';
import { owner } from './wings/owner/wing.ts';
import { pilots } from './wings/pilots/wing.ts';
import { replay } from './wings/replay/wing.ts';
import { rollout } from './wings/rollout/wing.ts';
import { samples } from './wings/samples/wing.ts';
import { sites } from './wings/sites/wing.ts';
import { slurm } from './wings/slurm/wing.ts';
import { steps } from './wings/steps/wing.ts';
import { wiki } from './wings/wiki/wing.ts';

// Once more, as the declarations of this file keep these: wings add to types of the kernel.
import './wings/backups/wing.ts';
import './wings/batches/wing.ts';
import './wings/calls/wing.ts';
import './wings/cm/wing.ts';
import './wings/distribute/wing.ts';
import './wings/goals/wing.ts';
import './wings/mcp/wing.ts';
import './wings/gpus/wing.ts';
import './wings/lab/wing.ts';
import './wings/logins/wing.ts';
import './wings/mpi/wing.ts';
import './wings/manual/wing.ts';
import './wings/notices/wing.ts';
import './wings/notify/wing.ts';
import './wings/owner/wing.ts';
import './wings/pilots/wing.ts';
import './wings/replay/wing.ts';
import './wings/rollout/wing.ts';
import './wings/samples/wing.ts';
import './wings/sites/wing.ts';
import './wings/slurm/wing.ts';
import './wings/steps/wing.ts';
import './wings/wiki/wing.ts';

/** In the order in which their hooks are asked. */
export const WINGS: readonly Wing[] = [
  batches,
  calls,
  pilots,
  notices,
  manual,
  notify,
  owner,
  sites,
  goals,
  wiki,
  mpi,
  gpus,
  samples,
  replay,
  backups,
  rollout,
  lab,
  logins,
  mcp,
  steps,
  slurm,
  cm,
  distribute,
];
