// The head's cycle of goal state: the goals from their file or address, and a look at them from time
// to time.

import { existsSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import type { GoalFileOptions } from '../config/daemon-options.ts';
import { parseGoals, readGoalFile } from '../config/goals/read-goals.ts';
import type { GoalClass } from '../core/goals/goal.ts';
import { GoalKeeper, type GoalOptions, type GoalPorts } from '../head/goals/keeper.ts';
import { GoalSource, type KeptGoals } from '../head/goals/source.ts';
import { systemClock } from '../os/clock.ts';
import { systemDataReader } from '../os/data-reader.ts';
import type { Timer } from '../ports/clock.ts';

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
  return { classes: from.kind === 'file' ? readGoalFile(from.file) : known, everyMs, repairs };
}

export interface Goals {
  readonly keeper: GoalKeeper;
  end(): void;
}

/** @param keptFile for the last good goals of an address */
export function startGoals(
  ports: Omit<GoalPorts, 'clock' | 'source'>,
  options: GoalFileOptions | undefined,
  keptFile: string,
): Goals {
  const source = options === undefined ? null : sourceOf(options, keptFile);
  const keeper = new GoalKeeper(
    { ...ports, clock: systemClock, source: () => source?.state ?? null },
    readGoals(options, source?.start()),
  );
  const look = async (from: GoalSource): Promise<void> => {
    const classes = await from.look();
    if (classes !== null) keeper.change({ ...keeper.options, classes });
  };
  let timer: Timer;
  const again = (): void => {
    if (source !== null) void look(source);
    keeper.tick();
    timer = systemClock.after(TICK_MS, again);
  };
  timer = systemClock.after(TICK_MS, again);
  return { keeper, end: () => timer.cancel() };
}

function sourceOf({ from, refreshMs }: GoalFileOptions, keptFile: string): GoalSource | null {
  if (from.kind === 'file') return null;
  const world = {
    ...{ reader: systemDataReader, clock: systemClock, kept: keptIn(keptFile) },
    parse: (text: string) => parse(text, from.url),
  };
  return new GoalSource(world, from.url, refreshMs);
}

function parse(text: string, url: string): readonly GoalClass[] {
  const { classes, problems } = parseGoals(text, url);
  if (problems.length === 0) return classes;
  throw new Error(problems.map(({ where, what }) => `${where}: ${what}`).join('; '));
}

/** Whole or not at all; its time is that of the reading. */
function keptIn(file: string): KeptGoals {
  return {
    load() {
      if (!existsSync(file)) return null;
      return { text: readFileSync(file, 'utf8'), readAt: statSync(file).mtimeMs };
    },
    save(text) {
      writeFileSync(`${file}.new`, text, { mode: 0o600 });
      renameSync(`${file}.new`, file);
    },
  };
}
