// The disk of a virtual machine, made of files of this one because a test has no installer:
// systemd and the usual programs from the packages that are installed here, and Weft as npm would
// install it.

import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { chmodSync, cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { ensureLauncher } from '../../../src/kernel/os/launcher-build.ts';
import { ROOT } from '../../../tools/tree.ts';

/** What a small Debian server has; what these need comes with them. */
const PACKAGES = [
  'systemd',
  'bash',
  'dash',
  'coreutils',
  'findutils',
  'grep',
  'sed',
  'mawk',
  'gzip',
];
const MORE_PACKAGES = [
  'util-linux',
  'mount',
  'login',
  'passwd',
  'hostname',
  'procps',
  'libc-bin',
  'libstdc++6',
];
const BASE_PACKAGES = ['base-files', 'base-passwd', 'libpam-runtime', 'libpam-modules'];
const USELESS = /^\/usr\/share\/(?:doc|man|locale|info|bash-completion|zsh|lintian|i18n)\//;
const MERGED = ['bin', 'sbin', 'lib', 'lib64'];
const EMPTY = ['proc', 'sys', 'dev', 'run', 'root', 'home', 'var/log', 'var/lib', 'var/tmp', 'tmp'];
const INSTALLED = '/usr/lib/node_modules/weft';

/** A line is a bound in seconds and a command; the answer is exit code and output in base64. */
const SHELL = `#!/bin/bash
stty raw -echo
echo ready
while read -r seconds command; do
  run() { timeout -k 1 "$seconds" bash -c "$command" < /dev/null 2>&1; }
  output=$(run | base64 -w0; exit "\${PIPESTATUS[0]}")
  echo "$? $output"
done
`;
const SHELL_UNIT = `[Service]
ExecStart=/usr/bin/machine-shell
StandardInput=tty-force
StandardOutput=tty
StandardError=journal
TTYPath=/dev/ttyS1
Environment=HOME=/root
`;

/** Makes an image of an ext4 file system at `image`, with the help of an empty folder. */
export async function makeDisk(image: string, folder: string): Promise<void> {
  copySystem(folder);
  configureSystem(folder);
  await installWeft(folder);
  const options = ['-q', '-t', 'ext4', '-d', folder, '-E', 'lazy_itable_init=1'];
  execFileSync('mke2fs', [...options, image, '1500M'], { stdio: ['ignore', 'ignore', 'pipe'] });
}

function copySystem(folder: string): void {
  for (const name of MERGED) {
    mkdirSync(join(folder, 'usr', name), { recursive: true });
    execFileSync('ln', ['-s', `usr/${name}`, join(folder, name)]);
  }
  for (const name of EMPTY) mkdirSync(join(folder, name), { recursive: true });
  for (const name of ['tmp', 'var/tmp']) chmodSync(join(folder, name), 0o1777);
  const list = join(folder, 'files');
  const files = lines('dpkg', '-L', ...closure()).filter((file) => isUseful(file));
  writeFileSync(list, `${[...new Set(files)].join('\n')}\n`);
  const read = `tar -C / --no-recursion -T ${list} -cf -`;
  const write = `tar -C ${folder} --keep-directory-symlink -xpf -`;
  execFileSync('bash', ['-o', 'pipefail', '-c', `${read} | ${write}`], { stdio: 'pipe' });
  execFileSync('rm', [list]);
  // Answers that packages asked for when they were installed are not among their files.
  cpSync('/etc/pam.d', join(folder, 'etc/pam.d'), { recursive: true });
}

/** The packages and all that they depend on. */
function closure(): string[] {
  // biome-ignore lint/suspicious/noTemplateCurlyInString: dpkg fills it in.
  const installed = new Set(lines('dpkg-query', '-W', '-f', '${Package}\\n'));
  const kinds = ['recommends', 'suggests', 'conflicts', 'breaks', 'replaces', 'enhances'];
  const without = kinds.map((kind) => `--no-${kind}`);
  const wanted = [...PACKAGES, ...MORE_PACKAGES, ...BASE_PACKAGES];
  const named = lines('apt-cache', 'depends', '--recurse', '--installed', ...without, ...wanted);
  return [...new Set(named)].filter((name) => installed.has(name));
}

function isUseful(file: string): boolean {
  return file.startsWith('/') && existsSync(file) && !USELESS.test(`${file}/`);
}

function configureSystem(folder: string): void {
  for (const name of ['passwd', 'group']) {
    cpSync(join(folder, `usr/share/base-passwd/${name}.master`), join(folder, 'etc', name));
  }
  write(folder, 'etc/shadow', 'root:*:19000:0:99999:7:::\n', 0o600);
  // Without it systemd takes this for a first start and asks questions at the console.
  write(folder, 'etc/machine-id', `${randomUUID().replaceAll('-', '')}\n`);
  write(folder, 'etc/hostname', 'machine\n');
  write(folder, 'etc/hosts', '127.0.0.1 localhost machine\n');
  write(folder, 'etc/fstab', '/dev/ubda / ext4 defaults 0 0\n');
  write(folder, 'etc/nsswitch.conf', 'passwd: files\ngroup: files\nhosts: files\n');
  write(folder, 'usr/bin/machine-shell', SHELL, 0o755);
  write(folder, 'etc/systemd/system/machine-shell.service', SHELL_UNIT);
}

/**
 * Installs what the package would be: compiled, with what it needs at run time and nothing else.
 */
async function installWeft(folder: string): Promise<void> {
  const compiler = join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc');
  execFileSync(process.execPath, [compiler, '-b', 'src'], { cwd: ROOT });
  const place = join(folder, INSTALLED);
  for (const name of ['package.json', 'bin', 'dist', 'launcher', 'deploy', ...modules()]) {
    cpSync(join(ROOT, name), join(place, name), { recursive: true, dereference: true });
  }
  const [launcher = ''] = (await ensureLauncher(dirname(folder))).command;
  cpSync(launcher, join(place, 'launcher', 'weft-launcher'));
  cpSync(process.execPath, join(folder, 'usr/bin/node'), { dereference: true });
  execFileSync('ln', ['-s', `..${INSTALLED.slice(4)}/bin/weft.mjs`, join(folder, 'usr/bin/weft')]);
}

/** Folders of the packages needed at run time, as npm laid them out. */
function modules(): string[] {
  const found = new Set<string>();
  const visit = (folder: string): void => {
    const text = readFileSync(join(ROOT, folder, 'package.json'), 'utf8');
    const { dependencies = {} } = JSON.parse(text) as { dependencies?: Record<string, string> };
    for (const name of Object.keys(dependencies)) {
      const place = `node_modules/${name}`;
      if (found.has(place) || !existsSync(join(ROOT, place))) continue;
      found.add(place);
      visit(place);
    }
  };
  visit('');
  return [...found];
}

function write(folder: string, name: string, text: string, mode = 0o644): void {
  mkdirSync(dirname(join(folder, name)), { recursive: true });
  writeFileSync(join(folder, name), text, { mode });
}

function lines(command: string, ...args: string[]): string[] {
  const output = execFileSync(command, args, { encoding: 'utf8', maxBuffer: 64 * 2 ** 20 });
  return output
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
}
