// `weft setup node`: this machine runs jobs of a cluster from then on.

import { existsSync } from 'node:fs';
import { readStandardInput } from '../../../../kernel/cli/commands/join.ts';
import type { Context } from '../../../../kernel/cli/context.ts';
import { LocalPaths, readJson } from '../../../../kernel/cli/daemons/local-paths.ts';
import { decodeTicket, type JoinTicket } from '../../../../kernel/cli/join-string.ts';
import { defineVerb } from '../../../../kernel/cli/verb.ts';
import { machineFile, writeClientFile } from '../../../../kernel/connect/client-file.ts';
import { SYSTEM_SOCKET, stateDirectory } from '../../../../kernel/connect/locate.ts';
import { refuse } from '../../../../kernel/model/errors.ts';
import { Failure, failure, usage } from '../../../../kernel/model/failure.ts';
import { statusOfNode } from '../../../owner/cli/agent-sockets.ts';
import { type NodeSeen, planNode, type Step } from '../../core/setup/plan.ts';
import { Asking, type AskingOptions, defineAsking } from './asking.ts';
import { Machine, ownProgram, runWith, untilSeen } from './machine.ts';

interface Options extends AskingOptions {
  readonly name?: string;
  readonly user?: boolean;
}

/** What `weft join` has left. */
interface Member {
  readonly name: string;
  readonly url: string;
  readonly fingerprint: string;
  readonly clusterName: string;
}

const KEYS = ['token', 'name'] as const;
const FOLDER = '/var/lib/weft/node';
const START_MS = 60_000;

export const verb = defineVerb<Options>({
  define(command) {
    command.argument(
      '[token]',
      '- : the join token comes on standard input (default: it is asked for)',
    );
    command.option('--name <name>', 'name of the node (default: the host name)');
    command.option('--user', 'without root: a service of yours, and all its jobs run as you');
    defineAsking(command, KEYS);
  },
  async run({ context, args, options }) {
    const asking = new Asking(context, options, KEYS);
    const machine = machineOf(context, options.user === true);
    const token = asking.given('token', await typedToken(args[0]));
    const ticket = token === undefined ? null : ticketIn(token);
    const plan = planNode(look(context, machine), ticket?.fingerprint ?? null);
    if (!plan.ok) throw usage(plan.error.what, plan.error.remedy);
    machine.claim();
    const joins = plan.value.some(({ name }) => name === 'join');
    const join = { token: joins ? (token ?? (await tokenFrom(asking))) : '' };
    if (!(await asking.agree(plan.value))) return 1;
    const name = asking.given('name', options.name);
    for (const step of plan.value) carryOut(context, step, machine, { ...join, name });
    context.print(await untilConnected(context, machine));
    return 0;
  },
});

function machineOf(context: Context, isUsers: boolean): Machine {
  if (!isUsers) return new Machine(context, { whose: 'machine', state: FOLDER });
  const state = `${stateDirectory({}, context.environment)}-node`;
  return new Machine(context, { whose: 'user', state });
}

/** What an argument says is seen by everybody who lists processes, as long as this one runs. */
async function typedToken(word: string | undefined): Promise<string | undefined> {
  if (word === undefined) return undefined;
  if (word === '-') return readStandardInput();
  const hint =
    'Leave it out and type it when asked; or: weft setup node - < FILE; or --answers FILE.';
  throw usage('a join token in the command would be seen by all users of this machine', hint);
}

function ticketIn(token: string): JoinTicket {
  const ticket = decodeTicket(token);
  if (!ticket.ok) throw usage(ticket.error);
  return ticket.value;
}

async function tokenFrom(asking: Asking): Promise<string> {
  const token = await asking.ask('Join token, as `weft token join` on the head prints it');
  if (token === '') {
    throw usage('there is no join token', 'Type `weft token join` on the head, and give it here.');
  }
  ticketIn(token);
  return token;
}

const memberIn = ({ state }: Machine): Member | null =>
  readJson<Member>(new LocalPaths(state).membership);

function look({ environment }: Context, machine: Machine): NodeSeen {
  const seen = machine.look();
  const mayLook = seen.whose === 'user' || seen.isRoot;
  return {
    ...seen,
    member: mayLook ? memberIn(machine) : null,
    hasClient: existsSync(SYSTEM_SOCKET) || existsSync(machineFile(environment)),
    hasUnit: machine.hasUnits('weft-agent', 'weft-jobs'),
    lasts: {
      isRunning: machine.isActive('weft-agent') && machine.isEnabled('weft-agent'),
      lingers: machine.lingers(),
    },
  };
}

interface Join {
  readonly token: string;
  readonly name: string | undefined;
}

function carryOut(context: Context, { name }: Step, machine: Machine, join: Join): void {
  switch (name) {
    case 'join':
      return joinCluster(machine, join);
    case 'client':
      return tellUsers(context, machine);
    case 'unit':
      return machine.installUnits('weft-agent', 'weft-jobs');
    case 'linger':
      return machine.linger();
    default:
      return machine.systemctl('enable', '--now', 'weft-agent');
  }
}

/** The token goes in by standard input: everybody on a machine can read everybody's arguments. */
function joinCluster({ state }: Machine, { token, name }: Join): void {
  const named = name === undefined ? [] : ['--name', name];
  const [program, weft] = ownProgram();
  runWith(token, program, weft, 'join', '--dir', state, ...named, '-');
}

function tellUsers({ environment }: Context, machine: Machine): void {
  const member = memberIn(machine);
  if (member === null) return;
  const { url: head, fingerprint } = member;
  const said = { head, fingerprint, token_file: '~/.config/weft/token' };
  writeClientFile(said, { directory: machine.state, environment });
}

/** The agent says that the head has taken it; where it has no socket, systemd says it runs. */
async function untilConnected({ note }: Context, machine: Machine): Promise<string> {
  const member = memberIn(machine);
  if (member === null) throw usage(`${machine.state} has no membership`);
  const { name, clusterName } = member;
  const socket = new LocalPaths(machine.state).door(name);
  const seen = await untilSeen(async () => {
    try {
      const { isConnected } = await statusOfNode({ name, socket });
      return isConnected === true ? true : null;
    } catch (error) {
      if (error instanceof Failure) return null;
      throw error;
    }
  }, START_MS);
  if (seen !== null) return `Node ${name} of ${clusterName} is up.`;
  const log = `journalctl ${machine.whose === 'user' ? '--user ' : ''}-u weft-agent`;
  if (machine.isActive('weft-agent') && !existsSync(socket)) {
    note(`its agent has no socket here; whether it is up: weft node show ${name}`);
    return `The agent of node ${name} of ${clusterName} runs.`;
  }
  const what = `the agent of ${name} does not reach its head within ${START_MS / 1000}s`;
  throw failure(refuse('argument.invalid', { what }, `See: ${log}`));
}
