// `weft batch …`: jobs that are described in one file together with their files.

import type { VerbGroup } from '../../../kernel/cli/verb.ts';
import { check } from './check.ts';
import { cancel, rebuild, remove, retry } from './cluster/act.ts';
import { list } from './cluster/list.ts';
import { logs } from './cluster/logs.ts';
import { pull } from './cluster/pull.ts';
import { show } from './cluster/show.ts';
import { submit } from './cluster/submit.ts';
import { wait } from './cluster/wait.ts';
import { exportBatch } from './export.ts';
import { run } from './run.ts';
import { template } from './template.ts';

export const verb: VerbGroup = {
  verbs: {
    template: { summary: 'print a batch file to begin with', verb: template },
    check: { summary: 'say what is wrong with a batch file, and what it comes to', verb: check },
    submit: { summary: 'submit a batch to the cluster, with its files', verb: submit },
    list: { summary: 'list the batches of the cluster', verb: list },
    show: { summary: 'show a batch and its jobs', verb: show },
    wait: { summary: 'wait until batches are over', verb: wait },
    logs: { summary: 'show what a job of a batch has printed', verb: logs },
    pull: { summary: 'fetch what the jobs of a batch have left', verb: pull },
    cancel: { summary: 'cancel what waits and runs of batches', verb: cancel },
    retry: { summary: 'run again what did not complete of batches', verb: retry },
    rebuild: { summary: 'build the solver of batches anew', verb: rebuild },
    remove: { summary: 'forget batches that are over', verb: remove },
    run: { summary: 'run a batch on this machine, without a cluster', verb: run },
    export: { summary: 'write a folder that Slurm runs', verb: exportBatch },
  },
};
