// `npm run clean`: ends the cluster of this user and removes all that it remembers. The program
// knows where that is, says what it removes, and removes nothing of a cluster it could not end.

import { stateDirectory } from '../src/kernel/connect/locate.ts';
import { whyNotOurs } from './checkout-mark.ts';
import { ROOT } from './tree.ts';
import { runWeft } from './weft.ts';

/** `weft down` was not told what it needs to know. */
const EXIT_USAGE = 2;

const why = whyNotOurs(stateDirectory({}, process.env), ROOT);
if (why === null) {
  const words = process.argv.slice(2);
  process.exitCode = runWeft('down', '--clean', ...words);
  // npm keeps options for itself that stand before the dashes.
  const isAsked = process.exitCode === EXIT_USAGE && words.length === 0;
  if (isAsked) console.error('  From a script: npm run clean -- --yes');
} else {
  console.error(why);
  process.exitCode = 1;
}
