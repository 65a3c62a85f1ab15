// `distribute slurm`: a folder that Slurm runs, as `weft batch export slurm` writes it.

import { defineVerb } from '../../../kernel/cli/verb.ts';
import { usage } from '../../../kernel/model/failure.ts';
import { exportBatch } from '../../batches/cli/export.ts';
import { defineJobsFile, jobsFile } from './jobs-file.ts';

interface Options {
  readonly clusterUsername?: string;
  readonly clusterAddress?: string;
  readonly clusterUploadDestination?: string;
}

export const slurm = defineVerb<Options>({
  define(command) {
    command.argument('<output_folder>', 'where to write; an earlier export is brought up to date');
    defineJobsFile(command);
    command.option('--cluster-username <name>', 'who copies it to the cluster, over ssh');
    command.option('--cluster-address <host>', "the cluster's login machine");
    command.option('--cluster-upload-destination <folder>', 'where upload.sh puts it there');
  },
  run({ context, args: [folder = '', file], options }) {
    const to = destination(options);
    return exportBatch.run({
      context,
      args: ['slurm', folder, jobsFile(file)],
      options: to === null ? {} : { to },
    });
  },
});

/** Returns null when none of the three was given, and upload.sh is told when it is run. */
function destination(options: Options): string | null {
  const { clusterUsername: user, clusterAddress: host, clusterUploadDestination: into } = options;
  const three = Object.entries({
    '--cluster-username': user,
    '--cluster-address': host,
    '--cluster-upload-destination': into,
  });
  const missing = three.filter(([, value]) => value === undefined).map(([flag]) => flag);
  if (missing.length === three.length) return null;
  if (missing.length > 0) throw usage(`give ${missing.join(' and ')}, too, or none of the three`);
  return `${user}@${host}:${into}`;
}
