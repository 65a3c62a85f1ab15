// `weft submit` of a script that was written for `sbatch`: its lines are options of ours.

import type { Context, ReadScript, Script } from '../../../kernel/cli/context.ts';
import type { SubmitOptions } from '../../../kernel/cli/submit/options.ts';
import { usage } from '../../../kernel/model/failure.ts';
import { BATCH_OPTIONS, type Given } from '../core/batch-options.ts';
import type { Request } from '../core/request.ts';
import { askedFor, directives, filesOf, optionsOf, submitterOf, withSignal } from './sbatch.ts';

/** For `weft submit`: output goes where a script of ours has it, unless the lines name a file. */
export async function readScriptLines(context: Context, script: Script): Promise<ReadScript> {
  const { file, text, typed } = script;
  const given = directives(text, file);
  if (given.wrap !== undefined)
    throw usage(`${file}: --wrap is not honoured in a script`, 'Write its line into the script.');
  const request = await askedFor(context, shapedBy(given, typed));
  const submitter = submitterOf(context);
  const { output } = request;
  // Errors follow the output, whoever has named its file.
  const error = given.error === undefined ? (typed.output ?? output) : request.error;
  const isSaid = given.output !== undefined || given.error !== undefined;
  const files = isSaid ? filesOf(output, error) : {};
  const hints = new Set<string>(BATCH_OPTIONS.flatMap((row) => ('kind' in row ? [row.long] : [])));
  const honoured = Object.keys(given).filter((name) => !hints.has(name));
  const words = honoured.map((name) => `--${name}`).join(', ') || 'none';
  context.note(`${file} has no #WEFT lines; of its #SBATCH lines are honoured: ${words}`);
  return {
    options: { ...optionsOf(request, submitter.directory, typed), ...files },
    submitter,
    wait: given.wait !== undefined,
    dryRun: given['test-only'] !== undefined,
    finish: (submission) => withSignal(submission, leftOf(request, typed)),
  };
}

const WHOLE = /^[1-9]\d{0,8}$/;

/** The lines as they are with the number of nodes that was typed, or of ranks on each. */
function shapedBy(given: Given, { nodes = '', procs = '' }: SubmitOptions): Given {
  const shaped: { -readonly [Name in keyof Given]: Given[Name] } = { ...given };
  if (WHOLE.test(nodes)) shaped.nodes = nodes;
  if (WHOLE.test(procs)) {
    shaped['ntasks-per-node'] = procs;
    if (shaped.nodes !== undefined) delete shaped.ntasks;
  }
  const { ntasks = '' } = shaped;
  if (WHOLE.test(nodes) && WHOLE.test(ntasks) && Number(ntasks) < Number(nodes))
    throw usage(
      `--nodes ${nodes} is more than the ${ntasks} of --ntasks: each node has a rank here`,
      'Type --procs as well: the ranks of each node.',
    );
  return shaped;
}

/** What was typed wins over what our own options do not say, too. */
function leftOf(request: Request, { nodes, procs, signal }: SubmitOptions): Request {
  const left: { -readonly [Name in keyof Request]: Request[Name] } = { ...request };
  const isShaped = procs !== undefined || (nodes !== undefined && nodes !== request.nodes);
  if (isShaped) delete left.ranks;
  if (signal !== undefined) delete left.signalTo;
  return left;
}
