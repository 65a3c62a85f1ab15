// The daemons of a package, each whole in one file, in place of the module that the compiler has
// made of it: to find, read and link a thousand modules took half of a head's start, and memory.

import { writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Plugin } from 'rolldown';
import { bundle } from './bundler.ts';
import { librariesIn, licenceOf } from './manifest.ts';
import { ownPlacesBelow } from './own-places.ts';
import { ROOT } from './tree.ts';

/**
 * By their places in `src/` and `dist/`: the head, the thread of its store, agents, workers of
 * pools and their children.
 */
const DAEMONS = [
  'bin/head',
  'kernel/store/sqlite/worker',
  'bin/agent',
  'bin/agent-host',
  'wings/calls/bin/weft-worker',
  'wings/calls/functions/child/main',
];
/** Libraries that daemons load when they start; what these need is in them, too. */
const INSIDE = ['croner', 'pino', 'ws', 'yaml', 'zod'];
/** Where wings say what they have; each is loaded when it is asked for. */
const WING = /\/wings\/[\w-]+\/wing\.ts$/;
/** What of it no daemon asks for. */
const OF_USERS = /^\.\/(?:cli|sdk|page)\//;
/** What `weft agent` runs, and the program of the agents that `weft up` starts. */
const APART = /^\.\/agent-host\.ts$/;
/**
 * Node.js writes the line of an error that nobody caught before its words; behind half a megabyte
 * a pipe has lost these.
 */
const LINE_MAX = 16_000;

/** Needs `dist/` as the compiler makes it. */
export async function bundleDaemons(): Promise<void> {
  const places = ownPlacesBelow();
  for (const place of DAEMONS) {
    const { code, inputs } = await bundle({
      input: `src/${place}.ts`,
      format: 'esm',
      target: ['node24'],
      inside: INSIDE,
      keeps: 'lines',
      banner: places.banner,
      plugins: [apart, places.plugin],
    });
    // What is left out is named from the folder of the programs.
    const isAtHome = place.startsWith('bin/') || !inputs.includes('src/wings.ts');
    if (!isAtHome) throw new Error(`${place} has the list of wings and is not among the programs`);
    const longest = Math.max(...code.split('\n').map((line) => line.length));
    if (longest > LINE_MAX) throw new Error(`${place} has a line of ${longest} characters`);
    const licences = librariesIn(inputs).map((name) => `/* ${name}:\n${licenceOf(name)}*/\n`);
    writeFileSync(path.join(ROOT, 'dist', `${place}.js`), `${code}${licences.join('')}`);
  }
}

const apart: Plugin = {
  name: 'apart',
  resolveId: {
    filter: { id: /^\.\// },
    handler(file, importer = '', { kind }) {
      if (APART.test(file)) return { id: './agent-host.js', external: true };
      const isAsked = kind !== 'dynamic-import' || !WING.test(importer) || !OF_USERS.test(file);
      if (isAsked) return undefined;
      const place = path.resolve(path.dirname(importer), file.replace(/ts$/, 'js'));
      return { id: path.relative(path.join(ROOT, 'src', 'bin'), place), external: true };
    },
  },
};
