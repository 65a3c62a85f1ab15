// What nodes are really like beside their goals: things that break by themselves, that repairs mend
// at once, at the second try, or not at all, and what the scripts of goals see of it.

import type { GoalClass } from '../../src/wings/goals/core/goal.ts';
import type { Dice } from '../chance.ts';

export const GOALS = ['mount', 'package'] as const;

/** At most so many nodes of a partition are in repair at once. */
export const AT_ONCE = 1;

export const GOAL_CLASS: GoalClass = {
  name: 'all',
  nodes: null,
  labels: [],
  atOnce: AT_ONCE,
  withinMs: 20_000,
  durationMs: 15_000,
  running: 'requeue',
  restarts: false,
  goals: GOALS.map((name) => {
    const test = { kind: 'check', line: `is-so ${name}`, expect: null } as const;
    return { name, test, repair: `mend ${name}` };
  }),
};

export class Drift {
  /** By node: what is broken, and how many repairs it still withstands. */
  readonly #broken = new Map<string, Map<string, number>>();

  breakOne(node: string, dice: Dice): string {
    const goal = dice.pick(GOALS);
    const broken = this.#broken.get(node) ?? new Map<string, number>();
    this.#broken.set(node, broken.set(goal, dice.pick([0, 0, 1, 10])));
    return goal;
  }

  /** Somebody mends all of it by hand. */
  clear(): void {
    this.#broken.clear();
  }

  /** Null: it is no script of goals. */
  run(node: string, script: string): { readonly output: string; readonly code: number } | null {
    if (!script.includes('weft-goal')) return null;
    const broken = this.#broken.get(node) ?? new Map<string, number>();
    for (const [, goal = ''] of script.matchAll(/^sh -c 'mend (\S+)'/gm)) repair(broken, goal);
    const looks = [...script.matchAll(/^look (\S+) /gm)].map(([, goal = '']) => goal);
    const lines = looks.map((goal) => `weft-goal ${goal} ${broken.has(goal) ? 1 : 0} \n`);
    const isJudged = /^exit \$wrong$/m.test(script);
    const isWrong = looks.some((goal) => broken.has(goal));
    return { output: lines.join(''), code: isJudged && isWrong ? 1 : 0 };
  }
}

function repair(broken: Map<string, number>, goal: string): void {
  const left = broken.get(goal);
  if (left === undefined) return;
  if (left === 0) broken.delete(goal);
  else broken.set(goal, left - 1);
}
