// `weft pilot start`: what each pilot gets, and how it is asked for at its batch system.

import path from 'node:path';
import { parseDuration } from '../../../kernel/base/duration.ts';
import { plural } from '../../../kernel/base/plural.ts';
import { parseSize } from '../../../kernel/base/size.ts';
import type { Context } from '../../../kernel/cli/context.ts';
import { collect, dropUndefined, listed, read } from '../../../kernel/cli/submit/read.ts';
import { splitWords } from '../../../kernel/cli/submit/words.ts';
import { defineVerb } from '../../../kernel/cli/verb.ts';
import { usage } from '../../../kernel/model/failure.ts';
import { PILOTS_MAX } from '../../../kernel/model/limits.ts';
import { parseCount } from '../../../kernel/model/submission-values.ts';
import { PILOT_SYSTEMS, type PilotSystem } from '../model/pilot.ts';
import { SYSTEM_TITLES } from './columns.ts';
import { defineRange, type RangeOptions, readRange } from './range.ts';

interface Options extends RangeOptions {
  readonly pilots?: string;
  readonly name?: string;
  readonly cpus?: string;
  readonly memory?: string;
  readonly time?: string;
  readonly isolated?: boolean;
  readonly queue?: string;
  readonly options?: string[];
  readonly dockerImage?: string;
  readonly dockerArgs?: string[];
  readonly chdir?: string;
  readonly shared?: string;
}

/** Where neither `-n` nor `--max` says how many. */
const PILOTS = 32;

export const start = defineVerb<Options>({
  define(command) {
    command.argument('<system>', `${PILOT_SYSTEMS.join(' or ')}: the batch system that hosts them`);
    command.option(
      '-n, --pilots <count>',
      `start this many pilots, once (without it: ${PILOTS}, when asked)`,
    );
    defineRange(command);
    command.option('--name <name>', 'name of the fleet, which begins those of its nodes');
    command.option('-c, --cpus <count>', 'cpus of each', '1');
    command.option('-m, --memory <size>', 'memory of each (default: its share of the machine)');
    command.option('-t, --time <duration>', 'time of each at its batch system');
    command.option('-i, --isolated', 'one pilot per machine');
    command.option('-q, --queue <name>', 'partition or queue there');
    command.option('--options <words>', 'more arguments for the submission (repeatable)', collect);
    command.option('-d, --docker-image <image>', 'the pilots run in containers of this image');
    command.option('--docker-args <words>', 'more arguments for docker run (repeatable)', collect);
    command.option('--chdir <folder>', 'where their output goes (default: this folder)');
    command.option('--shared <folders>', 'folders that are the same there (default: --chdir)');
  },
  async run({ context, args: [word = ''], options }) {
    const system = PILOT_SYSTEMS.find((one) => one === word);
    if (system === undefined) {
      throw usage(`'${word}' hosts no pilots; use ${PILOT_SYSTEMS.join(' or ')}`);
    }
    const body = bodyOf(context, system, options);
    if (options.pilots === undefined && options.max === undefined && !(await agrees(context)))
      return 1;
    const fleet = await (await context.api()).call('startFleet', { body: body });
    const { name, pilots, isOnce, min, max } = fleet;
    const range = isOnce ? plural(max, 'pilot') : `${min} to ${plural(max, 'pilot')}`;
    const jobs = [...new Set(pilots.flatMap(({ job }) => job?.replace(/[._]\d+$/, '') ?? []))];
    const where = SYSTEM_TITLES[system];
    if (jobs.length > 0) {
      context.print(`Fleet ${name} is started: ${range}, job ${jobs.join(', ')} of ${where}.`);
    } else context.print(`Fleet ${name} is started: ${range}.`);
    if (pilots.length > 0 && jobs.length === 0) {
      context.note(`${where} has not answered yet; \`weft pilot list\` shows what becomes of it`);
    }
    return 0;
  },
});

/** Nobody gets as many jobs of a batch system by leaving a word out. */
async function agrees({ terminal: { ask } }: Context): Promise<boolean> {
  if (ask === undefined) throw usage('say how many pilots: -n COUNT, or --max COUNT');
  return /^y(es)?$/i.test((await ask(`start ${PILOTS} pilots? [y/N] `)).trim());
}

function bodyOf(context: Context, system: PilotSystem, options: Options) {
  const { pilots, name, cpus, memory, time, isolated, queue, dockerImage } = options;
  const range = readRange(options);
  if (pilots !== undefined && Object.keys(range).length > 0) {
    throw usage('--pilots says how many there are; leave --min, --max and --idle out');
  }
  if (range.max === undefined && Object.keys(range).length > 0) {
    throw usage('say how many pilots there may be: --max COUNT');
  }
  const once = read('--pilots', pilots, (text) => parseCount(text, 1, PILOTS_MAX));
  const directory = path.resolve(context.cwd, options.chdir ?? '.');
  const sharedPaths = listed(options.shared)?.map((one) => path.resolve(context.cwd, one));
  return dropUndefined({
    system,
    name,
    queue,
    isolated,
    directory,
    image: dockerImage,
    ...(range.max === undefined ? { isOnce: true, max: once ?? PILOTS } : range),
    cpuCount: read('--cpus', cpus, (text) => parseCount(text, 1, 100_000)),
    memoryBytes: read('--memory', memory, parseSize),
    walltimeMs: read('--time', time, parseDuration),
    options: shellWordsOf('--options', options.options),
    dockerArgs: shellWordsOf('--docker-args', options.dockerArgs),
    sharedPaths: sharedPaths ?? [directory],
  });
}

/** Words as a shell would see them. */
function shellWordsOf(flag: string, lines: readonly string[] | undefined): string[] | undefined {
  return lines?.flatMap((line) => {
    const words = splitWords(line);
    if (!words.ok) throw usage(`${flag}: column ${words.error.column}: ${words.error.what}`);
    return words.value.map(({ text }) => text);
  });
}
