// The type of counted resources: `--resource licence=2`, or an object of names with amounts.

import { err, ok } from '../../base/result.ts';
import { COUNTED_PER_NODE_MAX } from '../limits.ts';
import { parseCounted } from '../submission-values.ts';
import { type OptionType, whole } from './types.ts';

type Amounts = Readonly<Record<string, number>>;

const AMOUNT = whole(0, COUNTED_PER_NODE_MAX);

/** Amounts by the names of their resources. */
export const COUNTED: OptionType<Amounts, Amounts> = {
  form: { kind: 'own' },
  program: 'Readonly<Record<string, number>>',
  parse: (texts) => {
    const pairs: (readonly [string, number])[] = [];
    for (const text of texts) {
      const pair = parseCounted(text);
      if (!pair.ok) return pair;
      pairs.push(pair.value);
    }
    return ok(Object.fromEntries(pairs));
  },
  take: (given) => {
    for (const [name, amount] of Object.entries(given)) {
      const flaw = AMOUNT.flaw(amount);
      if (flaw !== null) return err(`${name}: ${flaw}`);
    }
    return ok(given);
  },
  flaw: () => null,
};
