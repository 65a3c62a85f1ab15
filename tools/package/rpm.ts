// The package for systems with rpm, of the same tree as the Debian one. Made where rpmbuild is
// installed.

import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { ROOT } from '../tree.ts';
import { CONFIGURATION, installedFiles } from './deb.ts';
import type { How } from './tree.ts';

const ARCHITECTURES: Readonly<Record<string, string>> = { x64: 'x86_64', arm64: 'aarch64' };
/** Folders that are the package's own, with all that is in them. */
const OWN = ['usr/lib/weft/', 'usr/share/doc/weft/'];

const SCRIPTS = `%pre
getent passwd weft > /dev/null || useradd --system --user-group --no-create-home \
  --home-dir /var/lib/weft --shell /sbin/nologin weft

%post
install -d -o weft -g weft -m 0711 /var/lib/weft
if [ -d /run/systemd/system ]; then
  systemctl daemon-reload
  # Jobs go on: launchers outlive agents, and agents outlive the head's absence.
  [ "$1" = 1 ] || systemctl try-restart weft-head weft-agent || true
fi

%preun
[ "$1" = 0 ] && [ -d /run/systemd/system ] || exit 0
systemctl disable --now weft-agent weft-head || true
systemctl stop weft-jobs || true

%postun
[ ! -d /run/systemd/system ] || systemctl daemon-reload || true
`;

/** In place of the kinds of files that rpmbuild looks for in each, half of its time. */
const NO_KIND = '0 string weft-no-kind-of-file none\n';

export const canMakeRpm = (): boolean => spawnSync('rpmbuild', ['--version']).status === 0;

/** The file that was made. */
export function makeRpm({ tree, out, date, quick }: How): string {
  const architecture = ARCHITECTURES[process.arch];
  if (architecture === undefined) throw new Error(`no rpm for ${process.arch}`);
  const work = mkdtempSync(path.join(tmpdir(), 'weft-make-rpm-'));
  try {
    const spec = path.join(work, 'weft.spec');
    const root = path.dirname(tree.folder);
    writeFileSync(spec, specText(tree.version, root, quick));
    const defines = [
      `_topdir ${work}`,
      `_rpmdir ${out}`,
      '_rpmfilename %{NAME}-%{VERSION}-%{RELEASE}.%{ARCH}.rpm',
    ];
    const args = [
      '-bb',
      '--target',
      architecture,
      ...defines.flatMap((one) => ['--define', one]),
      spec,
    ];
    const magic = path.join(work, 'magic');
    writeFileSync(magic, NO_KIND);
    const kinds = quick ? { MAGIC: magic } : {};
    const env = { ...process.env, SOURCE_DATE_EPOCH: String(date), ...kinds };
    const done = spawnSync('rpmbuild', args, { encoding: 'utf8', env, maxBuffer: 2 ** 26 });
    if (done.status !== 0) throw new Error(`rpmbuild: ${done.error?.message ?? done.stderr}`);
    return path.join(out, `weft-${tree.version}-1.${architecture}.rpm`);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

function specText(version: string, root: string, quick: boolean): string {
  const { description, license } = JSON.parse(
    readFileSync(path.join(ROOT, 'package.json'), 'utf8'),
  ) as { description: string; license: string };
  return `%global __os_install_post %{nil}
%global debug_package %{nil}
%global _build_id_links none
%global _binary_payload ${quick ? 'w.ufdio' : 'w9.xzdio'}
%global _buildhost weft
%global use_source_date_epoch_as_buildtime 1
%global clamp_mtime_to_source_date_epoch 1

Name: weft
Version: ${version}
Release: 1
Summary: ${description.replace(/\.$/, '')}
License: ${license}
# Node inside is linked to these; what else it needs is with it.
AutoReqProv: no
Requires: glibc >= 2.28, libstdc++, libgcc, shadow-utils

%description
The head decides, agents run jobs on each machine, and users type weft run.
Nothing is started by installing it: see /usr/share/doc/weft/docs/install.md.

%install
cp -a ${root}/usr ${root}/etc %{buildroot}/

${SCRIPTS}
%files
%defattr(-,root,root,-)
${filesOf(root).join('\n')}
%dir /etc/weft
`;
}

function filesOf(root: string): string[] {
  const others = installedFiles(root).filter((file) => !OWN.some((own) => file.startsWith(own)));
  const listed = others.map((file) =>
    file === CONFIGURATION ? `%config(noreplace) "/${file}"` : `"/${file}"`,
  );
  return [...OWN.map((own) => `/${own.slice(0, -1)}`), ...listed];
}
