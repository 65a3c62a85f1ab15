// The Debian package: the tree below /usr, units, the user of the head, and what dpkg has to know.

import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  cpSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { ROOT } from '../tree.ts';
import type { How, Tree } from './tree.ts';

const ARCHITECTURES: Readonly<Record<string, string>> = { x64: 'amd64', arm64: 'arm64' };

/** What the Node inside is linked to, in Debian and Ubuntu from 2019 on. */
const DEPENDS = 'libc6 (>= 2.28), libstdc++6 (>= 8), libgcc-s1, passwd';

const POSTINST = `#!/bin/sh
set -e
[ "$1" = configure ] || exit 0
getent passwd weft > /dev/null || useradd --system --user-group --no-create-home \\
  --home-dir /var/lib/weft --shell /usr/sbin/nologin weft
install -d -o weft -g weft -m 0711 /var/lib/weft
install -d -m 0755 /etc/weft
if [ -d /run/systemd/system ]; then
  systemctl daemon-reload
  # Jobs go on: launchers outlive agents, and agents outlive the head's absence.
  [ -z "$2" ] || systemctl try-restart weft-head weft-agent || true
fi
`;
const PRERM = `#!/bin/sh
set -e
[ "$1" = remove ] && [ -d /run/systemd/system ] || exit 0
systemctl disable --now weft-agent weft-head || true
systemctl stop weft-jobs || true
`;
const POSTRM = `#!/bin/sh
set -e
[ ! -d /run/systemd/system ] || systemctl daemon-reload || true
[ "$1" = purge ] || exit 0
rm -rf /var/lib/weft /var/cache/weft /etc/weft
! getent passwd weft > /dev/null || userdel weft || true
`;

/** Below the root: an administrator changes it, and keeps those changes. */
export const CONFIGURATION = 'etc/logrotate.d/weft';

/** What packages of a system have beside the tarball's: units, and what is below /etc. */
export function addSystemFiles({ folder }: Tree): void {
  const root = path.dirname(folder);
  const units = path.join(folder, 'lib', 'systemd', 'system');
  cpSync(path.join(ROOT, 'deploy', 'systemd'), units, { recursive: true });
  mkdirSync(path.join(root, 'etc', 'weft'), { recursive: true });
  cpSync(path.join(ROOT, 'deploy', 'logrotate', 'weft'), path.join(root, CONFIGURATION));
  openToAll(root);
}

/** The file that was made. */
export function makeDeb({ tree, out, date, quick }: How): string {
  const root = path.dirname(tree.folder);
  const architecture = ARCHITECTURES[process.arch];
  if (architecture === undefined) throw new Error(`no Debian package for ${process.arch}`);
  const control = path.join(root, 'DEBIAN');
  mkdirSync(control);
  writeFileSync(
    path.join(control, 'control'),
    controlText(tree.version, architecture, sizeOf(root)),
  );
  writeFileSync(path.join(control, 'conffiles'), `/${CONFIGURATION}\n`);
  writeFileSync(path.join(control, 'md5sums'), sumsOf(root));
  for (const [name, text] of Object.entries({ postinst: POSTINST, prerm: PRERM, postrm: POSTRM })) {
    writeFileSync(path.join(control, name), text, { mode: 0o755 });
  }
  const file = path.join(out, `weft_${tree.version}_${architecture}.deb`);
  const packing = [quick ? '-Znone' : '-Zxz'];
  const done = spawnSync('dpkg-deb', [...packing, '--root-owner-group', '-b', root, file], {
    encoding: 'utf8',
    env: { ...process.env, SOURCE_DATE_EPOCH: String(date) },
  });
  if (done.status !== 0) throw new Error(`dpkg-deb: ${done.error?.message ?? done.stderr}`);
  return file;
}

function controlText(version: string, architecture: string, bytes: number): string {
  const { description, author } = JSON.parse(
    readFileSync(path.join(ROOT, 'package.json'), 'utf8'),
  ) as { description: string; author: string };
  return `Package: weft
Version: ${version}
Architecture: ${architecture}
Maintainer: ${author} <weft@localhost>
Installed-Size: ${Math.ceil(bytes / 1024)}
Depends: ${DEPENDS}
Recommends: openssh-client, logrotate
Section: admin
Priority: optional
Description: ${description.replace(/\.$/, '')}
 The head decides, agents run jobs on each machine, and users type weft run.
 Nothing is started by installing it: see /usr/share/doc/weft/docs/install.md.
`;
}

/** Modes as an installed package has them: root owns all, and everybody reads it. */
function openToAll(folder: string): void {
  for (const name of readdirSync(folder)) {
    const one = path.join(folder, name);
    const { mode } = lstatSync(one);
    const isFolder = lstatSync(one).isDirectory();
    chmodSync(one, isFolder || (mode & 0o100) !== 0 ? 0o755 : 0o644);
    if (isFolder) openToAll(one);
  }
}

export function installedFiles(root: string): string[] {
  return readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((one) => one.isFile())
    .map((one) => path.relative(root, path.join(one.parentPath, one.name)))
    .filter((file) => !file.startsWith('DEBIAN'))
    .sort();
}

function sizeOf(root: string): number {
  return installedFiles(root).reduce((sum, file) => sum + lstatSync(path.join(root, file)).size, 0);
}

function sumsOf(root: string): string {
  const lines = installedFiles(root).map((file) => {
    const sum = createHash('md5')
      .update(readFileSync(path.join(root, file)))
      .digest('hex');
    return `${sum}  ${file}\n`;
  });
  return lines.join('');
}
