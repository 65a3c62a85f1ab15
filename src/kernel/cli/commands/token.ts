// `weft token …`: tokens for users elsewhere and for machines that join.

import { headNow } from '../../api/head-time.ts';
import type { CreateTokenReply, TokenView } from '../../api/users.ts';
import { parseDuration } from '../../base/duration.ts';
import { refuse } from '../../model/errors.ts';
import { failure, usage } from '../../model/failure.ts';
import type { Context } from '../context.ts';
import { forEach } from '../jobs/each.ts';
import { encodeTicket } from '../join-string.ts';
import { defineListing, type ListingOptions } from '../output/listing.ts';
import type { Column } from '../output/table.ts';
import { instantColumn } from '../output/times.ts';
import { formatSpan } from '../output/words.ts';
import { defineVerb, type VerbGroup } from '../verb.ts';

interface CreateOptions {
  readonly label?: string;
  readonly expires?: string;
  readonly user?: string;
  readonly output?: string;
}

const create = defineVerb<CreateOptions>({
  define(command) {
    command.option('--label <text>', 'what it is for');
    command.option('--expires <duration>', 'valid for this long; never = without end', '90d');
    command.option('--user <name>', 'for somebody else (admins)');
    command.option('-o, --output <format>', 'json');
  },
  async run({ context, options }) {
    const { label, user } = options;
    const expiresInMs = readLifetime(options.expires ?? '90d');
    // The head refuses an empty name, as of a variable that is not set. Left out, it would be a
    // token of one's own.
    const whose = user === undefined ? {} : { user };
    const body = { expiresInMs, ...(label ? { label } : {}), ...whose };
    const reply = await (await context.api()).call('createToken', { body });
    const isJson = options.output === 'json';
    context.printOnce(isJson ? JSON.stringify(reply, null, 2) : reply.token, lostWords(reply.id));
    if (!isJson) {
      if (reply.notice !== null) context.note(reply.notice);
      tellUse(context, reply);
    }
    return 0;
  },
});

function lostWords(id: string): string {
  return `token ${id} is made, and nobody has it: \`weft token revoke ${id}\``;
}

/**
 * The token is on standard output only: what is on standard error ends in logs of CI and of cron.
 * Whoever sits at a terminal gets the lines to paste with the token in them.
 */
function tellUse(context: Context, reply: CreateTokenReply): void {
  const { id, user, token, addresses, fingerprint, certificate } = reply;
  const [address] = addresses ?? [];
  if (address === undefined || !fingerprint) {
    context.note(`token ${id} of ${user}, shown this once; set WEFT_TOKEN to it. ${NO_PORT}`);
    return;
  }
  const where = isLoopback(address) ? 'on this machine, type' : 'on another machine, paste there';
  context.note(`token ${id} of ${user}, shown this once. To use it ${where}:`);
  const { outIsTerminal } = context.terminal;
  const lines = [
    `export WEFT_HEAD=https://${address}`,
    `export WEFT_FINGERPRINT=${fingerprint}`,
    `export WEFT_TOKEN=${outIsTerminal ? token : '…'}`,
  ];
  const text = `${lines.join('\n')}\n`;
  if (outIsTerminal) context.out(text);
  else context.error(text);
  if (isLoopback(address)) context.note(loopbackWords(address));
  else if (certificate) {
    context.error(`The certificate, for curl --cacert and the like:\n${certificate.trim()}\n`);
  }
}

const HOW_TO_LISTEN =
  'To change that: `weft down`, then `weft up --listen HOST:5001`; for `weft head` set head.listen.';
const NO_PORT = `This head listens on no port. ${HOW_TO_LISTEN}`;

function loopbackWords(address: string): string {
  return `this head listens on ${address}, which no other machine reaches. ${HOW_TO_LISTEN}`;
}

function isLoopback(address: string): boolean {
  return /^(localhost|127\.[\d.]+|\[::1\]):\d+$/.test(address);
}

const join = defineVerb<Pick<CreateOptions, 'label' | 'expires'>>({
  define(command) {
    command.option('--label <text>', 'what it is for');
    command.option('--expires <duration>', 'valid for this long', '1h');
  },
  async run({ context, options }) {
    const { label } = options;
    const expiresInMs = readLifetime(options.expires ?? '1h');
    if (expiresInMs === null) throw usage('--expires: a join token must expire');
    const body = { expiresInMs, ...(label ? { label } : {}) };
    const reply = await (await context.api()).call('createJoinToken', { body });
    const { id, fingerprint, addresses, token } = reply;
    if (fingerprint === null || addresses.length === 0) {
      const what = 'no machine can join: this head listens on no port';
      throw failure(refuse('argument.invalid', { what }, HOW_TO_LISTEN));
    }
    context.printOnce(encodeTicket({ addresses, fingerprint, token }), lostWords(id));
    const rest = formatSpan(reply.expiresAt - headNow());
    context.note(`valid for ${rest}. On the machine that joins: weft join, and paste it there`);
    const [address = ''] = addresses;
    if (addresses.every(isLoopback)) context.note(loopbackWords(address));
    return 0;
  },
});

const COLUMNS = (now: number): Column<TokenView>[] => [
  { title: 'ID', value: (token) => token.id },
  { title: 'FOR', value: (token) => token.purpose },
  { title: 'USER', value: (token) => token.user },
  instantColumn('CREATED', (token) => token.createdAt, { now }),
  instantColumn('EXPIRES', (token) => token.expiresAt, { now, none: 'never' }),
  { title: 'LABEL', value: (token) => token.label },
];

const list = defineVerb<ListingOptions & { all?: boolean }>({
  define(command) {
    command.option('-a, --all', "everybody's (admins)");
    defineListing(command);
  },
  async run({ context, options }) {
    const api = await context.api();
    const { tokens } = await api.call('listTokens', { query: { all: options.all } });
    const name = (token: TokenView) => token.id;
    const columns = COLUMNS(headNow());
    await context.list({ rows: tokens, columns, name, empty: 'No tokens.' }, options.output);
    return 0;
  },
});

const revoke = defineVerb({
  define: (command) => void command.argument('<id...>', 'ids of tokens'),
  async run({ context, args }) {
    const api = await context.api();
    return forEach(context, args, async (id) => {
      await api.call('revokeToken', { params: { id } });
      context.print(`Token ${id} is revoked.`);
    });
  },
});

export const verb: VerbGroup = {
  verbs: {
    create: { summary: 'make a token for the API and for `weft --head`', verb: create },
    join: { summary: 'make a token with which machines join', verb: join },
    list: { summary: 'list tokens', verb: list },
    revoke: { summary: 'revoke tokens', verb: revoke },
  },
};

function readLifetime(text: string): number | null {
  if (text === 'never') return null;
  const duration = parseDuration(text);
  if (!duration.ok) throw usage(`--expires: ${duration.error}; or write never`);
  if (duration.value < LIFETIME_MIN_MS || duration.value > LIFETIME_MAX_MS) {
    throw usage(`--expires: '${text}' is not between 1s and 366d; write never for no end`);
  }
  return duration.value;
}

/** The shortest lifetime that the API takes. */
const LIFETIME_MIN_MS = 1000;
const LIFETIME_MAX_MS = 366 * 86_400_000;
