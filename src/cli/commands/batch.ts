// `weft batch …`: jobs that are described in one file together with their files.

import { check } from '../batch/check.ts';
import { exportBatch } from '../batch/export.ts';
import { run } from '../batch/run.ts';
import { template } from '../batch/template.ts';
import type { VerbGroup } from '../verb.ts';

export const verb: VerbGroup = {
  verbs: {
    template: { summary: 'print a batch file to begin with', verb: template },
    check: { summary: 'say what is wrong with a batch file, and what it comes to', verb: check },
    run: { summary: 'run a batch on this machine, without a cluster', verb: run },
    export: { summary: 'write a folder that Slurm runs', verb: exportBatch },
  },
};
