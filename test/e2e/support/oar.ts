// An OAR on hosts of its own: PostgreSQL and the server on `head`, an sshd on each node, in one
// temporary directory that all of them see. Its queues are on. Ends with its hosts.

import { execFile, spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type Host, type Lan, until } from './hosts.ts';

const run = promisify(execFile);
const POSTGRES = '/usr/lib/postgresql';

export const hasOar =
  spawnSync('which', ['Almighty', 'oarsub', 'oarstat', 'taktuk', 'tini', 'ip']).status === 0 &&
  spawnSync('test', ['-s', '/var/lib/oar/.ssh/id_rsa', '-a', '-d', POSTGRES]).status === 0;

export interface Oar {
  /** Where its server is, and its commands work. */
  readonly head: Host;
  /** Runs a command there; its standard output. */
  command(...argv: readonly string[]): Promise<string>;
  /** The same as a user of the site. */
  as(user: OarUser, ...argv: readonly string[]): Promise<string>;
  /** Ends its server, and starts it. */
  stopServer(): Promise<void>;
  startServer(): Promise<void>;
}

/** Known on its hosts only. */
export const OAR_USERS = { alice: 4001, bob: 4002 } as const;
export type OarUser = keyof typeof OAR_USERS;

/** @param cores of each node */
export async function startOar(
  lan: Lan,
  directory: string,
  names: readonly string[],
  cores: number,
): Promise<Oar> {
  layOut(directory);
  // A head of ours runs there too, and who logs in from this machine proves it by a directory in
  // /tmp.
  const head = await lan.addHost('head', null, ['/tmp']);
  const nodes: Host[] = [];
  for (const name of names) nodes.push(await lan.addHost(name));
  const at = async (host: Host, ...argv: readonly string[]): Promise<string> => {
    const [file = '', ...args] = host.enter(argv);
    return (await run(file, args, { env: { ...process.env, LC_ALL: 'C.UTF-8' } })).stdout;
  };
  const command: Oar['command'] = (...argv) => at(head, ...argv);
  await Promise.all(
    [head, ...nodes].map((host) =>
      at(host, 'sh', join(directory, 'host.sh'), directory, host.name),
    ),
  );
  const bin = join(POSTGRES, readdirSync(POSTGRES).sort().at(-1) ?? '', 'bin');
  const resources = nodes.flatMap(({ name }, node) =>
    Array.from({ length: cores }, (_, core) => `${name} ${node} ${core}`),
  );
  writeFileSync(join(directory, 'resources'), `${resources.join('\n')}\n`);
  await command('sh', join(directory, 'database.sh'), directory, bin);
  for (const node of nodes) await at(node, '/usr/sbin/sshd', '-f', '/etc/oar/sshd_config');
  const server = { pid: 0, ended: Promise.resolve() };
  const startServer = async (): Promise<void> => {
    Object.assign(server, await head.start('/usr/sbin/Almighty', []));
    await until('the server answers', () => {
      const knock = ['-MIO::Socket::INET', '-e', 'exit !IO::Socket::INET->new("head:6666")'];
      return command('perl', ...knock).then(
        () => true,
        () => undefined,
      );
    });
  };
  const stopServer = async (): Promise<void> => {
    process.kill(server.pid, 'SIGTERM');
    await server.ended;
  };
  await startServer();
  const as: Oar['as'] = (user, ...argv) => {
    const id = OAR_USERS[user];
    const words = ['setpriv', `--reuid=${id}`, `--regid=${id}`, '--clear-groups'];
    return command(...words, 'env', '-C', '/tmp', 'PWD=/tmp', `HOME=${directory}`, ...argv);
  };
  return { head, command, as, startServer, stopServer };
}

