// `npm stop`: ends the cluster that `npm start` made; its jobs and records stay.

import { runWeft } from './weft.ts';

process.exitCode = runWeft('down');
