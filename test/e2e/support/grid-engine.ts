// A Grid Engine on hosts of its own: a qmaster on `head`, an execution daemon on each node, in one
// temporary directory that all of them see. Where it is steered, each job needs a ticket that no
// host has, so that nothing starts but what a steering program lets go (docs/sites/sge.md). Ends
// with its hosts.

import { execFile, spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type Host, type Lan, until } from './hosts.ts';

const run = promisify(execFile);
const LIB = '/usr/lib/gridengine';
const SHARE = '/usr/share/gridengine';
const PORT = 26_444;

export const hasGridEngine =
  spawnSync('which', ['sge_qmaster', 'sge_execd', 'qsub']).status === 0 &&
  spawnSync('which', ['tini', 'nsenter', 'ip']).status === 0;

export interface GridEngine {
  /** In which its commands find it. */
  readonly environment: Record<string, string>;
  /** Words before a command that runs on its head. */
  readonly before: readonly string[];
  /** Runs one of its commands there; its standard output. */
  command(...argv: readonly string[]): Promise<string>;
  /** Whether its own scheduler looks at jobs by itself. */
  makePasses(isOn: boolean): Promise<void>;
}

export interface GridSettings {
  /** Hosts that run jobs; `head` may be one of them. */
  readonly nodes: readonly string[];
  /** Jobs of one cpu that each takes at once. */
  readonly slots: number;
  readonly isSteered: boolean;
}

export async function startGridEngine(
  lan: Lan,
  directory: string,
  settings: GridSettings,
): Promise<GridEngine> {
  const { nodes } = settings;
  // A head of ours may run there too, and who logs in from this machine proves it in /tmp.
  const head = await lan.addHost('head', null, ['/tmp']);
  const workers: Host[] = [];
  for (const name of nodes) workers.push(name === 'head' ? head : await lan.addHost(name));
  const environment = {
    SGE_ROOT: directory,
    SGE_CELL: 'default',
    SGE_ND: '1',
    SGE_QMASTER_PORT: String(PORT),
    SGE_EXECD_PORT: String(PORT + 1),
  };
  const before = head.enter([]);
  const command = async (...argv: readonly string[]): Promise<string> => {
    const [file = '', ...args] = [...before, ...argv];
    return (await run(file, args, { env: { ...process.env, ...environment } })).stdout;
  };
  layOut(directory);
  await spool(directory, settings, command);
  await head.start('sge_qmaster', [], { env: environment });
  await until('the qmaster answers', () => command('qconf', '-sh').then(Boolean, () => undefined));
  for (const { name } of new Set([head, ...workers])) {
    await command('qconf', '-ah', name);
    await command('qconf', '-as', name);
  }
  for (const worker of workers) await worker.start('sge_execd', [], { env: environment });
  await configure(directory, settings, command);
  if (settings.isSteered) await closeHosts(directory, nodes, command);
  await until('its hosts are there', async () => {
    const listed = await command('qstat', '-f');
    const there = listed.split('\n').filter((line) => /^main\.q@\S+ .*lx-amd64 *$/.test(line));
    return there.length === nodes.length || undefined;
  });
  const makePasses = (isOn: boolean) => setPasses(directory, command, isOn);
  return { environment, before, command, makePasses };
}

type Command = GridEngine['command'];

function layOut(directory: string): void {
  for (const name of ['default/common', 'spooldb', 'qmaster/job_scripts', 'execd', 'log']) {
    mkdirSync(join(directory, name), { recursive: true });
  }
  symlinkSync(`${SHARE}/util`, join(directory, 'util'));
  for (const name of ['bin', 'lib', 'utilbin']) {
    symlinkSync(`/var/lib/gridengine/${name}`, join(directory, name));
  }
  const bootstrap = [
    ...['admin_user none', 'default_domain none', 'ignore_fqdn false'],
    ...['spooling_method berkeleydb', 'spooling_lib libspoolb'],
    ...[`spooling_params ${directory}/spooldb`, `binary_path ${directory}/bin`],
    ...[`qmaster_spool_dir ${directory}/qmaster`, 'security_mode none'],
    ...['listener_threads 2', 'worker_threads 2', 'scheduler_threads 1'],
  ];
  writeFileSync(join(directory, 'default/common/bootstrap'), `${bootstrap.join('\n')}\n`);
  writeFileSync(join(directory, 'default/common/act_qmaster'), 'head\n');
  writeFileSync(join(directory, 'ticket.jsv'), TICKETS, { mode: 0o755 });
}

