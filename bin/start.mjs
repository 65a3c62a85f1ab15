// What every program in this folder does: hand over to a Node that is new enough, keep compiled
// code between runs, and load the program from the sources or, in a package, from dist/.

import { existsSync } from 'node:fs';
import module from 'node:module';
import { homedir } from 'node:os';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { become, findNode, isModern } from './modern-node.mjs';

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..');

/** Runs the program of this name; importing its module is what starts it. */
export async function start(name) {
  if (!isModern()) return handOver(name);
  const cache = process.env.XDG_CACHE_HOME || path.join(homedir(), '.cache');
  module.enableCompileCache(path.join(cache, 'weft', 'compiled'));
  // Only a checkout has src/; there dist/ may be older than the sources.
  const source = path.join(root, 'src', 'bin', `${name}.ts`);
  const built = path.join(root, 'dist', 'bin', `${name}.js`);
  await import(pathToFileURL(existsSync(source) ? source : built).href);
}

function handOver(name) {
  try {
    become(findNode(), [path.join(root, 'bin', `${name}.mjs`), ...process.argv.slice(2)]);
  } catch (error) {
    process.stderr.write(`${error.message}\n`);
    process.exitCode = 125;
  }
}