function layOut(directory: string): void {
  const users = Object.entries(OAR_USERS);
  const passwd = users.map(([name, id]) => `${name}:x:${id}:${id}::/tmp:/bin/bash\n`).join('');
  const group = users.map(([name, id]) => `${name}:x:${id}:\n`).join('');
  writeFileSync(join(directory, 'passwd'), readFileSync('/etc/passwd', 'utf8') + passwd);
  writeFileSync(join(directory, 'group'), readFileSync('/etc/group', 'utf8') + group);
  const conf = readFileSync('/etc/oar/oar.conf', 'utf8').split('\n');
  const kept = conf.filter((line) => !CHANGED.some((name) => line.startsWith(`${name}=`)));
  writeFileSync(join(directory, 'oar.conf'), `${kept.join('\n')}\n${CONF}`, { mode: 0o600 });
  writeFileSync(join(directory, 'host.sh'), HOST);
  writeFileSync(join(directory, 'database.sh'), DATABASE);
  mkdirSync(join(directory, 'hosts'));
}

/** The first two are left out: jobs have no cpusets, whose end empties /tmp of their user. */
const CHANGED = [
  ...['JOB_RESOURCE_MANAGER_PROPERTY_DB_FIELD', 'CPUSET_PATH', 'DB_BASE_PASSWD'],
  ...['DB_BASE_PASSWD_RO', 'SERVER_HOSTNAME', 'SCHEDULER_MIN_TIME_BETWEEN_2_CALLS'],
  ...['SCHEDULER_JOB_SECURITY_TIME', 'SCHEDULER_GANTT_HOLE_MINIMUM_TIME', 'FINAUD_FREQUENCY'],
  ...['TAKTUK_CMD', 'PINGCHECKER_TAKTUK_ARG_COMMAND', 'LOG_LEVEL'],
];

const CONF = `DB_BASE_PASSWD="oar"
DB_BASE_PASSWD_RO="oar_ro"
SERVER_HOSTNAME="head"
SCHEDULER_MIN_TIME_BETWEEN_2_CALLS="0"
SCHEDULER_JOB_SECURITY_TIME="1"
SCHEDULER_GANTT_HOLE_MINIMUM_TIME="1"
FINAUD_FREQUENCY="0"
TAKTUK_CMD="/usr/bin/taktuk -t 30 -s"
PINGCHECKER_TAKTUK_ARG_COMMAND="broadcast exec timeout 5 kill 9 [ true ]"
LOG_LEVEL="3"
`;

/** The host's own users, configuration and home of OAR, which nobody else on this machine sees. */
const HOST = `set -e; D=$1; H=$D/hosts/$2; mkdir $H
for f in passwd group; do mount --bind $D/$f /etc/$f; done
cp $D/oar.conf $H/oar.conf; chown --reference=/etc/oar/oar.conf $H/oar.conf; chmod 600 $H/oar.conf
mount --bind $H/oar.conf /etc/oar/oar.conf
cp -a /var/lib/oar $H/home; mount --bind $H/home /var/lib/oar
mkdir $H/log; chmod 777 $H/log; mount --bind $H/log /var/log
mount -t tmpfs run /run; mkdir /run/sshd /run/postgresql
`;

const DATABASE = `set -e; D=$1; BIN=$2
mkdir $D/pg; chown postgres $D/pg /run/postgresql; cd $D/pg
su postgres -c "$BIN/initdb -D $D/pg/d --no-sync --auth-local=peer --auth-host=scram-sha-256" >/dev/null
cat >>$D/pg/d/postgresql.conf <<C
listen_addresses='127.0.0.1'
unix_socket_directories='/run/postgresql'
fsync=off
shared_buffers=32MB
C
su postgres -c "$BIN/pg_ctl -w -D $D/pg/d -l $D/pg/log start" >/dev/null
oar-database --create --db-is-local >$D/database.log 2>&1 || { cat $D/database.log >&2; exit 1; }
oarproperty -q -a cpu; oarproperty -q -a core; oarproperty -q -c -a host
while read -r host cpu core; do
  oarnodesetting -a -h $host -p host=$host -p cpu=$cpu -p core=$core -p cpuset=$core >/dev/null
done <$D/resources
`;
