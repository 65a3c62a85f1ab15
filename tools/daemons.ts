// The daemons of a package, each whole in one file, in place of the module that the compiler has
// made of it: to find, read and link a thousand modules took half of a head's start, and memory.

import path from 'node:path';
import { build, type OnResolveArgs, type Plugin } from 'esbuild-wasm';
import { libraries, licenceOf } from './manifest.ts';
import { ownPlacesBelow } from './own-places.ts';
import { ROOT } from './tree.ts';

/** By their places in `src/` and `dist/`: the head, agents, workers of pools and their children. */
const DAEMONS = [
  'bin/head',
  'bin/agent',
  'bin/agent-host',
  'wings/calls/bin/weft-worker',
  'wings/calls/functions/child/main',
];
const PROGRAMS = path.join('dist', 'bin');
/** Libraries of many modules that all daemons load. */
const INSIDE = ['yaml', 'zod'];
/** Where wings say what they have; each is loaded when it is asked for. */
const WING = /\/wings\/[\w-]+\/wing\.ts$/;
/** What of it no daemon asks for. */
const OF_USERS = /^\.\/(?:cli|sdk|page)\//;
/** What `weft agent` runs, and the program of the agents that `weft up` starts. */
const APART = /^\.\/agent-host\.ts$/;
/** Node.js shows the line of an error that nobody caught, before its words. */
const LINE_MAX = 200;

/** Needs `dist/` as the compiler makes it. */
export async function bundleDaemons(): Promise<void> {
  const places = ownPlacesBelow();
  const licences = INSIDE.map((name) => `/* ${name}:\n${licenceOf(name)}*/`);
  const { metafile } = await build({
    absWorkingDir: ROOT,
    entryPoints: DAEMONS.map((place) => path.join('src', `${place}.ts`)),
    outbase: 'src',
    outdir: 'dist',
    bundle: true,
    platform: 'node',
    target: 'node24',
    format: 'esm',
    // Names stay: a bug is reported with its stack.
    minifyWhitespace: true,
    minifySyntax: true,
    lineLimit: LINE_MAX,
    external: libraries().filter((one) => !INSIDE.includes(one)),
    banner: { js: places.banner },
    footer: { js: licences.join('\n') },
    plugins: [apart, places.plugin],
    logLevel: 'warning',
    metafile: true,
  });
  for (const [file, { inputs }] of Object.entries(metafile.outputs)) {
    // What is left out is named from the folder of the programs.
    const isAtHome = path.dirname(file) === PROGRAMS || !('src/wings.ts' in inputs);
    if (!isAtHome) throw new Error(`${file} has the list of wings and is not in ${PROGRAMS}`);
  }
}

const apart: Plugin = {
  name: 'apart',
  setup({ onResolve }) {
    onResolve({ filter: APART }, () => ({ path: './agent-host.js', external: true }));
    onResolve({ filter: OF_USERS }, ({ path: file, kind, importer }: OnResolveArgs) => {
      if (kind !== 'dynamic-import' || !WING.test(importer)) return undefined;
      const place = path.resolve(path.dirname(importer), file.replace(/ts$/, 'js'));
      return { path: path.relative(path.join(ROOT, 'src', 'bin'), place), external: true };
    });
  },
};
