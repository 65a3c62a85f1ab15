// Commands of Slurm of which nothing is here: each says so in one line, and what to type instead.

import { usage } from '../../../kernel/model/failure.ts';
import { speaking } from './speaking.ts';

const INSTEAD = {
  sdiag: 'See `weft top`, `weft status`, and /metrics of the head.',
  sreport: 'See `weft usage` and `weft report`.',
  sbcast: 'Say --in FILE to `weft submit`, or use a folder that nodes share.',
  strigger: 'Say --notify to `weft submit`, or `weft goal`.',
  scrontab: 'Use crontab(1) with sbatch in it.',
} as const;

export type Absent = keyof typeof INSTEAD;
export const ABSENT = Object.keys(INSTEAD) as readonly Absent[];

export const absent = (name: Absent) => ({
  summary: `Says that there is no ${name} here.`,
  verb: speaking(name, async () => {
    throw usage(`${name} is not honoured here`, INSTEAD[name]);
  }),
});
