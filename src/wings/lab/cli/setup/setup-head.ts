// `weft setup head`: this machine has the head from then on.

import { spawnSync } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import { hostname } from 'node:os';
import path from 'node:path';
import type { Context } from '../../../../kernel/cli/context.ts';
import { defineVerb } from '../../../../kernel/cli/verb.ts';
import { Api } from '../../../../kernel/connect/api.ts';
import { SYSTEM_SOCKET, socketIn, stateDirectory } from '../../../../kernel/connect/locate.ts';
import { SessionCache } from '../../../../kernel/connect/sessions.ts';
import { refuse } from '../../../../kernel/model/errors.ts';
import { Failure, failure, usage } from '../../../../kernel/model/failure.ts';
import { type HeadSeen, planHead, type Step } from '../../core/setup/plan.ts';
import { TEMPLATES } from '../templates/templates.ts';
import { Asking, type AskingOptions, defineAsking } from './asking.ts';
import { Machine, ownProgram, run, untilSeen } from './machine.ts';
import { stepEnvironment } from './root-programs.ts';

interface Options extends AskingOptions {
  readonly template?: string;
  readonly names?: string;
  readonly name?: string;
  readonly user?: boolean;
}

const KEYS = ['template', 'names', 'name'] as const;
const FOLDER = '/var/lib/weft/head';
const START_MS = 60_000;

export const verb = defineVerb<Options>({
  define(command) {
    command.option('--template <template>', `one of ${NAMES} (asked for; default: lab)`);
    command.option('--names <names>', 'names and addresses of this machine (asked for)');
    command.option('--name <name>', 'name of the cluster (default: weft)');
    command.option('--user', 'without root: a service of yours, for a cluster of your own jobs');
    defineAsking(command, KEYS);
  },
  async run({ context, options }) {
    const asking = new Asking(context, options, KEYS);
    const isUsers = options.user === true;
    const state = isUsers ? stateDirectory({}, context.environment) : FOLDER;
    const machine = new Machine(context, { whose: isUsers ? 'user' : 'machine', state });
    const socket = isUsers ? socketIn(state) : SYSTEM_SOCKET;
    const plan = planHead(await look(context, machine, socket));
    if (!plan.ok) throw usage(plan.error.what, plan.error.remedy);
    machine.claim();
    const steps = plan.value;
    const isNew = steps.some(({ name }) => name === 'config');
    const answers = isNew ? await answersTo(asking, options) : null;
    if (!(await asking.agree(steps))) return 1;
    for (const step of steps) carryOut(step, machine, answers);
    const version = await untilServing(context, machine, socket);
    context.print(`The head serves at ${socket}, Weft ${version}. What next:`);
    context.print('  weft node add user@host…    machines that run jobs, over ssh');
    context.print('  weft doctor --cluster       whether they agree with this one');
    return 0;
  },
});

const NAMES = TEMPLATES.map(({ name }) => name).join(', ');

interface Answers {
  readonly name: string;
  readonly template: string;
  readonly names: string;
}

async function answersTo(asking: Asking, options: Options): Promise<Answers> {
  const template =
    asking.given('template', options.template) ?? (await asking.ask('Which template', 'lab'));
  if (!TEMPLATES.some(({ name }) => name === template)) {
    throw usage(`template: '${template}' is none`, `There are: ${NAMES}.`);
  }
  const question = 'Names and addresses under which others reach this machine';
  const names = asking.given('names', options.names) ?? (await asking.ask(question, hostname()));
  return { template, names, name: asking.given('name', options.name) ?? 'weft' };
}

async function look(context: Context, machine: Machine, socket: string): Promise<HeadSeen> {
  const uid = spawnSync('id', ['-u', 'weft'], {
    encoding: 'utf8',
    env: stepEnvironment(),
  });
  const { state } = machine;
  const serves = (await serving(context, socket)) !== null;
  return {
    ...machine.look(),
    hasUser: uid.status === 0,
    hasFolder: existsSync(state) && String(statSync(state).uid) === uid.stdout.trim(),
    hasConfig: existsSync(path.join(state, 'weft.yaml')),
    hasUnit: machine.hasUnits('weft-head'),
    lasts: {
      isRunning: serves && machine.isEnabled('weft-head'),
      lingers: machine.lingers(),
    },
  };
}

function carryOut({ name }: Step, machine: Machine, answers: Answers | null): void {
  const { state } = machine;
  const user = ['--system', '--user-group', '--create-home', '--home-dir', '/var/lib/weft', 'weft'];
  // The one around it too: whoever has a job on this machine passes through it.
  const folders = ['-o', 'weft', '-g', 'weft', '-m', '0711', '/var/lib/weft', state];
  switch (name) {
    case 'user':
      return run('useradd', ...user);
    case 'folder':
      return run('install', '-d', ...folders);
    case 'config':
      return writeConfig(machine, answers);
    case 'unit':
      return machine.installUnits('weft-head');
    case 'linger':
      return machine.linger();
    default:
      return machine.systemctl('enable', '--now', 'weft-head');
  }
}

function writeConfig({ whose, state }: Machine, answers: Answers | null): void {
  const { name = '', template = '', names = '' } = answers ?? {};
  const chosen = ['--name', name, '--template', template, '--names', names];
  const init = [...ownProgram(), 'init', '--dir', state, ...chosen];
  const [program = '', ...args] =
    whose === 'user' ? init : ['runuser', '-u', 'weft', '--', ...init];
  run(program, ...args);
}

/** Null: no head answers at the socket. */
async function serving(context: Context, socket: string): Promise<string | null> {
  if (!existsSync(socket)) return null;
  const location = { kind: 'socket', path: socket } as const;
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

async function untilServing(context: Context, { whose }: Machine, socket: string): Promise<string> {
  const version = await untilSeen(() => serving(context, socket), START_MS);
  if (version !== null) return version;
  const what = `the head does not answer within ${START_MS / 1000}s`;
  const log = whose === 'user' ? 'journalctl --user -u weft-head' : 'journalctl -u weft-head';
  throw failure(refuse('argument.invalid', { what }, `See: ${log}`));
}
