// The simulator's command line.
//   check [--from S]            pinned seeds, canaries, seeds twice, fresh seeds: what CI runs
//   [--seeds N] [--from S]      N fresh seeds
//   seed S [--trace]            one seed: its weather, and with --trace everything that happened
//   twice N [--from S]          N seeds, each run twice, must be the same to the last message
//   canaries                    every planted bug must be found
//   calls [--seeds N] [--from S]  N fresh seeds about calls of functions
//   call S [--trace]            one of them
//   sites [--seeds N] [--from S]  N fresh seeds about other clusters
//   site S [--trace]            one of them
//   restored [--seeds N] [--from S]  N fresh seeds about heads whose disk is put back
//   restore S [--trace]         one of them
//   months [--seeds N] [--from S]  N fresh seeds that last weeks
//   month S [--trace]           one of them
// The last line counts. Exit code: 0, or that of the last failure: 127 crash, 128 liveness, 129
// safety.

import { parseArgs } from 'node:util';
import { Count, partsOf, runFresh, runTwice, showSeed } from './check.ts';
import { CALLS, FAMILIES, FOREIGN, MONTHS, OWN, RESTORED } from './families.ts';
import type { Family } from './family.ts';
import { runInLanes } from './lanes.ts';

/** By the word for many of its seeds, and for one. */
const MANY: Readonly<Record<string, Family>> = {
  seeds: OWN,
  calls: CALLS,
  sites: FOREIGN,
  restored: RESTORED,
  months: MONTHS,
};
const ONE: Readonly<Record<string, Family>> = {
  seed: OWN,
  call: CALLS,
  site: FOREIGN,
  restore: RESTORED,
  month: MONTHS,
};

/** A base of its own for every day: each day's runs are new, and can be had again. */
function seedOfToday(): number {
  return Number(new Date().toISOString().slice(0, 10).replaceAll('-', '')) * 1000;
}

async function main(args: readonly string[]): Promise<number> {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      seeds: { type: 'string', default: '100' },
      from: { type: 'string' },
      trace: { type: 'boolean', default: false },
    },
  });
  const [what = 'seeds', number = ''] = positionals;
  const from = values.from === undefined ? seedOfToday() : whole('--from', values.from);
  const count = new Count((line) => console.log(line));
  const [many, one] = [MANY[what], ONE[what]];
  if (one === undefined && what !== 'canaries') console.log(`base seed ${from}`);
  if (many !== undefined) {
    const ms = Number.POSITIVE_INFINITY;
    await runFresh(many, count, { from, seeds: whole('--seeds', values.seeds), ms });
  } else if (one !== undefined) {
    await showSeed(one, count, { seed: whole('the seed', number), isTraced: values.trace });
  } else if (what === 'check') await runInLanes(partsOf(FAMILIES), { from, count });
  else if (what === 'canaries') await runInLanes(partsOf(FAMILIES, ['canary']), { from, count });
  else if (what === 'twice') {
    await runTwice(OWN, count, { from, seeds: whole('the count', number) });
  } else {
    const known = ['check', 'twice', 'canaries', ...Object.keys(MANY), ...Object.keys(ONE)];
    throw new Error(`'${what}' is none of ${known.join(', ')}`);
  }
  console.log(`${count.passed} passed, ${count.failed} failed`);
  return count.exitCode;
}

function whole(what: string, text: string): number {
  const value = Number(text);
  if (text !== '' && Number.isSafeInteger(value) && value >= 0) return value;
  throw new Error(`${what} is a whole number, not '${text}'`);
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 2;
}
