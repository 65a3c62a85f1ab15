// The programs of a package, each whole in one file: Node.js takes longer to find, read and link a
// hundred modules than a short command takes to run.

import { readFileSync } from 'node:fs';
import path from 'node:path';
import { build, type OnLoadArgs, type OnResolveArgs, type Plugin } from 'esbuild-wasm';
import { QUICK } from '../src/kernel/cli/quick.ts';
import { ownPlaces } from './own-places.ts';
import { ROOT } from './tree.ts';

const BIN = path.join('dist', 'bin');
/** Programs of their own, which daemons start too, and what reads records as a head does. */
const APART = /^\.\/(head|agent-host|read-store)\.ts$/;
/** Parts of wings that other programs than these ask for, by their places in a wing. */
const PART_ELSEWHERE = /^\.\/(?:head\/part|bin\/head|api\/part)\.ts$/;
/** Files of verbs: the kernel's by their names, and those of wings. */
const COMMAND = /\/(?:commands\/([\w-]+)|(?:[\w-]+-)?verb)\.ts$/;
/** Where wings say what they have; each is loaded when it is asked for. */
const WING = /\/wings\/[\w-]+\/wing\.ts$/;
/** What of it the daemons ask for, which are programs of their own. */
const OF_DAEMONS = /^\.\/(?:head|agent|machine)\//;
/** What of it only `doctor`, completion, other programs and commands that start daemons ask for. */
const SELDOM =
  /^\.\/(?:.*\/(?:doctor|offers|cm\w+|distribute|s(?:batch|run|alloc|queue|info|cancel|acct|control)|[\w-]+-options)|bin\/[\w-]+)\.ts$/;
/** Asks wings for what is for daemons, and would not find it from inside a bundle. */
const NOT_INSIDE = 'src/bin/machine.ts';
const CHILD_PROCESS = "import childProcess from 'node:child_process';";

interface Manifest {
  readonly dependencies: Readonly<Record<string, string>>;
}

/** Writes `dist/bin/programs.cjs`, with everything, and `quick.cjs`. */
export async function bundlePrograms(): Promise<void> {
  await bundle('programs', () => true);
  await bundle('quick', (command) => QUICK.has(command));
}

/** `isIn`: whether a command of `weft` is in it; those that are not are never asked of it. */
async function bundle(name: string, isIn: (command: string) => boolean): Promise<void> {
  const places = ownPlaces('bin');
  const { metafile } = await build({
    absWorkingDir: ROOT,
    entryPoints: [path.join('src', 'bin', `${name}.ts`)],
    outfile: path.join(BIN, `${name}.cjs`),
    bundle: true,
    platform: 'node',
    target: 'node24',
    // A module of this kind asks Node's own ones for a name when it uses it, not for all at once.
    format: 'cjs',
    // Names stay: a bug is reported with its stack.
    minifyWhitespace: true,
    minifySyntax: true,
    external: Object.keys(manifest().dependencies).filter((one) => one !== 'commander'),
    banner: { js: places.banner },
    footer: { js: `/* commander:\n${read('node_modules/commander/LICENSE')}*/` },
    plugins: [apart(isIn), lazyChildProcess, places.plugin],
    logLevel: 'warning',
    metafile: true,
  });
  if (NOT_INSIDE in metafile.inputs) throw new Error(`${NOT_INSIDE} is in ${name}.cjs`);
}

function apart(isIn: (command: string) => boolean): Plugin {
  return {
    name: 'apart',
    setup({ onResolve }) {
      onResolve({ filter: APART }, ({ path: file }: OnResolveArgs) => {
        return { path: file.replace(/ts$/, 'js'), external: true };
      });
      onResolve({ filter: PART_ELSEWHERE }, ({ path: file, kind }: OnResolveArgs) =>
        kind === 'dynamic-import' ? { path: file, external: true } : undefined,
      );
      onResolve({ filter: COMMAND }, ({ path: file, kind }: OnResolveArgs) => {
        const command = COMMAND.exec(file)?.[1] ?? '';
        if (kind !== 'dynamic-import' || isIn(command)) return undefined;
        return { path: file, external: true };
      });
      onResolve({ filter: /^\.\// }, ({ path: file, kind, importer }: OnResolveArgs) => {
        if (kind !== 'dynamic-import' || !WING.test(importer)) return undefined;
        const isAsked = !OF_DAEMONS.test(file) && (isIn('doctor') || !SELDOM.test(file));
        return isAsked ? undefined : { path: file, external: true };
      });
    },
  };
}

/** Commander starts other programs for commands of a kind that we have none of. */
const lazyChildProcess: Plugin = {
  name: 'lazy-child-process',
  setup({ onLoad }) {
    onLoad({ filter: /commander[/]lib[/]command\.js$/ }, ({ path: file }: OnLoadArgs) => {
      const text = readFileSync(file, 'utf8');
      if (!text.includes(CHILD_PROCESS)) throw new Error(`${file} does not load it any more`);
      const lazy =
        "const childProcess = { spawn: (...of) => process.getBuiltinModule('node:child_process').spawn(...of) };";
      return { contents: text.replace(CHILD_PROCESS, lazy), loader: 'js' };
    });
  },
};

function manifest(): Manifest {
  return JSON.parse(read('package.json')) as Manifest;
}

function read(file: string): string {
  return readFileSync(path.join(ROOT, file), 'utf8');
}
