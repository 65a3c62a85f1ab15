// `weft simulate`: how a policy does on a workload made up from a seed.

import { parseDuration } from '../../../kernel/base/duration.ts';
import { defineVerb } from '../../../kernel/cli/verb.ts';
import { usage } from '../../../kernel/model/failure.ts';
import { type Machine, nodesOf } from '../core/machine.ts';
import { type LoadShape, randomShapes, synthetic } from '../core/synthetic.ts';
import { conclude } from './conclude.ts';
import {
  defineMachineOptions,
  defineReplayOptions,
  type ReplayOptions,
  readCount,
  readMachine,
  readSeed,
} from './options.ts';

interface Options extends ReplayOptions {
  readonly jobs?: string;
  readonly shapes?: string;
  readonly load?: string;
}

export const verb = defineVerb<Options>({
  define(command) {
    defineMachineOptions(command);
    command.option('--jobs <count>', 'how many jobs', '1000');
    command.option(
      '--shapes <shapes>',
      'how many random shapes, or which: nodes x cpus : time, as 1x4:10m,8x16:2h',
      '20',
    );
    command.option('--load <part>', 'work that arrives, as part of what the machine can do', '0.9');
    defineReplayOptions(command, 'the same seed makes the same jobs');
  },
  async run({ context, options }) {
    const machine = readMachine(options);
    if (machine === null) throw usage('give the machine: --nodes N --cpus C');
    const seed = readSeed(options.seed);
    const shapes = readShapes(options.shapes ?? '20', machine, seed);
    const jobCount = readCount('--jobs', options.jobs ?? '1000');
    const load = readLoad(options.load ?? '0.9');
    const jobs = synthetic({ seed, jobCount, shapes, load }, machine);
    const dropped = { incomplete: 0, tooLarge: 0 };
    const name = `seed ${seed}, load ${load}`;
    const nodes = nodesOf(machine);
    return conclude(
      context,
      { name, jobs, nodes, dropped, brokenLines: 0, guessedLimits: 0, unheeded: [] },
      options,
    );
  },
});

function readShapes(text: string, machine: Machine, seed: number): readonly LoadShape[] {
  if (/^\d+$/.test(text)) return randomShapes(readCount('--shapes', text), machine, seed);
  return text.split(',').map((part) => readShape(part.trim(), machine));
}

function readShape(text: string, machine: Machine): LoadShape {
  const match = /^([1-9]\d{0,5})x([1-9]\d{0,5}):(.+)$/.exec(text);
  const duration = match === null ? null : parseDuration(match[3] as string);
  if (match === null || duration?.ok !== true || duration.value < 1000) {
    throw usage(`--shapes: '${text}' is not a shape; write nodes x cpus : time, as 8x16:2h`);
  }
  const shape = { nodeCount: Number(match[1]), cpusPerNode: Number(match[2]) };
  if (shape.nodeCount > machine.nodeCount || shape.cpusPerNode > machine.cpusPerNode) {
    throw usage(
      `--shapes: '${text}' does not fit on ${machine.nodeCount} nodes of ${machine.cpusPerNode} cpus`,
    );
  }
  return { ...shape, walltimeMs: duration.value };
}

function readLoad(text: string): number {
  const load = /^\d+(\.\d+)?$/.test(text) ? Number(text) : 0;
  if (load > 0 && load <= 100) return load;
  throw usage(`--load: '${text}' is not a number above 0; 1 is all that the machine can do`);
}
