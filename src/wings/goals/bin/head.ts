// The wing in the program of a head.

import { join } from 'node:path';
import type { HeadPart } from '../../../kernel/head/part.ts';
import { systemClock } from '../../../kernel/os/clock.ts';
import { systemDataReader } from '../../../kernel/os/data-reader.ts';
import type { Timer } from '../../../kernel/ports/clock.ts';
import type { Log } from '../../../kernel/ports/log.ts';
import type { HeadProgram } from '../../../kernel/wing.ts';
import { type GoalFileOptions, goalOptions } from '../config/goal-options.ts';
import { parseGoals, readGoalFile } from '../config/read-goals.ts';
import type { GoalClass } from '../core/goal.ts';
import { GoalKeeper } from '../head/keeper.ts';
import { goalsHead } from '../head/part.ts';
import { GoalSource, shownAddress } from '../head/source.ts';
import type { GoalOptions, GoalPorts } from '../head/world.ts';
import { GoalFile } from './goal-file.ts';
import { keptIn } from './kept-goals.ts';

export function headOf({ options, onReload, onEnd }: HeadProgram): HeadPart {
  return goalsHead(({ engine, logs, log }) => {
    const kept = join(options.directory, 'goals.kept');
    const { keeper, end } = startGoals({ engine, logs, log }, options.goals, kept);
    onReload((config) => {
      const goals = readGoals(goalOptions(config) ?? undefined, keeper.options.classes);
      return () => keeper.change(goals);
    });
    onEnd(end);
    return keeper;
  });
}

/** How often it is seen whether there is something to do; a look at a node is far rarer. */
const TICK_MS = 1000;

const NONE: GoalOptions = { classes: [], everyMs: 0, repairs: false };

/**
 * Throws a failure that says what is wrong with the file.
 * @param known the goals in force: those of an address come when it has answered
 */
export function readGoals(
  options: GoalFileOptions | undefined,
  known: readonly GoalClass[] = [],
): GoalOptions {
  if (options === undefined) return NONE;
  const { from, everyMs, repairs } = options;
  if (from.kind === 'file') {
    const { file } = from;
    return { classes: readGoalFile(file), everyMs, repairs, file };
  }
  return { classes: known, everyMs, repairs, url: from.url };
}

interface Goals {
  readonly keeper: GoalKeeper;
  end(): void;
}

/** @param keptFile for the last good goals of an address */
function startGoals(
  ports: Omit<GoalPorts, 'clock' | 'source'>,
  options: GoalFileOptions | undefined,
  keptFile: string,
): Goals {
  const source = options === undefined ? null : sourceOf(options, keptFile);
  let file: GoalFile | null = null;
  const state = () => {
    if (source !== null && isOf(source, keeper)) return source.state;
    return file !== null && file.file === keeper.options.file ? file.state : null;
  };
  const keeper: GoalKeeper = new GoalKeeper(
    { ...ports, clock: systemClock, source: state },
    readGoals(options, source?.start()),
  );
  let timer: Timer;
  const again = (): void => {
    if (source !== null) void followSource(source, keeper);
    file = fileOf(file, keeper, ports.log);
    if (file !== null) void followFile(file, keeper);
    keeper.tick();
    timer = systemClock.after(TICK_MS, again);
  };
  timer = systemClock.after(TICK_MS, again);
  return { keeper, end: () => timer.cancel() };
}

type InForce = Pick<GoalKeeper, 'options' | 'change'>;

/** Has its new goals in force. Once a reload has left its address it changes nothing any more. */
export async function followSource(source: GoalSource, keeper: InForce): Promise<void> {
  if (!isOf(source, keeper)) return;
  const classes = await source.look(keeper.options.classes);
  if (classes !== null && isOf(source, keeper)) keeper.change({ ...keeper.options, classes });
}

/** A reload may have named another one. */
function fileOf(known: GoalFile | null, { options: { file } }: InForce, log: Log): GoalFile | null {
  if (file === undefined) return null;
  if (known?.file === file) return known;
  return new GoalFile({ clock: systemClock, log }, file);
}

/** Has what changed in the file in force, unless a reload has left it meanwhile. */
export async function followFile(file: GoalFile, keeper: InForce): Promise<void> {
  const classes = await file.look(keeper.options.classes);
  const isLeft = keeper.options.file !== file.file;
  if (classes !== null && !isLeft) keeper.change({ ...keeper.options, classes });
}

function isOf({ url }: GoalSource, { options }: InForce): boolean {
  return options.url === url;
}

function sourceOf({ from, refreshMs }: GoalFileOptions, keptFile: string): GoalSource | null {
  if (from.kind === 'file') return null;
  const world = {
    reader: systemDataReader,
    clock: systemClock,
    kept: keptIn(keptFile),
    parse: (text: string) => parse(text, shownAddress(from.url)),
  };
  return new GoalSource(world, from.url, refreshMs);
}

function parse(text: string, url: string): readonly GoalClass[] {
  const { classes, problems } = parseGoals(text, url);
  if (problems.length === 0) return classes;
  throw new Error(problems.map(({ where, what }) => `${where}: ${what}`).join('; '));
}
