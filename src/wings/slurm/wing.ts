// The wing `slurm` as the kernel sees it.

import type { Wing } from '../../kernel/wing.ts';
import type { Absent } from './cli/absent.ts';
import { LINES } from './core/lines.ts';

const absentOne = async (name: Absent) => (await import('./cli/absent.ts')).absent(name);

export const slurm: Wing = {
  name: 'slurm',
  needs: ['steps', 'samples'],
  cli: {
    verbs: [
      {
        group: 'Administration:',
        name: 'front',
        before: 'doctor',
        summary: 'commands that speak Slurm',
        load: () => import('./cli/front-verb.ts'),
      },
    ],
    scripts: {
      '#SBATCH': async (context, script) => {
        const { readScriptLines } = await import('./cli/script-lines.ts');
        return readScriptLines(context, script);
      },
    },
    often: LINES,
    programs: {
      sbatch: () => import('./cli/sbatch.ts'),
      srun: () => import('./cli/srun.ts'),
      salloc: () => import('./cli/salloc.ts'),
      squeue: () => import('./cli/squeue.ts'),
      sinfo: () => import('./cli/sinfo.ts'),
      scancel: () => import('./cli/scancel.ts'),
      sacct: () => import('./cli/sacct.ts'),
      sstat: () => import('./cli/sstat.ts'),
      sattach: () => import('./cli/sattach.ts'),
      scontrol: () => import('./cli/scontrol.ts'),
      sacctmgr: () => import('./cli/sacctmgr.ts'),
      sprio: () => import('./cli/sprio.ts'),
      sshare: () => import('./cli/sshare.ts'),
      sdiag: () => absentOne('sdiag'),
      sreport: () => absentOne('sreport'),
      sbcast: () => absentOne('sbcast'),
      strigger: () => absentOne('strigger'),
      scrontab: () => absentOne('scrontab'),
    },
  },
  agent: async () => {
    const { part } = await import('./agent/part.ts');
    return () => part;
  },
};
