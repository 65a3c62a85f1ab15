// What both packages have, below /usr or ~/.local: programs, Node, manual pages, completion,
// documents.

import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { contentsOf } from '../../src/wings/rollout/cli/package-files.ts';
import { ROOT } from '../tree.ts';

/** A folder with `bin`, `lib`, `share`. */
export interface Tree {
  readonly folder: string;
  readonly version: string;
}

export interface How {
  readonly tree: Tree;
  readonly out: string;
  /** Seconds since 1970: of all files. */
  readonly date: number;
  /** Packed less well or not at all, for tests. */
  readonly quick: boolean;
}

/** Not in a package: what only builds or tests need, and what Python has left where it ran. */
const LEFT_OUT = /\.tsbuildinfo$|\.map$|\/__pycache__$/;
const SHELLS = [
  { shell: 'bash', file: 'bash-completion/completions/weft' },
  { shell: 'zsh', file: 'zsh/site-functions/_weft' },
  { shell: 'fish', file: 'fish/vendor_completions.d/weft.fish' },
] as const;

export async function makeTree(folder: string): Promise<Tree> {
  if (!existsSync(path.join(ROOT, 'dist', 'bin', 'programs.cjs'))) {
    throw new Error('dist/ is not there: run `npm run build` first');
  }
  const { version, bin } = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8')) as {
    version: string;
    bin: Readonly<Record<string, string>>;
  };
  const lib = path.join(folder, 'lib', 'weft');
  for (const { from, to } of contentsOf(ROOT)) {
    const filter = (file: string): boolean => !LEFT_OUT.test(file);
    cpSync(from, path.join(lib, to), { recursive: true, dereference: true, filter });
  }
  chmodSync(path.join(lib, 'node'), 0o755);
  for (const [name, script] of Object.entries(bin)) starter(folder, name, script);
  manual(folder);
  completion(folder);
  documents(folder);
  return { folder, version };
}

/** Finds its own folder, wherever that was unpacked and however it is linked. */
function starter(folder: string, name: string, script: string): void {
  const file = path.join(folder, 'bin', name);
  mkdirSync(path.dirname(file), { recursive: true });
  const machine = os.machine();
  const text = `#!/bin/sh
machine=$(uname -m)
if [ "$machine" != ${machine} ]; then
  echo "weft: this package is for a ${machine}, and this machine is a $machine: take the one for it" >&2
  exit 126
fi
here=$(dirname "$(readlink -f "$0")")/../lib/weft
exec "$here/node" "$here/${script}" "$@"
`;
  writeFileSync(file, text, { mode: 0o755 });
}

function manual(folder: string): void {
  const to = path.join(folder, 'share', 'man', 'man1');
  mkdirSync(to, { recursive: true });
  const from = path.join(ROOT, 'dist', 'man');
  for (const name of readdirSync(from)) {
    writeFileSync(path.join(to, `${name}.gz`), gzipSync(readFileSync(path.join(from, name))));
  }
}

function completion(folder: string): void {
  for (const { shell, file } of SHELLS) {
    const made = spawnSync(path.join(folder, 'bin', 'weft'), ['completion', shell], {
      encoding: 'utf8',
    });
    if (made.status !== 0) throw new Error(`no completion for ${shell}: ${made.stderr}`);
    const to = path.join(folder, 'share', file);
    mkdirSync(path.dirname(to), { recursive: true });
    writeFileSync(to, made.stdout);
  }
}

function documents(folder: string): void {
  const to = path.join(folder, 'share', 'doc', 'weft');
  mkdirSync(to, { recursive: true });
  const filter = (file: string): boolean => !file.includes(path.join('docs', 'checklists'));
  cpSync(path.join(ROOT, 'docs'), path.join(to, 'docs'), { recursive: true, filter });
  cpSync(path.join(ROOT, 'deploy', 'monitoring'), path.join(to, 'monitoring'), { recursive: true });
  cpSync(path.join(ROOT, 'CHANGELOG.md'), path.join(to, 'CHANGELOG.md'));
  const node = path.join(path.dirname(process.execPath), '..', 'LICENSE');
  const licences = [
    'Weft:\n\n',
    readFileSync(path.join(ROOT, 'LICENSE'), 'utf8'),
    '\n\nPackages below lib/weft/node_modules have theirs beside them. Node.js (lib/weft/node):\n\n',
    existsSync(node) ? readFileSync(node, 'utf8') : 'see https://nodejs.org\n',
  ];
  writeFileSync(path.join(to, 'copyright'), licences.join(''));
}
