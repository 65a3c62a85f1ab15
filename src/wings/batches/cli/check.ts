// `weft batch check`: what is wrong with a batch file, or what it comes to and who could run it.

import { plural } from '../../../kernel/base/plural.ts';
import { formatSize } from '../../../kernel/base/size.ts';
import { transferOf } from '../../../kernel/cli/connection/transfer-context.ts';
import type { Context } from '../../../kernel/cli/context.ts';
import { defineListing, type ListingOptions } from '../../../kernel/cli/output/listing.ts';
import { formatOne } from '../../../kernel/cli/output/one.ts';
import { defineVerb } from '../../../kernel/cli/verb.ts';
import { Failure } from '../../../kernel/model/failure.ts';
import type { Looked } from '../../../kernel/transfer/look.ts';
import type { BatchReading } from '../batch/read/read-batch.ts';
import { type BatchFile, batchTitle, type Solver } from '../core/batch.ts';
import { jobNeeds } from '../core/needs.ts';
import { type KnownNode, type Runnable, runnableNodes } from '../core/runnable.ts';
import { type UploadAmount, uploadAmount } from '../transfer/send-batch.ts';
import { batchFileOf, defineBatchFile, relative } from './operand.ts';

interface Options extends ListingOptions {
  readonly nodesFile?: string;
}

interface Checked {
  readonly batch: BatchFile;
  readonly files: {
    readonly count: number;
    readonly bytes: number;
    readonly largest: Pick<Looked, 'path' | 'isFolder' | 'files' | 'bytes'> | null;
  };
  /** Null when no cluster answers. */
  readonly nodes: Runnable | null;
  /** What a submission would send; null: no head was asked. */
  readonly travel: UploadAmount | null;
}

export const check = defineVerb<Options>({
  define(command) {
    defineBatchFile(command);
    const whose = "look at the nodes of the seed's distribute-nodes.yaml, not of the cluster";
    command.option('--nodes-file <file>', whose);
    defineListing(command);
  },
  async run({ context, args: [given], options }) {
    const { readBatch } = await import('../batch/read/read-batch.ts');
    const reading = readBatch(batchFileOf(context, given));
    const nodes = await nodesOf(context, options.nodesFile);
    const isAsked = nodes !== null && options.nodesFile === undefined;
    const travel = isAsked ? await uploadAmount(transferOf(context), reading) : null;
    const checked = { ...checkedOf(reading, nodes), travel };
    const title = batchTitle(reading.batch);
    for (const line of formatOne(checked, options.output, title, words)) context.print(line);
    return 0;
  },
});

async function nodesOf(
  context: Context,
  file: string | undefined,
): Promise<readonly KnownNode[] | null> {
  if (file !== undefined) {
    const { readSeedNodes } = await import('../batch/read/read-nodes.ts');
    return readSeedNodes(relative(context, file));
  }
  try {
    return (await (await context.api()).call('listNodes')).nodes;
  } catch (error) {
    // Without a cluster the file can be checked all the same.
    if (error instanceof Failure && error.kind === 'unavailable') return null;
    throw error;
  }
}

function checkedOf({ batch, files }: BatchReading, nodes: readonly KnownNode[] | null) {
  const largest = files.reduce<Looked | null>(
    (most, one) => (one.bytes > (most?.bytes ?? -1) ? one : most),
    null,
  );
  return {
    batch,
    files: {
      count: files.reduce((sum, one) => sum + one.files, 0),
      bytes: files.reduce((sum, one) => sum + one.bytes, 0),
      largest: largest === null ? null : sizeOf(largest),
    },
    nodes: nodes === null ? null : runnableNodes(batch, nodes),
  };
}

function sizeOf({ path, isFolder, files, bytes }: Looked) {
  return { path, isFolder, files, bytes };
}

function words({ batch, files, nodes, travel }: Checked): string[] {
  const { count, bytes, largest } = files;
  const most = largest === null ? '' : `, the largest ${largest.path} with ${size(largest.bytes)}`;
  return [
    `${batchTitle(batch)}: ${jobWords(batch)}, ${solverWords(batch.solver)}`,
    `${plural(count, 'file')} with ${size(bytes)} in all${count > 1 ? most : ''}`,
    ...(travel === null ? [] : [uploadWords(travel)]),
    nodeWords(batch, nodes),
  ];
}

/** `2 different files with 1.2G, of which the head lacks 1 with 1G`. */
function uploadWords({ files, bytes, lacking }: UploadAmount): string {
  if (lacking.files === 0) return 'All of them are on the head: nothing would travel';
  const all = lacking.files === files && lacking.bytes === bytes;
  const of = files === 1 ? '' : ` of ${files} different ones`;
  const which = all ? 'all of it' : `${plural(lacking.files, 'file')}${of}`;
  return `${size(lacking.bytes)} would travel: the head lacks ${which}`;
}

function jobWords({ jobs }: BatchFile): string {
  const names = jobs.map(({ name }) => name);
  const shown = names.length <= 3 ? names.join(', ') : `${names[0]}, ${names[1]} … ${names.at(-1)}`;
  return `${plural(jobs.length, 'job')} (${shown})`;
}

function solverWords(solver: Solver | null): string {
  if (solver === null) return 'each with its own program';
  if (solver.kind === 'build') return `built by ${solver.build.path} once per node`;
  return `in ${solver.kind} with ${solver.image}`;
}

/** How many nodes could run it, and why no more. */
export function nodeWords(
  batch: Pick<BatchFile, 'needs' | 'solver' | 'jobs'>,
  nodes: Runnable | null,
): string {
  if (nodes === null) return 'No cluster answers, so its nodes were not looked at';
  const able = nodes.nodes.length;
  const said = `${able} of ${plural(nodes.total, 'node')} could run it`;
  if (nodes.unmet.length > 0) return `${said}; none has ${nodes.unmet.join(', ')}`;
  const [first, ...more] = nodes.tooLarge;
  if (first !== undefined) {
    const others = more.length === 0 ? '' : ` (and ${plural(more.length, 'other job')})`;
    return `${said}; ${first}${others} needs more than any of these nodes has`;
  }
  const needs = [...new Set(batch.jobs.flatMap((job) => jobNeeds(batch, job)))];
  return able === 0 && needs.length > 1 ? `${said}; none has all of ${needs.join(', ')}` : said;
}

function size(bytes: number): string {
  return bytes === 1 ? '1 byte' : bytes < 1024 ? `${bytes} bytes` : formatSize(bytes);
}
