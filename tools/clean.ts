// `npm run clean`: ends the cluster of this user and removes all that it remembers. The program
// knows where that is, says what it removes, and removes nothing of a cluster it could not end.

import { isatty } from 'node:tty';
import { stateDirectory } from '../src/kernel/connect/locate.ts';
import { whyNotOurs } from './checkout-mark.ts';
import { ROOT } from './tree.ts';
import { runWeft } from './weft.ts';

const why = whyNotOurs(stateDirectory({}, process.env), ROOT);
if (why === null) {
  // Its own cluster, and the word was typed for nothing else: a script is not asked.
  const yes = isatty(0) && isatty(2) ? [] : ['--yes'];
  process.exitCode = runWeft('down', '--clean', ...yes, ...process.argv.slice(2));
} else {
  console.error(why);
  process.exitCode = 1;
}
