// `weft setup head`: this machine has the head from then on. Says what it will do, does it, and looks
// whether it works; what is done already is not done twice.

import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Context } from '../../../kernel/cli/context.ts';
import { defineVerb, type VerbGroup } from '../../../kernel/cli/verb.ts';
import { Api } from '../../../kernel/connect/api.ts';
import { SYSTEM_SOCKET } from '../../../kernel/connect/locate.ts';
import { SessionCache } from '../../../kernel/connect/sessions.ts';
import { refuse } from '../../../kernel/model/errors.ts';
import { Failure, failure, usage } from '../../../kernel/model/failure.ts';
import { HEAD_FOLDER, type HeadSeen, planHead, type StepName, wordsOf } from '../core/head-plan.ts';
import { TEMPLATES } from './templates/templates.ts';

interface Options {
  readonly template?: string;
  readonly names?: string;
  readonly name?: string;
  readonly yes?: boolean;
}

const UNIT = 'weft-head.service';
const UNIT_PLACES = ['/etc/systemd/system', '/usr/lib/systemd/system', '/lib/systemd/system'];
/** From the sources as from dist/. */
const ROOT = fileURLToPath(new URL('../../../../', import.meta.url));
const START_MS = 60_000;
const LOOK_MS = 300;

const head = defineVerb<Options>({
  define(command) {
    const names = TEMPLATES.map(({ name }) => name).join(', ');
    command.option('--template <template>', `one of ${names} (asked for; default: lab)`);
    command.option('--names <names>', 'names and addresses of this machine (asked for)');
    command.option('--name <name>', 'name of the cluster', 'weft');
    command.option('-y, --yes', 'ask nothing: what is not given is as usual');
  },
  async run({ context, options }) {
    const plan = planHead(await look(context));
    if (!plan.ok) throw usage(plan.error.what, plan.error.remedy);
    const steps = plan.value;
    const answers = steps.includes('config') ? await answersTo(context, options) : null;
    if (steps.length === 0) context.print('All is there already:');
    for (const step of steps) context.print(`- ${wordsOf(step)}`);
    if (steps.length > 0 && !(await isWanted(context, options))) return 1;
    for (const step of steps) carryOut(step, answers);
    const version = await untilServing(context);
    context.print(`The head serves at ${SYSTEM_SOCKET}, Weft ${version}. What next:`);
    context.print('  weft node add user@host…    machines that run jobs, over ssh');
    context.print('  weft doctor --cluster       whether they agree with this one');
    return 0;
  },
});

export const verb: VerbGroup = {
  verbs: { head: { summary: 'give this machine the head of a cluster, as a service', verb: head } },
};

interface Answers {
  readonly name: string;
  readonly template: string;
  readonly names: string;
}

async function answersTo(context: Context, options: Options): Promise<Answers> {
  const template = options.template ?? (await ask(context, options, 'Which template', 'lab'));
  if (!TEMPLATES.some(({ name }) => name === template)) {
    const names = TEMPLATES.map(({ name }) => name).join(', ');
    throw usage(`--template: '${template}' is none`, `There are: ${names}.`);
  }
  const question = 'Names and addresses under which others reach this machine';
  const names = options.names ?? (await ask(context, options, question, hostname()));
  return { template, names, name: options.name ?? 'weft' };
}

async function ask(context: Context, { yes }: Options, question: string, usual: string) {
  const { ask: askThere } = context.terminal;
  if (yes === true || askThere === undefined) return usual;
  return (await askThere(`${question}? [${usual}] `)).trim() || usual;
}

async function isWanted({ terminal }: Context, { yes }: Options): Promise<boolean> {
  if (yes === true) return true;
  if (terminal.ask === undefined) throw usage('nobody is here to be asked', 'Give --yes.');
  return /^(y(es)?)?$/i.test((await terminal.ask('Do that? [Y/n] ')).trim());
}

async function look(context: Context): Promise<HeadSeen> {
  return {
    isRoot: process.getuid?.() === 0,
    hasSystemd: existsSync('/run/systemd/system'),
    hasUser: spawnSync('getent', ['passwd', 'weft']).status === 0,
    hasFolder: existsSync(HEAD_FOLDER),
    hasConfig: existsSync(path.join(HEAD_FOLDER, 'weft.yaml')),
    hasUnit: UNIT_PLACES.some((place) => existsSync(path.join(place, UNIT))),
    isRunning: (await serving(context)) !== null,
  };
}

function carryOut(step: StepName, answers: Answers | null): void {
  const [node, weft] = [process.execPath, process.argv[1] ?? ''];
  const { name = '', template = '', names = '' } = answers ?? {};
  const chosen = ['--name', name, '--template', template, '--names', names];
  const user = ['--system', '--user-group', '--create-home', '--home-dir', '/var/lib/weft', 'weft'];
  const steps: Readonly<Record<StepName, () => void>> = {
    user: () => run('useradd', ...user),
    // The one around it too: whoever has a job on this machine passes through it.
    folder: () =>
      run('install', '-d', '-o', 'weft', '-g', 'weft', '-m', '0711', '/var/lib/weft', HEAD_FOLDER),
    config: () =>
      run('runuser', '-u', 'weft', '--', node, weft, 'init', '--dir', HEAD_FOLDER, ...chosen),
    unit: installUnit,
    start: () => run('systemctl', 'enable', '--now', 'weft-head'),
  };
  steps[step]();
}

/** The unit names the program by its usual place. */
function installUnit(): void {
  const text = readFileSync(path.join(ROOT, 'deploy', 'systemd', UNIT), 'utf8');
  const found = spawnSync('sh', ['-c', 'command -v weft'], { encoding: 'utf8' }).stdout.trim();
  if (found === '') throw usage('weft is not in PATH', 'Install it for all: docs/install.md.');
  writeFileSync(path.join('/etc/systemd/system', UNIT), text.replaceAll('/usr/bin/weft', found));
  run('systemctl', 'daemon-reload');
}

function run(program: string, ...args: string[]): void {
  const done = spawnSync(program, args, { encoding: 'utf8' });
  if (done.status === 0) return;
  const why = done.error?.message ?? done.stderr.trim().split('\n').at(-1) ?? '';
  const what = `${program} ${args[0]} failed: ${why}`;
  throw usage(what, 'Mend that, and type the same again: it goes on from there.');
}

/** Null: no head answers at the machine's socket. */
async function serving(context: Context): Promise<string | null> {
  if (!existsSync(SYSTEM_SOCKET)) return null;
  const location = { kind: 'socket', path: SYSTEM_SOCKET } as const;
  const sessions = new SessionCache(context.environment);
  const api = new Api({ location, sessions, timeoutMs: 3000 });
  try {
    return (await api.call('info')).version;
  } catch (error) {
    if (error instanceof Failure) return null;
    throw error;
  } finally {
    api.close();
  }
}

async function untilServing(context: Context): Promise<string> {
  const end = performance.now() + START_MS;
  while (performance.now() < end) {
    const version = await serving(context);
    if (version !== null) return version;
    await sleep(LOOK_MS);
  }
  const what = `the head does not answer within ${START_MS / 1000}s`;
  throw failure(refuse('argument.invalid', { what }, 'See: journalctl -u weft-head'));
}
