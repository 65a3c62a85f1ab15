// `npm run clean`: ends the cluster and removes all that Weft remembers on this machine.

import { existsSync, lstatSync, readdirSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import { runWeft } from './weft.ts';

/** The folder of Weft's state, as the XDG base directory specification places it. */
function stateFolder(): string {
  const base = process.env['XDG_STATE_HOME'];
  // The specification says that a relative path there is to be ignored.
  const usable = base !== undefined && path.isAbsolute(base);
  return path.join(usable ? base : path.join(homedir(), '.local', 'state'), 'weft');
}

function main(): number {
  const folder = stateFolder();
  if (!existsSync(folder)) {
    console.log(`Nothing to remove: there is no ${folder}.`);
    return 0;
  }
  const code = runWeft('down');
  if (code !== 0) {
    console.error(`The cluster could not be ended, so ${folder} is left as it is.`);
    return code;
  }
  if (!lstatSync(folder).isDirectory()) {
    console.error(`${folder} is not a folder of ours; remove it by hand if you mean it.`);
    return 1;
  }
  console.log(`Removing ${folder} with ${readdirSync(folder).join(', ') || 'nothing in it'}`);
  rmSync(folder, { recursive: true });
  return 0;
}

process.exitCode = main();
