// The configurations that `weft init --template` knows, by what kind of cluster they are for.

import type { Template } from '../../../../kernel/cli/template.ts';
import { classroom } from './classroom.ts';
import { forLab } from './lab.ts';
import { slurmFront } from './slurm-front.ts';
import { workstation } from './workstation.ts';

export const TEMPLATES: readonly Template[] = [workstation, forLab, classroom, slurmFront];
