// `npm run clean`: ends the cluster of this user and removes all that it remembers. The program
// knows where that is, says what it removes, and removes nothing of a cluster it could not end.

import { runWeft } from './weft.ts';

process.exitCode = runWeft('down', '--clean');
