// Runs a script of this repository from a fresh clone: installs the dependencies when they are
// missing or older than the lockfile, then hands over to a Node that runs TypeScript. Plain
// JavaScript, and only built-in modules, because nothing else may be there yet.

import { createHash } from 'node:crypto';
import { existsSync, lstatSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { become, findNode, runNpm } from '../bin/modern-node.cjs';

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..');
const lockfile = path.join(root, 'package-lock.json');
const modules = path.join(root, 'node_modules');
const stamp = path.join(modules, '.weft-lock-hash');

/** What they start is a cluster of the user's, whose jobs see what the user sees. */
const FOR_USERS = new Set(['tools/start.ts', 'tools/stop.ts', 'tools/clean.ts']);

const lockHash = () => createHash('sha256').update(readFileSync(lockfile)).digest('hex');

/** True when node_modules was made from the lockfile as it is now. */
function isInstalled() {
  if (existsSync(stamp) && readFileSync(stamp, 'utf8').trim() === lockHash()) return true;
  // Somebody ran npm by hand, perhaps: its own record tells what it has installed.
  const record = path.join(modules, '.package-lock.json');
  return existsSync(record) && isRecordOf(packagesOf(record), packagesOf(lockfile));
}

const packagesOf = (file) => JSON.parse(readFileSync(file, 'utf8')).packages;

/** Every package as the lockfile has it; those for other machines may be missing. */
function isRecordOf(installed, locked) {
  return Object.entries(locked).every(([place, wanted]) => {
    if (place === '') return true;
    const found = installed[place];
    return found ? found.integrity === wanted.integrity : wanted.optional === true;
  });
}

function install() {
  // npm would empty what the link leads to, which is somebody else's.
  if (lstatSync(modules, { throwIfNoEntry: false })?.isSymbolicLink()) {
    throw new Error(
      `node_modules is a link to ${readlinkSync(modules)}, which is not installed as ` +
        'package-lock.json says. Run `npm ci` there, or remove the link.',
    );
  }
  process.stderr.write('Installing the dependencies (npm ci) ...\n');
  runNpm(['ci', '--loglevel=error', '--no-progress'], root);
}

/** As the shell was that npm was called from: npm puts its own folders before PATH. */
function userEnvironment() {
  const ours = path.join(root, 'node_modules', '.bin');
  const parts = (process.env.PATH ?? '').split(path.delimiter);
  return { ...process.env, PATH: parts.filter((part) => part !== ours).join(path.delimiter) };
}

/** Programs of npm's packages come first, and the Node that runs tools is the one they start. */
function toolEnvironment(node) {
  const ours = [path.join(modules, '.bin'), path.dirname(node), process.env.PATH];
  return { ...process.env, PATH: ours.filter(Boolean).join(path.delimiter) };
}

function main([script, ...args]) {
  if (!script) throw new Error('usage: node tools/bootstrap.mjs SCRIPT [ARGUMENT ...]');
  const file = path.resolve(root, script);
  if (!existsSync(file)) throw new Error(`${script} does not exist.`);
  if (!isInstalled()) install();
  if (!lstatSync(modules).isSymbolicLink()) writeFileSync(stamp, `${lockHash()}\n`);
  const node = findNode();
  become(node, [file, ...args], FOR_USERS.has(script) ? userEnvironment() : toolEnvironment(node));
}

try {
  main(process.argv.slice(2));
} catch (error) {
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 125;
}
