// The scripts of goals: one that looks, one that repairs and looks again. What they print is read
// back here, so that both ends of it stand in one file.

import type { CheckResult } from './compare.ts';
import type { Goal, GoalClass } from './goal.ts';

/** Output of one check that is kept. */
const SAID_MAX = 400;

const MARK = 'weft-goal';

/** Every check line in a shell of its own: one that cannot be read harms none of the others. */
const LOOK = `#!/bin/sh
wrong=0
look() {
  said=$(sh -c "$2" 2>&1 </dev/null); code=$?
  said=$(printf '%s' "$said" | tr '\\n\\r\\t' '   ' | cut -c1-${SAID_MAX} | sed 's/^ *//; s/ *$//')
  printf '${MARK} %s %s %s\\n' "$1" "$code" "$said"
}
`;

export function checkScript({ goals }: Pick<GoalClass, 'goals'>): string {
  return LOOK + goals.map(lookLine).join('');
}

/**
 * `illGpus`: where tools find the cards that were ill when the repair was asked for.
 * Ends with 1 when a check still differs: then the node stays out of service.
 */
export function repairScript(
  { goals }: Pick<GoalClass, 'goals'>,
  { unmet, illGpus }: { readonly unmet: readonly string[]; readonly illGpus: readonly string[] },
): string {
  const gpus = illGpus.length === 0 ? '' : `export WEFT_ILL_GPUS=${quoted(illGpus.join(','))}\n`;
  const repairs = goals.flatMap(({ name, repair }) => {
    if (repair === null || !unmet.includes(name)) return [];
    const line = `echo '${MARK}: repairs ${name}'\n`;
    return [
      `${line}sh -c ${quoted(repair)} </dev/null || echo "${MARK}: it ended with exit code $?"\n`,
    ];
  });
  const looks = goals.map((goal) => `${lookLine(goal)}${judgeLine(goal)}`);
  return `${LOOK}${gpus}${repairs.join('')}${looks.join('')}exit $wrong\n`;
}

function lookLine({ name, test }: Goal): string {
  return test.kind === 'check' ? `look ${name} ${quoted(test.line)}\n` : '';
}

/** The same judgement as `compareGoals`, in shell. */
function judgeLine({ name, test }: Goal): string {
  if (test.kind !== 'check') return '';
  const differs = `{ wrong=1; echo '${MARK}: ${name} still differs'; }`;
  if (test.expect === null) return `[ "$code" -eq 0 ] || ${differs}\n`;
  const pattern = test.expect.split('*').map(quoted).join('*');
  return `case "$said" in ${pattern}) ;; *) ${differs} ;; esac\n`;
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** Results by the goal's name, of as much as is there. */
export function readReport(output: string): Map<string, CheckResult> {
  const found = new Map<string, CheckResult>();
  for (const line of output.split('\n')) {
    const [, name, code, said = ''] = /^weft-goal (\S+) (\d+) ?(.*)$/.exec(line) ?? [];
    if (name !== undefined) found.set(name, { code: Number(code), said });
  }
  return found;
}
