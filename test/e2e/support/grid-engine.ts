// A Grid Engine for one test: qmaster and one execution host in a network, host name and process space
// of their own, which end all of it when they end.

import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { until } from './hosts.ts';

export interface GridEngine {
  /** The words before a command that is to run where it is. */
  readonly inside: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  /** Number of the process that holds all of it. */
  readonly pid: number;
  command(name: string, ...args: string[]): string;
  stop(): Promise<void>;
}

const HOST = 'gridhost';

/** `directory` is empty, and becomes its own. */
export async function startGridEngine(directory: string, slots: number): Promise<GridEngine> {
  const at = (...names: string[]): string => join(directory, ...names);
  for (const folder of ['default/common', 'spooldb', 'qmaster/job_scripts', 'execd', 'log']) {
    mkdirSync(at(folder), { recursive: true, mode: 0o755 });
  }
  writeFileSync(at('hosts'), `127.0.0.1 localhost\n10.79.0.1 ${HOST}\n`);
  const holder = holdPlace(at('hosts'), at('place'));
  const pid = await until('the place of Grid Engine is there', () => innerPid(holder, at('place')));
  const environment = {
    ...{ SGE_ROOT: directory, SGE_CELL: 'default', SGE_ND: '1' },
    ...{ SGE_QMASTER_PORT: '26444', SGE_EXECD_PORT: '26445' },
  };
  const inside = ['nsenter', '-t', String(pid), '-m', '-u', '-n', '-p', '--wd=/', '--'];
  const [enter = '', ...how] = inside;
  const run = (name: string, ...args: string[]) =>
    spawnSync(enter, [...how, name, ...args], {
      ...{ env: { ...process.env, ...environment }, encoding: 'utf8', input: '' },
    });
  const command = (name: string, ...args: string[]): string => {
    const { status, stdout, stderr } = run(name, ...args);
    if (status !== 0) throw new Error(`${name} ${args.join(' ')}: ${stdout}${stderr}`);
    return stdout;
  };
  writeFileSync(at('setup.sh'), SETUP);
  command('sh', at('setup.sh'), directory);
  const start = (program: string): void => {
    const env = { ...process.env, ...environment };
    spawn(enter, [...how, program], { env, stdio: 'ignore', detached: true }).unref();
  };
  start('sge_qmaster');
  await until('qmaster answers', () => run('qconf', '-sh').status === 0 || undefined);
  for (const role of ['-ah', '-as']) run('qconf', role, HOST);
  start('sge_execd');
  writeFileSync(at('configure.sh'), CONFIGURE);
  command('sh', at('configure.sh'), directory, HOST, String(slots));
  await until('the queue is up', () => {
    return /main\.q@\S+ .* lx-amd64 *$/m.test(run('qstat', '-f').stdout) || undefined;
  });
  return {
    ...{ inside, environment, command, pid: holder.pid ?? 0 },
    async stop() {
      if (holder.exitCode !== null || holder.signalCode !== null) return;
      const ended = once(holder, 'exit');
      holder.kill('SIGKILL');
      await ended;
    },
  };
}

/** Everything that runs in it dies with it. */
function holdPlace(hosts: string, ready: string): ChildProcess {
  const script = `hostname ${HOST}; mount --bind ${hosts} /etc/hosts; ip link set lo up
    ip link add br0 type bridge && ip addr add 10.79.0.1/24 dev br0 && ip link set br0 up
    echo ok >${ready}; exec tini sleep infinity`;
  const place = ['-m', '-u', '-n', '-p', '-f', '--kill-child', '--propagation', 'private'];
  return spawn('unshare', [...place, '--mount-proc', 'sh', '-c', script], { stdio: 'ignore' });
}

function innerPid({ pid }: ChildProcess, ready: string): number | undefined {
  if (spawnSync('test', ['-s', ready]).status !== 0) return undefined;
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
  return children === '' ? undefined : Number(children.split(' ')[0]);
}

const SETUP = `set -e; D=$1; LIB=/usr/lib/gridengine; SHARE=/usr/share/gridengine
ln -sfn $SHARE/util $D/util
for s in bin lib utilbin; do ln -sfn /var/lib/gridengine/$s $D/$s; done
cat >$D/default/common/bootstrap <<C
admin_user              none
default_domain          none
ignore_fqdn             false
spooling_method         berkeleydb
spooling_lib            libspoolb
spooling_params         $D/spooldb
binary_path             $D/bin
qmaster_spool_dir       $D/qmaster
security_mode           none
listener_threads        2
worker_threads          2
scheduler_threads       1
C
hostname >$D/default/common/act_qmaster
$LIB/spoolinit berkeleydb libspoolb $D/spooldb init
awk -v d=$D '
 $1=="execd_spool_dir"{$0="execd_spool_dir "d"/execd"}
 $1=="reporting_params"{$0="reporting_params accounting=true reporting=false flush_time=00:00:01 accounting_flush_time=00:00:00 joblog=false sharelog=00:00:00"}
 $1~/^(min_uid|min_gid)$/{$0=$1" 0"} $1=="administrator_mail"{$0=$1" none"}
 $1=="load_report_time"{$0=$1" 00:00:02"} {print}' $SHARE/default-configuration >$D/conf
$LIB/spooldefaults configuration $D/conf
$LIB/spooldefaults complexes $SHARE/util/resources/centry
$LIB/spooldefaults usersets $SHARE/util/resources/usersets
$LIB/spooldefaults managers root
`;

const CONFIGURE = `set -e; D=$1; HOST=$2; SLOTS=$3
qconf -ssconf | awk '$1=="schedule_interval"{$0=$1" 0:0:1"} $1~/^flush_/{$0=$1" 1"} {print}' >$D/sconf
qconf -Msconf $D/sconf >/dev/null
printf 'group_name @allhosts\\nhostlist %s\\n' "$HOST" >$D/hg; qconf -Ahgrp $D/hg >/dev/null
qconf -sq | awk -v n=$SLOTS '$1=="qname"{$0="qname main.q"} $1=="hostlist"{$0="hostlist @allhosts"}
 $1=="slots"{$0="slots "n} $1=="pe_list"{$0=$1" NONE"} $1=="load_thresholds"{$0=$1" NONE"}
 $1=="shell_start_mode"{$0=$1" unix_behavior"} {print}' >$D/q
qconf -Aq $D/q >/dev/null
`;
