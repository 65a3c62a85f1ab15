// The page of the commands that speak Slurm: what they honour, from the tables that parse.

import { ACCOUNT_OPTIONS } from '../../src/wings/slurm/cli/sacct.ts';
import { MANAGER_OPTIONS } from '../../src/wings/slurm/cli/sacctmgr.ts';
import { ALLOCATION_OPTIONS } from '../../src/wings/slurm/cli/salloc.ts';
import { CANCEL_OPTIONS } from '../../src/wings/slurm/cli/scancel.ts';
import { CONTROL_OPTIONS } from '../../src/wings/slurm/cli/scontrol.ts';
import { INFO_OPTIONS } from '../../src/wings/slurm/cli/sinfo.ts';
import { PRIORITY_OPTIONS } from '../../src/wings/slurm/cli/sprio.ts';
import { QUEUE_OPTIONS } from '../../src/wings/slurm/cli/squeue.ts';
import { STEP_OPTIONS } from '../../src/wings/slurm/cli/srun.ts';
import { SHARE_OPTIONS } from '../../src/wings/slurm/cli/sshare.ts';
import { USE_OPTIONS } from '../../src/wings/slurm/cli/sstat.ts';
import { BATCH_OPTIONS } from '../../src/wings/slurm/core/batch-options.ts';
import type { OptionRow } from '../../src/wings/slurm/core/option-table.ts';

