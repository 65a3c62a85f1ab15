// What is said of a head that lacks records of which its nodes know.

import { plural } from '../base/plural.ts';
import type { Behind } from '../machine/head/facts.ts';

/** For the log, refusals, and whoever asks; one line. */
export function behindWords({
  lastSeq,
  promisedSeq,
  nodes,
}: Pick<Behind, 'lastSeq' | 'promisedSeq' | 'nodes'>): string {
  const [first = 'a node'] = nodes;
  const others = nodes.length - 1;
  const who = others <= 0 ? first : `${first} and ${plural(others, 'other node')}`;
  const have = others <= 0 ? 'has' : 'have';
  return (
    `this head's store is older than what ${who} ${have} heard: it has the records up to ${lastSeq}, ` +
    `and they go on to ${promisedSeq} at least. It was put back from an older copy, or it is a ` +
    'copy and the other one still runs. Nothing is started and nothing accepted. Put the newer ' +
    'store back, or stop this copy; to go on without the missing records, start this head once ' +
    'with --accept-loss: no id is given twice'
  );
}
