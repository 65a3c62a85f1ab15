// `weft batch export slurm DIR`: a folder that a Slurm runs.

import path from 'node:path';
import type { Command } from 'commander';
import { plural } from '../../../kernel/base/plural.ts';
import { quoteWord } from '../../../kernel/base/shell-word.ts';
import { defineVerb } from '../../../kernel/cli/verb.ts';
import { usage } from '../../../kernel/model/failure.ts';
import { type BatchFile, batchTitle } from '../core/batch.ts';
import { batchFileOf, defineBatchFile } from './operand.ts';
import { asWriteFailure } from './write-failure.ts';

interface Options {
  readonly to?: string;
}

export const exportBatch = defineVerb<Options>({
  define(command: Command) {
    command.argument('<system>', 'slurm');
    command.argument(
      '<folder>',
      'where to write; an earlier export of the batch is brought up to date',
    );
    defineBatchFile(command);
    command.option('--to <user@host:folder>', 'where upload.sh copies it');
  },
  async run({ context, args: [system, folder = '', given], options }) {
    if (system !== 'slurm') throw usage(`'${system}' is no system to export to; write slurm`);
    const destination = options.to === undefined ? null : destinationOf(options.to);
    const { readBatch } = await import('../batch/read/read-batch.ts');
    const reading = readBatch(batchFileOf(context, given));
    const { batch } = reading;
    if (batch.jobs.some(({ after }) => after.length > 0)) {
      const hint = 'Export them as batches of their own, and submit one when the other is done.';
      throw usage('jobs that come after others (`after`) have no counterpart in an export', hint);
    }
    const full = path.resolve(context.cwd, folder);
    const { exportSlurm } = await import('../batch/slurm/export.ts');
    const { kept } = await exportSlurm(reading, { folder: full, destination }).catch((error) => {
      throw asWriteFailure(error, full);
    });
    for (const what of left(batch)) context.note(`not in the export: ${what}`);
    const before = kept === 0 ? '' : `; ${plural(kept, 'result')} in it stay`;
    context.print(
      `Wrote ${plural(batch.jobs.length, 'job')} of ${batchTitle(batch)} to ${folder}${before}.`,
    );
    const at = quoteWord(folder.replace(/\/+$/, ''));
    const to = destination === null ? ' USER@HOST:FOLDER' : '';
    context.print(`  ${at}/upload.sh${to}   copies it to where Slurm is`);
    context.print(`  ${at}/submit.sh   submits there what is not done`);
    return 0;
  },
});

function destinationOf(text: string): string {
  if (/^[^-\s:][^\s:]*:\S+$/.test(text)) return text;
  throw usage(`--to: '${text}' is no place for rsync; write user@host:folder`);
}

/** What Slurm is not told. */
function left(batch: BatchFile): string[] {
  const found: string[] = [];
  const { jobs } = batch;
  if (batch.needs.length > 0 || jobs.some(({ needs }) => needs.length > 0))
    found.push('needs; name a partition under slurm:');
  if (jobs.some(({ partition }) => partition !== null))
    found.push('partition, which is one of Weft; name one under slurm:');
  if (jobs.some(({ qos }) => qos !== null)) found.push('qos, which is one of Weft');
  if (jobs.some(({ gpuMemoryBytes }) => gpuMemoryBytes !== null))
    found.push("gpuMemory; name a type, `gpus: 'a100:1'`");
  if (jobs.some(({ gpuShareBytes }) => gpuShareBytes !== null))
    found.push('gpuShare; jobs have whole gpus there');
  if (jobs.some(({ gpuLinks }) => gpuLinks !== undefined)) found.push('gpuLinks');
  if (jobs.some(({ priority }) => priority !== 0)) found.push('priority');
  if (batch.jobs.some(({ retriesMax }) => retriesMax > 0))
    found.push('retries; run submit.sh again');
  if (batch.outputs.join() !== '**') found.push('outputs; all that jobs leave is kept');
  if (batch.after.length > 0) found.push('after');
  if (batch.notices.length > 0) found.push('notify; slurm: {mail_user: …} has Slurm send mail');
  return found;
}