const INTRO = `# Commands that speak Slurm

Scripts and programs that were written for Slurm run here unchanged: \`weft front slurm DIR\` makes a folder for the \`PATH\` with
\`sbatch\`, \`srun\`, \`squeue\`, \`scancel\`, \`sacct\`, \`sstat\`, \`sattach\`, \`sinfo\`, \`scontrol\`, \`salloc\`, \`sacctmgr\`, \`sprio\` and \`sshare\`, which are those of this cluster. A folder that
has such commands of somebody else is refused: nothing of a real Slurm is hidden unless you put the folder before it.

- In a job they find the cluster that it runs on: on nodes of \`weft up\` by \`WEFT_DIR\`, which each job gets; on nodes that joined from
  elsewhere as you do there, or with \`--export=ALL,WEFT_HEAD,WEFT_FINGERPRINT,WEFT_TOKEN_FILE\`.
- A script runs once, on the first of its nodes; \`srun\` in it starts ranks on all of them, and so does \`mpirun\`.
- Output goes to \`slurm-%j.out\` where you submitted, if nodes share that folder. Else the head keeps it, with a warning: \`weft logs\`.
- Tasks of an array are \`42_7\`. They have no numbers of their own: \`SLURM_JOB_ID\` is the array's, and \`%j\` is \`42_7\`.
- \`scontrol show job\` has the path of a script as \`Command\`; the script as it was submitted: \`scontrol write batch_script 42\`.
- Programs find the \`SLURM_…\` variables below in jobs that came this way, and in every job with \`--env WEFT_SLURM=1\`
  (\`SLURM_PROCID\` not where it has several processes).
- Steps are \`42.0\` and \`42_7.1\` (under \`salloc\`, and of \`srun\` outside of a job, they begin at \`42.1\`): what \`srun\` starts, and \`weft exec\`. \`sacct\` knows them, with state, exit code and nodes. Ranks of \`srun\` in a
  script are the script's own: \`scancel 42.0\` refuses them (\`scancel --signal=USR1 42\` reaches all), what they use is in \`42.batch\`, and where the
  script does not find the head they are no steps, and run as well; so do steps of more than 256 ranks, and those that a task has beyond 64, or 256
  ranks on a node, at once, with a warning. \`sstat\` measures whole tasks, with the steps in them.
- \`-n 5\` on two nodes is 3 and 2: ranks that nodes do not share evenly are laid out as in Slurm, and each node is held for as many as the fullest has.
- Steps in the background of a script, \`srun -n1 ./part &\`, go to the node with most room and wait until the job has cpus for them; \`--overlap\`
  does not wait. One inside of another has the cpus of that one.
- \`srun\` in a script is a program on the job's node: it takes some 60 MB of the job's memory there, and as much on each other node.
- A rank of \`srun\` in a script, or the command of \`salloc\`, that a real-time signal ends (32 to 64) counts as one with exit code 0: Node.js does not tell
  the two apart.
- An \`srun\` of a script that is killed by SIGKILL cannot say that its step is over: \`sacct\` has it as RUNNING until the script ends.
- \`scontrol update\` takes \`TimeLimit=+30\` and \`-30\`. \`squeue -l\` begins with a line that has the time, as in Slurm.
- \`squeue -u NAME\` says \`Invalid user\` where the machine has no such account and nobody of that name has a job. Operators get an
  empty list also for a user who has a role or a token alone.
- Times are written by \`SLURM_TIME_FORMAT\`: \`relative\`, or a format of strftime(3).
- Why a job ended is in \`sacct\`, \`scontrol show job\` and \`weft why\`, and not in its output file.
- \`--signal=USR1@60\` goes to what the script has started, \`--signal=B:USR1@60\` to the script alone, which may pass it on to its \`srun\`.
- \`SBATCH_PARTITION\` and its like, \`SALLOC_…\`, \`SQUEUE_FORMAT\`, \`SINFO_FORMAT\`, \`SCANCEL_USER\` and \`SACCT_FORMAT\` stand for options that are not typed: those that
  the pages of Slurm name. So do for \`srun\` \`SLURM_EXPORT_ENV\`, \`SRUN_CPUS_PER_TASK\`, \`SLURM_CPU_BIND\`, \`SLURM_MPI_TYPE\`, \`SLURM_LABELIO\`, \`SLURM_OVERLAP\` and their like.
- With \`--export=NONE\`, or names, \`srun\` in the script exports as little, by \`SLURM_EXPORT_ENV\`, which a script may unset. The script finds the commands in its \`PATH\`.
- \`sacctmgr list\` (or \`show\`) knows users, associations, qualities of service, the cluster and tres, and changes nothing: there are no accounts, and
  limits that there are none of are empty. Users see themselves, operators all who have a role. \`sprio\` has the points of \`weft why\`, \`sshare\` what
  \`weft user usage\` has.
- \`sdiag\`, \`sreport\`, \`sbcast\`, \`strigger\` and \`scrontab\` say what to type instead, and end with 1. There is no job of several parts (\`hetjob\`, \`:\`).
- A script that begins with \`#!/bin/bash -l\` reads profiles, most of which set \`PATH\` anew: let one of \`/etc/profile.d\` put the folder into it.
- What is not honoured is refused by name, with exit code 1: \`sbatch: error: …\`. What Slurm itself takes as a hint gives a warning. Words that
  cannot be read, such as an option that there is none of, or \`--time=soon\`, end \`sbatch\`, \`srun\` and \`salloc\` with 255, as in Slurm.
- \`salloc\` holds nodes while a shell or a command runs here; \`srun\` in it starts ranks on them, and \`srun --pty bash\` is a shell
  there, outside of a job in one of its own. Its ranks have the variables that \`salloc\` was typed with, and what its shell has
  exported since; what was taken away since then they keep. Exports that are too much for a step are left out with a note; \`--export=NONE\` leaves them out always.
  \`-w\` takes one of its nodes, or all. Other values of \`--export\`, \`-x\`, \`-r\`, \`-i\`, \`-o\` and \`-e\` are honoured in scripts alone, and refused there.
- \`sattach 42\` follows what the head keeps of a job; of one that writes a file of its own it names the file, and waits for the end. \`sattach 42.0\`
  follows a step that the head has started. It brings no input.

## Variables

\`SLURM_JOB_ID\`, \`_NAME\`, \`_USER\`, \`_UID\`, \`_GID\`, \`_PARTITION\`, \`_QOS\`, \`_ACCOUNT\` (empty), \`_NUM_NODES\`, \`_NODELIST\` and \`_CPUS_PER_NODE\`;
\`SLURM_CLUSTER_NAME\`, \`SLURM_SUBMIT_DIR\`, \`SLURM_SUBMIT_HOST\`, \`SLURM_NNODES\`, \`SLURM_NODELIST\`, \`SLURM_NTASKS\`, \`SLURM_NPROCS\`, \`SLURM_NTASKS_PER_NODE\`,
\`SLURM_TASKS_PER_NODE\`, \`SLURM_CPUS_ON_NODE\`, \`SLURM_CPUS_PER_TASK\` (also where nobody typed \`-c\`), \`SLURM_MEM_PER_NODE\`, \`SLURM_GPUS_ON_NODE\`, \`SLURM_JOB_GPUS\`, \`SLURM_NODEID\`,
\`SLURMD_NODENAME\`, \`SLURM_RESTART_COUNT\`; where their options were typed \`SLURM_EXPORT_ENV\`, \`SLURM_MEM_PER_CPU\`, \`_PER_GPU\`, \`SLURM_GPUS\`, \`_PER_NODE\`, \`_PER_TASK\`,
\`SLURM_CPUS_PER_GPU\`, \`SLURM_JOB_DEPENDENCY\`, \`SLURM_JOB_RESERVATION\`, \`SLURM_DISTRIBUTION\`, \`SLURM_HINT\` and \`SLURM_THREADS_PER_CORE\`; in an array \`SLURM_ARRAY_JOB_ID\` and \`SLURM_ARRAY_TASK_ID\`, \`_MIN\`, \`_MAX\`, \`_COUNT\`, \`_STEP\`. Ranks of \`srun\` have
\`SLURM_PROCID\`, \`SLURM_LOCALID\`, \`SLURM_STEP_ID\`, \`SLURM_STEP_NUM_TASKS\`, \`SLURM_STEP_NUM_NODES\`, \`SLURM_STEP_NODELIST\`, \`SLURM_STEP_TASKS_PER_NODE\` and \`SLURM_TASK_PID\` beside them.
Others, such as \`SLURM_JOB_END_TIME\`, are not set. In jobs that ask with \`WEFT_SLURM=1\` those that the commands of Slurm alone know are missing: partition, qos,
account, cluster and where it was submitted.
`;

