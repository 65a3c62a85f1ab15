// Debian packages that tests need, and for what. As root the test runner installs the missing ones;
// otherwise it names them, and the tests that need them say that they are skipped.

import { spawnSync } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import path from 'node:path';

/** One package and how to see that what it brings is there. */
export interface DebianPackage {
  readonly name: string;
  /** A program looked up on PATH, a module of one (`python3 -m venv`), or the path of a file. */
  readonly provides: string;
  /** Which tests need it. */
  readonly neededFor: string;
  /** Stages of `npm test` that use it. */
  readonly stages: readonly string[];
}

const BUILD = ['unit', 'contract', 'launcher', 'e2e'];
const HOSTS = ['e2e'];
const CLOUDPICKLE = '/usr/lib/python3/dist-packages/cloudpickle/__init__.py';
const JWT_PLUGIN = '/usr/lib/x86_64-linux-gnu/slurm-wlm/auth_jwt.so';

/** All packages, the cheap ones first. */
export const DEBIAN_PACKAGES: readonly DebianPackage[] = [
  row('gcc', 'gcc', 'building the launcher', BUILD),
  row('libc6-dev', '/usr/include/stdio.h', 'building the launcher', BUILD),
  row('util-linux', 'unshare', 'hosts in namespaces, jobs of other users', BUILD),
  row('musl-tools', 'musl-gcc', 'the launcher with a C library of its own', ['contract']),
  row('rpm', 'rpmbuild', 'the package for systems with rpm', HOSTS),
  row('rsync', 'rsync', 'uploading an export for Slurm', ['unit']),
  row('git', 'git', 'the tree that a fresh clone would have', HOSTS),
  row('openssl', 'openssl', 'certificates made and looked at from outside', ['unit', 'e2e']),
  row('groff-base', 'groff', 'the manual pages', ['unit']),
  row('bsdutils', 'script', 'programs on a terminal', ['unit']),
  row('xvfb', 'Xvfb', 'an X server that shows nothing', ['unit', 'e2e']),
  row('xdotool', 'xdotool', 'keys and a mouse on it', ['unit', 'e2e']),
  row('xauth', 'xauth', 'who may use it', ['unit', 'e2e']),
  row('python3', 'python3', 'the example jobs, records of logins', ['unit', 'e2e']),
  row('python3-venv', 'python3 -m ensurepip', 'the clients in Python', HOSTS),
  row('python3-cloudpickle', CLOUDPICKLE, 'functions of the Python package', HOSTS),
  row('chromium', 'chromium', 'the web page in a browser', HOSTS),
  row('iproute2', 'ip', 'networks between hosts, and cutting them', HOSTS),
  row('iptables', 'iptables', 'one-way cuts and loss', HOSTS),
  row('faketime', 'faketime', 'a host whose clock is wrong', HOSTS),
  row('tini', 'tini', 'first process of a host in namespaces', HOSTS),
  row('strace', 'strace', 'every command line of every program that is started', HOSTS),
  row('busybox-static', 'busybox', 'the smallest container image', HOSTS),
  row('tcsh', 'tcsh', 'users of other shells', HOSTS),
  row('zsh', 'zsh', 'users of other shells', HOSTS),
  row('fish', 'fish', 'users of other shells', HOSTS),
  row('docker.io', 'dockerd', 'the compose file, batches in containers', HOSTS),
  row('podman', 'podman', 'batches in containers', ['unit', 'e2e']),
  row('catatonit', '/usr/libexec/podman/catatonit', 'first process of a container', HOSTS),
  row('docker-compose', 'docker-compose', 'the compose file', HOSTS),
  row('systemd', 'systemd-analyze', 'checking the service units', HOSTS),
  row('e2fsprogs', 'mke2fs', 'the disk of a virtual machine', HOSTS),
  row('user-mode-linux', 'linux.uml', 'a machine with systemd and cgroup v2', HOSTS),
  row('slurm-wlm', 'slurmctld-wlm', 'a real Slurm for an exported batch', HOSTS),
  row('slurmrestd', 'slurmrestd', 'a real Slurm over HTTP', HOSTS),
  row('slurm-wlm-jwt-plugin', JWT_PLUGIN, 'its tokens', HOSTS),
  row('munge', 'munged', 'a real Slurm for an exported batch', HOSTS),
  row('gridengine-master', 'sge_qmaster', 'pilots on a real Grid Engine', HOSTS),
  row('gridengine-exec', 'sge_execd', 'pilots on a real Grid Engine', HOSTS),
  row('gridengine-client', 'qsub', 'pilots on a real Grid Engine', HOSTS),
  row('postgresql', '/usr/lib/postgresql', 'a real OAR', HOSTS),
  row('openssh-server', 'sshd', 'a real OAR', HOSTS),
  row('taktuk', 'taktuk', 'a real OAR', HOSTS),
  row('libjson-perl', '/usr/share/perl5/JSON.pm', 'a real OAR', HOSTS),
  row('oar-server', 'Almighty', 'a real OAR', HOSTS),
  row('oar-server-pgsql', '/usr/share/doc/oar-server-pgsql', 'a real OAR', HOSTS),
  row('oar-node', '/usr/share/doc/oar-node', 'a real OAR', HOSTS),
  row('oar-user', 'oarsub', 'a real OAR', HOSTS),
  row('oar-user-pgsql', '/usr/share/doc/oar-user-pgsql', 'a real OAR', HOSTS),
  row('lammps', 'lmp', 'the molecular dynamics example', HOSTS),
  row('openmpi-bin', 'mpirun.openmpi', 'MPI programs on several nodes', HOSTS),
  row('mpich', 'mpiexec.hydra', 'MPI programs on several nodes', HOSTS),
  row('libmpich-dev', 'mpicc.mpich', 'MPI programs on several nodes', HOSTS),
];