/** The script of docs/sites/sge.md. */
const TICKETS = `#!/bin/sh
# every job needs a ticket that no host has until the gateway opens hosts for it
while read -r verb a b c; do
  case $verb in
  START) hard=; echo STARTED;;
  PARAM) [ "$a" = l_hard ] && hard=$b;;
  BEGIN) case ,$hard in *,ticket=*|*,tk=*) echo "RESULT STATE REJECT ticket is given by the site"; continue;; esac
         t=$(od -An -N6 -tx1 /dev/urandom | tr -d ' ')
         echo "PARAM l_hard \${hard:+$hard,}ticket=*_\${t}_*"; echo "RESULT STATE CORRECT ticket";;
  QUIT) exit 0;;
  esac
done
`;

async function spool(
  directory: string,
  { isSteered }: GridSettings,
  command: Command,
): Promise<void> {
  await command(`${LIB}/spoolinit`, 'berkeleydb', 'libspoolb', `${directory}/spooldb`, 'init');
  const conf = changed(readFileSync(`${SHARE}/default-configuration`, 'utf8'), {
    execd_spool_dir: `${directory}/execd`,
    reporting_params:
      'accounting=true reporting=false flush_time=00:00:01 accounting_flush_time=00:00:00 joblog=false sharelog=00:00:00',
    min_uid: '0',
    min_gid: '0',
    administrator_mail: 'none',
    load_report_time: '00:00:02',
    finished_jobs: '0',
    max_unheard: '00:01:00',
    jsv_url: isSteered ? `script:${directory}/ticket.jsv` : 'none',
    jsv_allowed_mod: 'ac,h,i,e,o,j,M,N,p,w,q_hard',
  });
  writeFileSync(join(directory, 'conf'), conf);
  await command(`${LIB}/spooldefaults`, 'configuration', `${directory}/conf`);
  await command(`${LIB}/spooldefaults`, 'complexes', `${SHARE}/util/resources/centry`);
  await command(`${LIB}/spooldefaults`, 'usersets', `${SHARE}/util/resources/usersets`);
  await command(`${LIB}/spooldefaults`, 'managers', 'root');
}

async function configure(
  directory: string,
  { nodes, slots, isSteered }: GridSettings,
  command: Command,
): Promise<void> {
  await setPasses(directory, command, !isSteered);
  const give = giver(directory, command);
  await give('-Ahgrp', `group_name @allhosts\nhostlist ${nodes.join(' ')}\n`);
  await give('-Ap', SMP);
  await give('-Ap', SPREAD);
  await give(
    '-Aq',
    changed(await command('qconf', '-sq'), {
      qname: 'main.q',
      hostlist: '@allhosts',
      slots: String(slots),
      pe_list: 'smp one',
      load_thresholds: 'NONE',
      shell_start_mode: 'unix_behavior',
    }),
  );
}

async function setPasses(directory: string, command: Command, isOn: boolean): Promise<void> {
  const flush = isOn ? '1' : '0';
  const passes = {
    schedule_interval: isOn ? '0:0:1' : '24:0:0',
    maxujobs: '0',
    flush_submit_sec: flush,
    flush_finish_sec: flush,
  };
  const text = changed(await command('qconf', '-ssconf'), passes);
  await giver(directory, command)('-Msconf', text);
}

/** No job finds its ticket. */
async function closeHosts(
  directory: string,
  nodes: readonly string[],
  command: Command,
): Promise<void> {
  const complexes = (await command('qconf', '-sc')).split('\n').filter((line) => !/^#/.test(line));
  const ticket = 'ticket tk RESTRING == FORCED NO NONE 0';
  await giver(directory, command)('-Mc', `${complexes.join('\n').trim()}\n${ticket}\n`);
  for (const name of nodes) {
    await command('qconf', '-mattr', 'exechost', 'complex_values', 'ticket=none', name);
  }
}

/** Gives what is in a file to `qconf`. */
function giver(directory: string, command: Command) {
  return async (option: string, text: string): Promise<void> => {
    writeFileSync(join(directory, 'given'), text);
    await command('qconf', option, join(directory, 'given'));
  };
}

/** All slots on one host. */
const SMP = `pe_name smp
slots 999
user_lists NONE
xuser_lists NONE
start_proc_args NONE
stop_proc_args NONE
allocation_rule $pe_slots
control_slaves TRUE
job_is_first_task TRUE
urgency_slots min
accounting_summary TRUE
qsort_args NONE
`;

/** One slot on each host. */
const SPREAD = SMP.replace('pe_name smp', 'pe_name one').replace('$pe_slots', '1');

/** Lines of `name value`, with other values for these names. */
function changed(text: string, values: Readonly<Record<string, string>>): string {
  const lines = text.split('\n').map((line) => {
    const [name = ''] = line.split(/\s/);
    return name in values ? `${name} ${values[name]}` : line;
  });
  return lines.join('\n');
}