const ENGINES = `## Snakemake and Nextflow

With the folder first in the \`PATH\`, the executor plug-in of Snakemake runs unchanged:
\`snakemake --executor slurm --jobs 20 --default-resources slurm_partition=default\`. Nextflow takes \`process.executor = 'slurm'\` in its
\`nextflow.config\`; what it types (\`sbatch .command.run\` with \`-J -o --no-requeue --signal B:USR2@30 -c -t --mem\`, \`squeue --noheader -o '%i %t' -t all -u
ann\`, \`scancel 42\`) is honoured. Both need a folder that nodes share. \`process.clusterOptions\` and \`slurm_extra\` take the options below.

## Other programs

Also tried unchanged: \`SLURMCluster\` of dask-jobqueue 0.9, Parsl's \`SlurmProvider\` with its simple launcher and with \`srun\`, simple-slurm 0.3,
PSI/J 0.9, submitit 1.5; and on a cluster of two nodes:

| program | what was seen |
|---|---|
| Toil 9.6 | \`--batchSystem slurm\`: a workflow of five jobs. Its \`_toil_worker\` has to be in the \`PATH\` of jobs |
| Cylc 8.5 | a platform with \`job runner = slurm\`: parameters, messages, a task that its time limit ends. \`cylc\` has to be in the \`PATH\` of a login shell |
| AiiDA 2.9 | its plug-in \`core.slurm\`: submission, \`get_jobs\`, details, cancellation, and that a job ran out of time. AiiDA logs a warning of \`sbatch\` about \`--get-user-env\` |
| Open OnDemand | the adapter of ood_core 0.31: cluster, partitions, nodes, jobs, arrays, holds, cancellation, history. Its \`accounts\` are none |
| pysqa 1.1, executorlib 1.11 | submission, state and cancellation; functions that wait for each other. Their own template needs a partition that is named |
| FireWorks 2.1 | \`CommonAdapter\`: submission, and how many of its jobs are in the queue |
| reportseff 2.10 | one's jobs of the last days, with what they used of what they asked for |
`;

const TABLES: readonly (readonly [title: string, rows: readonly OptionRow[]])[] = [
  ['sbatch and srun', BATCH_OPTIONS],
  ['srun alone', STEP_OPTIONS],
  ['salloc alone', ALLOCATION_OPTIONS],
  ['squeue', QUEUE_OPTIONS],
  ['scancel', CANCEL_OPTIONS],
  ['sacct', ACCOUNT_OPTIONS],
  ['sstat', USE_OPTIONS],
  ['sinfo', INFO_OPTIONS],
  ['scontrol', CONTROL_OPTIONS],
  ['sacctmgr', MANAGER_OPTIONS],
  ['sprio', PRIORITY_OPTIONS],
  ['sshare', SHARE_OPTIONS],
];

export function slurmPage(): string {
  const tables = TABLES.map(([title, rows]) => `## ${title}\n\n${tableOf(rows)}`);
  return `${[INTRO, ENGINES, ...tables, SCONTROL].join('\n')}\n`;
}

function tableOf(rows: readonly OptionRow[]): string {
  const lines = rows.map(({ long, short, kind, words }) => {
    const name = `\`${short === undefined ? '' : `-${short}, `}--${long}\``;
    const what = kind === undefined ? 'yes' : kind === 'hint' ? 'warning' : 'refused';
    return `| ${name} | ${what} | ${words.replaceAll('|', '\\|')} |`;
  });
  return `| option | honoured | |\n|---|---|---|\n${lines.join('\n')}\n`;
}

const SCONTROL = `\`show job|step|node|partition|reservation|licenses|hostnames|hostlist|hostlistsorted|config|version\`, \`-o\`, \`write batch_script\`, \`create reservation\`, \`delete\`, \`hold\`, \`release\`, \`suspend\`, \`resume\`, \`requeue\`, \`wait_job\`, \`ping\`,
\`update JobId=… TimeLimit|Partition|Nice|JobName|QOS|Comment|StartTime|NumNodes|MinCPUsNode|MinMemoryNode|Gres|ArrayTaskThrottle=…\`, \`Priority=0\` as \`hold\`,
\`update NodeName=… State=DRAIN|RESUME Reason=…\`, \`update PartitionName=… State=UP|DOWN|DRAIN|INACTIVE\`. \`hold\`, \`release\` and the like take \`jobname=…\`, too.
`;