function row(
  name: string,
  provides: string,
  neededFor: string,
  stages: readonly string[],
): DebianPackage {
  return { name, provides, neededFor, stages };
}

/** The packages that these stages need and that are not there. */
export function missingPackages(stages: readonly string[]): DebianPackage[] {
  return DEBIAN_PACKAGES.filter(
    (entry) => entry.stages.some((stage) => stages.includes(stage)) && !isThere(entry.provides),
  );
}

/** Installs packages with apt-get; false when this is not root on a Debian, or apt-get failed. */
export function installPackages(packages: readonly DebianPackage[]): boolean {
  if (process.getuid?.() !== 0 || !isThere('apt-get')) return false;
  const names = packages.map((entry) => entry.name);
  console.log(`Installing ${names.join(', ')} ...`);
  return apt('update') && apt('install', ...INSTALL_OPTIONS, ...names);
}

const INSTALL_OPTIONS = [
  '-y',
  '--no-install-recommends',
  // A machine of CI lives for one run: nothing needs to be on its disk before that goes on.
  ...(process.env['CI'] === 'true' ? ['-o', 'Dpkg::Options::=--force-unsafe-io'] : []),
];

function apt(...args: string[]): boolean {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const done = spawnSync('apt-get', ['-q', ...args], { env, encoding: 'utf8' });
  if (done.status === 0) return true;
  console.log(`apt-get ${args[0]} failed:\n${done.error?.message ?? done.stderr}`);
  return false;
}

function isThere(provides: string): boolean {
  const [program = '', module] = provides.split(' -m ');
  if (module !== undefined) return spawnSync(program, ['-c', `import ${module}`]).status === 0;
  const folders = [...(process.env['PATH'] ?? '').split(':'), '/usr/sbin', '/sbin'];
  const places = path.isAbsolute(provides)
    ? [provides]
    : folders.map((folder) => path.join(folder, provides));
  return places.some((place) => canRead(place));
}

function canRead(place: string): boolean {
  try {
    accessSync(place, constants.R_OK);
    return true;
  } catch {
    // Absent or hidden from us: for the tests that is the same.
    return false;
  }
}
