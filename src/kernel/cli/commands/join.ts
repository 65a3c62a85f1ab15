// `weft join`: exchanges a join token for a secret of this machine's own, and keeps it.

import { existsSync } from 'node:fs';
import { hostname } from 'node:os';
import type { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import type { AdmittedReply } from '../../api/nodes.ts';
import type { Config } from '../../config/config.ts';
import { refuseLongDirectory } from '../../config/socket-room.ts';
import { Api } from '../../connect/api.ts';
import { type ClientFile, writeClientFile } from '../../connect/client-file.ts';
import { directoryOption, SYSTEM_SOCKET } from '../../connect/locate.ts';
import { SessionCache } from '../../connect/sessions.ts';
import { Failure, usage } from '../../model/failure.ts';
import { parseNodeName } from '../../model/ids.ts';
import { CLIENT_TIMEOUT_MS } from '../../model/limits.ts';
import type { Context } from '../context.ts';
import { LocalPaths, writeJson } from '../daemons/local-paths.ts';
import { decodeTicket, type JoinTicket } from '../join-string.ts';
import { defineVerb } from '../verb.ts';

interface Options {
  readonly name?: string;
  readonly label?: string[];
  /** The machine has had the identity of that node. */
  readonly copyOf?: { readonly node: string; readonly bootId: string; readonly folder?: string };
  readonly again?: boolean;
}

/** With all the addresses that a head may have. */
const TOKEN_LENGTH_MAX = 65_536;

export const TOKEN_WORDS =
  'weft-join:… as `weft token join` printed it; default: a line of stdin, which no `ps` shows';

/** What a machine keeps of its joining; read by `weft agent`. 0600: it has the secret. */
export interface Membership {
  readonly name: string;
  readonly url: string;
  /** The head's other addresses; absent where an earlier release joined. */
  readonly others?: readonly string[];
  readonly fingerprint: string;
  readonly secret: string;
  readonly clusterName: string;
}

export const verb = defineVerb<Options>({
  define(command) {
    command.argument('[token]', TOKEN_WORDS);
    command.option('--name <name>', 'name of this node (default: the host name)');
    command.option('--label <labels...>', 'labels of this node');
    command.option('--again', 'forget an earlier membership');
  },
  async run({ context, args: [word], options }) {
    const paths = new LocalPaths(context.directory);
    if (existsSync(paths.membership) && !options.again) {
      throw usage(
        `this machine has already joined a cluster (${paths.membership})`,
        'Use --again to leave that membership and join again.',
      );
    }
    const joined = await joinCluster(context, word, options);
    context.print(`Node ${joined.name} is a member of ${joined.clusterName}.`);
    context.print(await startWords(context));
    return 0;
  },
});

/** How its agent is started: the gateway of a site has a command of its own. */
export async function startWords(
  context: Pick<Context, 'directory' | 'environment' | 'config'>,
): Promise<string> {
  const dir = directoryOption(context.directory, context.environment);
  const isGateway = (await context.config()).text('site.system') !== null;
  return `Start it: weft ${isGateway ? 'gateway' : 'agent'}${dir}`;
}

/**
 * Keeps what came of it in the state directory.
 *
 * @param word the token; absent or `-`: the first line of standard input
 */
export async function joinCluster(
  context: Context,
  word: string | undefined,
  options: Options = {},
): Promise<Joined> {
  const token = word === undefined || word === '-' ? await askedToken(context, word) : word;
  const ticket = decodeTicket(token);
  if (!ticket.ok) throw usage(ticket.error);
  const config = await context.config();
  const paths = new LocalPaths(context.directory);
  const name = readName(options.name ?? config.text('node.name') ?? hostname());
  // Before the head counts the node as its member.
  refuseLongDirectory(paths.node(name), context.directory);
  const labels = options.label ?? [];
  const { copyOf } = options;
  const body = { name, labels, ...(copyOf === undefined ? {} : { copyOf }) };
  const joined = await tryAll(context, { ticket: ticket.value, config, body });
  paths.make('shared');
  const { addresses, fingerprint } = ticket.value;
  const others = addresses.map(urlAt).filter((url) => url !== joined.url);
  writeJson(paths.membership, { ...joined, others, fingerprint });
  tellUsers(context, { head: joined.url, fingerprint, token_file: USER_TOKEN });
  return joined;
}

interface Attempt {
  readonly ticket: JoinTicket;
  readonly config: Config;
  readonly body: {
    readonly name: string;
    readonly labels: string[];
    readonly copyOf?: NonNullable<Options['copyOf']>;
  };
}

type Joined = AdmittedReply & { readonly url: string };

/** Where users of the machine keep what `weft token create` gave them. */
const USER_TOKEN = '~/.config/weft/token';

/** The head's own machine has its socket, on which users are known without a token. */
function tellUsers(context: Context, said: ClientFile): void {
  if (existsSync(SYSTEM_SOCKET)) return;
  const file = writeClientFile(said, context);
  if (file !== null) context.note(`users of this machine find the head by ${file}`);
}

/** Silence, or somebody else: an address of a network behind the head is another machine's here. */
function isElsewhere({ kind, code }: Failure): boolean {
  return kind === 'unavailable' || code === 'auth.fingerprint_mismatch';
}

/** Each address in turn, as often as configured. Only silence is tried again, never a refusal. */
async function tryAll(context: Context, attempt: Attempt): Promise<Joined> {
  const { ticket, config } = attempt;
  const rounds = config.number('join.retries');
  let last: Failure | null = null;
  let other: Failure | null = null;
  for (let round = 0; round < rounds; round += 1) {
    if (round > 0) await sleep(config.optionalNumber('join.retry_wait') ?? 0);
    for (const address of ticket.addresses) {
      try {
        return await tryOne(context, address, attempt);
      } catch (error) {
        if (!(error instanceof Failure) || !isElsewhere(error)) throw error;
        if (error.code === 'auth.fingerprint_mismatch') other = error;
        else if (last === null) context.note(`${error.message} Trying again.`);
        if (error.kind === 'unavailable') last = error;
      }
    }
    // Nobody is silent, so that nothing changes by waiting.
    if (last === null) break;
  }
  throw withWayOut(other ?? last ?? usage('this join token contains no address'));
}

function withWayOut(error: Failure): Failure {
  const { code, kind, message, details } = error;
  const hint =
    'None of the addresses in the token leads to the head. Name one that this machine reaches ' +
    'as head.names in weft.yaml there, start the head again, and make a new token.';
  return new Failure({ code, kind, message, details, hint, cause: error });
}

async function tryOne(
  context: Context,
  address: string,
  { ticket, config, body }: Attempt,
): Promise<Joined> {
  const url = new URL(urlAt(address));
  const location = {
    kind: 'url',
    url,
    fingerprint: ticket.fingerprint,
    token: ticket.token,
  } as const;
  const sessions = new SessionCache(context.environment);
  const timeoutMs = config.optionalNumber('client.timeout') ?? CLIENT_TIMEOUT_MS;
  const api = new Api({ location, sessions, timeoutMs: Math.min(timeoutMs, 10_000) });
  try {
    return { ...(await api.call('join', { body })), url: url.origin };
  } finally {
    api.close();
  }
}

function urlAt(address: string): string {
  return new URL(`https://${address}`).origin;
}

function readName(text: string): string {
  const name = parseNodeName(text);
  if (!name.ok) throw usage(`--name: ${name.error}`);
  return name.value;
}

/** Tells whoever has not typed `-` what it waits for: an input may stay open where nobody types. */
export function askedToken(
  context: Pick<Context, 'note' | 'terminal'>,
  word?: '-',
  input?: Readable,
): Promise<string> {
  if (context.terminal.ask !== undefined) context.note('paste weft-join:… here, and press Enter');
  else if (word === undefined)
    context.note('reading a join token (weft-join:…) from standard input');
  return readStandardInput(input);
}

/** A token, or the first line that has something. Throws a failure. */
export async function readStandardInput(input: Readable = process.stdin): Promise<string> {
  let text = '';
  for await (const piece of input.setEncoding('utf8')) {
    text += piece as string;
    // Nobody at a keyboard has to end the input as well.
    if (text.trimStart().includes('\n')) break;
    if (text.length > TOKEN_LENGTH_MAX) throw usage('standard input is longer than any join token');
  }
  return text.trimStart().split('\n', 1)[0]?.trim() ?? '';
}
