// The two images that the Dockerfile is built from, made of files of this machine, because a test
// has no registry: one with Node and a shell, and one with a C compiler.

import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  realpathSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';

/** Accounts of the image besides root: who runs the head. Those of users come with WEFT_USERS. */
const ACCOUNTS = [{ name: 'weft', id: 990, home: '/home/weft' }];
const COMPILER_OBJECTS = ['crt1.o', 'crti.o', 'crtn.o', 'crtbeginT.o', 'crtend.o'];
const COMPILER_LIBRARIES = ['libgcc.a', 'libgcc_eh.a', 'libc.a', 'liblto_plugin.so'];
const COMPILER_PROGRAMS = ['cc1', 'collect2'];

/** Node, a shell with the usual small programs, accounts; as little as Weft can run on. */
export function makeBaseFolder(root: string): void {
  makeShell(root);
  addProgram(root, process.execPath, '/usr/local/bin/node');
  // Of these busybox has none, or one that lacks what is needed.
  for (const name of ['setpriv', 'getent', 'id']) addProgram(root, which(name));
  // Programs start with `#!/usr/bin/env node`.
  const lines = ACCOUNTS.map(({ name, id, home }) => `${name}:x:${id}:${id}::${home}:/bin/sh`);
  write(root, '/etc/passwd', ['root:x:0:0::/root:/bin/sh', ...lines]);
  write(root, '/etc/group', ['root:x:0:', ...ACCOUNTS.map(({ name, id }) => `${name}:x:${id}:`)]);
  write(root, '/etc/nsswitch.conf', ['passwd: files', 'group: files', 'hosts: files dns']);
  for (const { id, home } of ACCOUNTS) makeFolder(root, home, { mode: 0o755, owner: id });
}

/** A shell and `cc`, with what it takes to make a static program of these sources. */
export function makeToolsFolder(root: string, sources: readonly string[]): void {
  makeShell(root);
  addProgram(root, which('gcc'), '/usr/bin/cc');
  for (const name of COMPILER_PROGRAMS) addProgram(root, ask('-print-prog-name', name));
  for (const name of ['as', 'ld']) addProgram(root, which(name));
  for (const name of [...COMPILER_OBJECTS, ...COMPILER_LIBRARIES]) {
    add(root, ask('-print-file-name', name));
  }
  // The flags of the Dockerfile: they decide which headers include which.
  const rules = execFileSync('gcc', ['-M', '-std=c11', '-O2', ...sources], { encoding: 'utf8' });
  for (const header of new Set(rules.match(/\/usr\/\S+\.h/g))) add(root, header);
}

function makeShell(root: string): void {
  for (const name of ['bin', 'sbin', 'lib', 'lib64']) {
    makeFolder(root, `/usr/${name}`);
    symlinkSync(`usr/${name}`, join(root, name));
  }
  for (const name of ['/etc', '/proc', '/sys', '/dev', '/root', '/home']) makeFolder(root, name);
  for (const name of ['/tmp', '/var/tmp']) makeFolder(root, name, { mode: 0o1777 });
  addProgram(root, which('busybox'), '/usr/bin/busybox');
  const applets = execFileSync('busybox', ['--list'], { encoding: 'utf8' }).trim().split('\n');
  for (const applet of applets) {
    const link = join(root, 'usr', 'bin', applet);
    if (!existsSync(link)) symlinkSync('busybox', link);
  }
}

/** A program with the libraries it is linked to, at their own places. */
function addProgram(root: string, file: string, target = file): void {
  add(root, file, target);
  for (const [library] of listLibraries(file).matchAll(/\/\S+(?= \()/g)) add(root, library);
}

function listLibraries(file: string): string {
  try {
    return execFileSync('ldd', [file], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
  } catch {
    return ''; // ldd exits with 1 for a static program.
  }
}

function add(root: string, file: string, target = file): void {
  const place = join(root, target);
  mkdirSync(dirname(place), { recursive: true });
  // A link to busybox gives way to the real program.
  const options = { dereference: true, recursive: true, force: true };
  if (lstatSync(place, { throwIfNoEntry: false })?.isSymbolicLink()) {
    execFileSync('rm', ['-f', place]);
  }
  cpSync(realpathSync(file), place, options);
}

function makeFolder(root: string, path: string, { mode = 0o755, owner = 0 } = {}): void {
  const place = join(root, path);
  mkdirSync(place, { recursive: true });
  chmodSync(place, mode);
  chownSync(place, owner, owner);
}

function write(root: string, path: string, lines: readonly string[]): void {
  writeFileSync(join(root, path), `${lines.join('\n')}\n`);
}

function which(name: string): string {
  return execFileSync('sh', ['-c', 'command -v "$0"', name], { encoding: 'utf8' }).trim();
}

function ask(question: string, name: string): string {
  const found = execFileSync('gcc', [`${question}=${name}`], { encoding: 'utf8' }).trim();
  return realpathSync(found);
}
