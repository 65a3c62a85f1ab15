// Proves that each wing can be deleted: the kernel compiles without any, with its tests green, and
// each wing compiles with nothing but the kernel and the wings that it needs. In a copy, so nothing
// is lost.
//   node tools/without-wings.ts

import { spawnSync } from 'node:child_process';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { WINGS } from '../src/wings.ts';
import { affectedTests } from './testing/changed.ts';
import { SPARING } from './testing/run-program.ts';
import { filesBelow, ROOT } from './tree.ts';
import { needsOf, withoutProject, withoutWings } from './wings/lists.ts';

const COPIED = [
  ...['src', 'sim', 'test/support', 'test/unit/kernel', 'deploy/systemd', 'package.json'],
  ...['tsconfig.base.json', 'tsconfig.core.json', 'tsconfig.leaf.json'],
];
const LISTS = ['src/wings.ts', 'src/library.ts', 'src/pages.tsx'];
const PROJECTS = ['src/tsconfig.json', 'src/tsconfig.pure.json', 'src/kernel/page/tsconfig.json'];
/** Layers whose tests are functions of their input: one process runs them all. */
const TESTED = ['base', 'model', 'scheduler', 'files', 'machine', 'runner', 'wire'];

const folder = mkdtempSync(path.join(tmpdir(), 'weft-without-wings-'));
try {
  const failed = prove();
  console.log(`${WINGS.length + 2 - failed} passed, ${failed} failed`);
  process.exitCode = failed > 0 ? 1 : 0;
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/** How many of the proofs failed: of the kernel alone, of its tests, and of each wing. */
function prove(): number {
  copy();
  const failed = [checked('the kernel alone', compile('-b', 'src', 'src/kernel/page'))];
  failed.push(checked("the kernel's tests without wings", test()));
  cpSync(path.join(ROOT, 'src/wings'), path.join(folder, 'src/wings'), { recursive: true });
  return [...failed, ...proveWings()].filter(Boolean).length;
}

/** All in one run, which reads what they share once; when it fails, each by itself for its name. */
function proveWings(): boolean[] {
  const alone = WINGS.map(({ name }) => {
    const wings = needsOf(name, WINGS);
    const words = [`the wing ${name}`, ...wings.slice(1)].join(' with ');
    return { words, project: projectOf(wings) };
  });
  const wrong = compile('-b', '--builders', '1', ...alone.map(({ project }) => project));
  const failed = alone.map(({ words, project }) => {
    return checked(words, wrong === '' ? '' : compile('-p', project));
  });
  // What no wing fails by itself is no less wrong.
  return wrong === '' || failed.includes(true) ? failed : [checked('the wings', wrong)];
}

function copy(): void {
  for (const one of COPIED) {
    cpSync(path.join(ROOT, one), path.join(folder, one), {
      recursive: true,
      filter: (file) => path.relative(ROOT, file) !== path.join('src', 'wings'),
    });
  }
  symlinkSync(path.join(ROOT, 'node_modules'), path.join(folder, 'node_modules'));
  for (const file of LISTS) rewrite(file, withoutWings);
  for (const file of PROJECTS) rewrite(file, withoutProject);
}

function rewrite(file: string, change: (text: string) => string): void {
  const place = path.join(folder, file);
  writeFileSync(place, change(readFileSync(place, 'utf8')));
}

/**
 * A project of these wings alone, against what the kernel declares. It is composite: others take in
 * whatever a file imports, other wings, too.
 */
function projectOf(wings: readonly string[]): string {
  const place = path.join(folder, 'alone');
  mkdirSync(place, { recursive: true });
  const project = {
    extends: '../tsconfig.leaf.json',
    compilerOptions: { composite: true, declaration: true, rootDir: '..' },
    include: wings.map((wing) => `../src/wings/${wing}/**/*.ts`),
    exclude: ['../src/wings/*/page/**'],
    references: [{ path: '../src' }, { path: '../src/tsconfig.pure.json' }],
  };
  const file = path.join(place, `${wings[0]}.json`);
  writeFileSync(file, JSON.stringify(project));
  return file;
}

/** What went wrong, in words; empty: nothing did. */
function compile(...words: string[]): string {
  const compiler = path.join(ROOT, 'node_modules/typescript/bin/tsc');
  // Checkers beside each other do part of their work twice; the processors have other work.
  return run(compiler, ...words, '--checkers', '1');
}

/** Those that load no wing are the same here as in the tree that has them all. */
function test(): string {
  const all = TESTED.flatMap((layer) => filesBelow(`test/unit/kernel/${layer}`, '.test.ts'));
  const gone = [...LISTS, ...filesBelow('src/wings', '')];
  const files = affectedTests(all, new Set(gone));
  return run('--test', '--test-isolation=none', '--test-reporter=dot', ...files);
}

function run(...words: string[]): string {
  const { status, error, stdout, stderr } = spawnSync(process.execPath, words, {
    cwd: folder,
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
    // No process finds this folder again, nor what would be kept of it.
    env: { ...process.env, ...SPARING, NODE_DISABLE_COMPILE_CACHE: '1' },
  });
  if (error) throw error;
  return status === 0 ? '' : `${stdout}${stderr}` || `ended with ${status}`;
}

function checked(what: string, wrong: string): boolean {
  console.log(wrong === '' ? `  ${what}: ok` : `FAILED ${what}\n${wrong}`);
  return wrong !== '';
}
