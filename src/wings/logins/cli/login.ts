// `weft login`: a token for whoever has none on this machine, given by somebody whom the head
// knows.

import { existsSync } from 'node:fs';
import { hostname, userInfo } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ReplyOf } from '../../../kernel/api/routes.ts';
import type { Context } from '../../../kernel/cli/context.ts';
import { printable } from '../../../kernel/cli/output/table.ts';
import { formatInstant } from '../../../kernel/cli/output/words.ts';
import { defineVerb } from '../../../kernel/cli/verb.ts';
import { Api } from '../../../kernel/connect/api.ts';
import { type Location, locateHead } from '../../../kernel/connect/locate.ts';
import { SessionCache } from '../../../kernel/connect/sessions.ts';
import { AGENT_PATHS } from '../../../kernel/model/agent-socket.ts';
import { Failure, usage } from '../../../kernel/model/failure.ts';
import { askNode, localNodes } from '../../owner/cli/agent-sockets.ts';
import { parseCode } from '../model/code.ts';
import { keepLogin, namedTokenFile, tokenPlace, tryPlace } from './token-place.ts';

/** Longer than a login is good for. */
const WAIT_MS = 900_000;
const AGAIN = 'Type weft login again.';
/** The token that is there may be good for some minutes yet. */
const AGAIN_NEW = 'Type weft login --again.';
const BY_CODE = 'Type weft login --code.';

interface Options {
  readonly approve?: string;
  readonly refuse?: string;
  readonly user?: string;
  readonly yes?: boolean;
  readonly again?: boolean;
  readonly code?: boolean;
}

export const verb = defineVerb<Options>({
  define(command) {
    command.option('--approve <code>', 'give whoever shows you this code a token of yours');
    command.option('--refuse <code>', 'refuse it');
    command.option('--user <name>', 'with --approve: a token of somebody else (admins)');
    command.option('-y, --yes', 'with --approve: do not ask');
    command.option('--code', 'by a code, also where the node of this machine would vouch for you');
    command.option('--again', 'also where you have a token that is good');
  },
  async run({ context, options }) {
    const { approve, refuse: refused, user, yes = false } = options;
    if (approve !== undefined && refused !== undefined) {
      throw usage('--approve and --refuse exclude each other');
    }
    if (user !== undefined && approve === undefined) throw usage('--user is for --approve');
    if (approve !== undefined) return answer(context, approve, { approve: true, user, yes });
    if (refused !== undefined) return answer(context, refused, { approve: false, user, yes });
    return login(context, options);
  },
});

interface Answer {
  readonly approve: boolean;
  readonly user: string | undefined;
  readonly yes: boolean;
}

async function answer(context: Context, text: string, { approve, user, yes }: Answer) {
  const code = parseCode(text);
  if (code === null) {
    throw usage(`'${text}' is no code`, 'Type it as it is shown there: BCDF-GHJK.');
  }
  const api = await context.api();
  const { label, address, askedAt } = await api.call('showLogin', { params: { code } });
  const whose = user ?? (await api.call('whoami')).name;
  if (approve && !yes) {
    const who = whoAsks({ label, address, since: formatInstant(askedAt, Date.now()) });
    if (!(await isWanted(context, `${who}. Give it a token of ${whose}? [y/N] `))) return 1;
  }
  const given = user === undefined ? { approve } : { approve, user };
  await api.call('answerLogin', { params: { code }, body: given });
  context.print(
    approve
      ? `${quotedLabel(label)} has a token of ${whose} now.`
      : `The login of ${quotedLabel(label)} is refused.`,
  );
  return 0;
}

async function isWanted(context: Context, question: string): Promise<boolean> {
  const { ask } = context.terminal;
  if (ask === undefined) throw usage('nobody is here to be asked', 'Give --yes when you are sure.');
  return /^y(es)?$/i.test((await ask(question)).trim());
}

async function login(context: Context, { again = false, code = false }: Options): Promise<number> {
  const location = locate(context);
  const known = await knownAs(context, location);
  if (location.kind === 'socket') {
    if (known === null) throw usage(`no head answers at ${location.path}`);
    context.print(`You are ${known}: the head of this machine knows you without a token.`);
    return 0;
  }
  if (known !== null && !again) {
    context.print(`You are ${known} already, at ${location.url.host}; --again gets another token.`);
    return 0;
  }
  const place = tokenPlace(context, location);
  tryPlace(place);
  // An old token would be refused before anything is heard.
  const api = await apiOf(context, { ...location, token: null });
  try {
    let said = '';
    const keep = ({ token, user, expiresAt }: Token): void => {
      keepLogin(place, token);
      const until = expiresAt === null ? '' : `, until ${formatInstant(expiresAt, Date.now())}`;
      said = `You are ${user}. The token is in ${place.file}${until}.`;
    };
    const begun = await begin(api);
    const by = code ? null : await vouchedBy(context, location, begun.code);
    if (by === null) await waitFor(context, api, { begun, origin: location.url.origin, keep });
    else await fetchVouched(api, { begun, by, keep });
    context.print(said);
    return 0;
  } finally {
    api.close();
  }
}

/** The head; a token file that is named need not be there yet. */
function locate({ options, environment }: Context): Location {
  const named = namedTokenFile({ options, environment });
  if (named === undefined || existsSync(named)) return locateHead(options, environment);
  const { tokenFile: _, ...others } = options;
  const location = locateHead(others, { ...environment, WEFT_TOKEN_FILE: '' });
  return location.kind === 'url' ? { ...location, token: null } : location;
}

/** Returns null when for the head you are nobody yet. */
async function knownAs(context: Context, location: Location): Promise<string | null> {
  if (location.kind === 'url' && location.token === null) return null;
  try {
    const api = await context.api();
    return (await api.call('whoami')).name;
  } catch (error) {
    if (error instanceof Failure && error.kind === 'unauthenticated') return null;
    throw error;
  }
}

async function apiOf(context: Context, location: Location): Promise<Api> {
  const timeoutMs = (await context.config()).number('client.timeout');
  return new Api({ location, sessions: new SessionCache(context.environment), timeoutMs });
}

interface Token {
  readonly token: string;
  readonly user: string;
  readonly expiresAt: number | null;
}

type Begun = ReplyOf<'beginLogin'>;

function begin(api: Api): Promise<Begun> {
  const label = `${userInfo().username}@${hostname()}`.slice(0, 200);
  return api.call('beginLogin', { body: { label } });
}

interface Fetching {
  readonly begun: Begun;
  readonly keep: (token: Token) => void;
}

/** Throws when the node takes its user for another: that token is not kept, and so revoked. */
async function fetchVouched(
  api: Api,
  { begun: { ticket, everyMs }, by, keep }: Fetching & { readonly by: string },
): Promise<void> {
  const { token, user, expiresAt } = await api.call('takeLogin', { body: { ticket } });
  const own = userInfo().username;
  if (token === null || user === null) throw usage(`the word of node ${by} was not taken`, AGAIN);
  if (user !== own) throw usage(`node ${by} takes you for ${user}, and you are ${own}`, BY_CODE);
  keep({ token, user, expiresAt });
  await tellKept(api, { ticket, everyMs, end: performance.now() + WAIT_MS });
}

async function waitFor(
  context: Context,
  api: Api,
  { begun, origin, keep }: Fetching & { readonly origin: string },
): Promise<void> {
  const { code, ticket, expiresAt, everyMs } = begun;
  context.print(`Your code is ${code}, good until ${formatInstant(expiresAt, Date.now())}.`);
  context.print(`Where the head knows you, type: weft login --approve ${code}`);
  context.print(`Or, where its page is open: ${origin}/#/login/${code}`);
  context.print(`An admin types: weft login --approve ${code} --user ${userInfo().username}`);
  const end = performance.now() + WAIT_MS;
  for (;;) {
    await sleep(everyMs);
    const taken = await asked(api, { ticket }, end);
    if (taken === null) continue;
    const { state, token, user } = taken;
    if (state === 'refused') throw usage('the login was refused');
    if (state === 'gone') throw usage('nobody answered in time', AGAIN);
    if (token === null || user === null) continue;
    keep({ token, user, expiresAt: taken.expiresAt });
    await tellKept(api, { ticket, everyMs, end });
    return;
  }
}

/** Null while the head is away: what waits there has time. */
async function asked(
  api: Pick<Api, 'call'>,
  body: { ticket: string; kept?: boolean },
  end: number,
) {
  try {
    return await api.call('takeLogin', { body });
  } catch (error) {
    const isAway = error instanceof Failure && error.kind === 'unavailable';
    if (!isAway || performance.now() > end) throw error;
    return null;
  }
}

/** A token not known to be kept is revoked by the head: then this login came to nothing. */
export async function tellKept(
  api: Pick<Api, 'call'>,
  { ticket, everyMs, end }: { ticket: string; everyMs: number; end: number },
): Promise<void> {
  for (;;) {
    const told = await asked(api, { ticket, kept: true }, end);
    if (told?.state === 'kept') return;
    if (told !== null) throw usage('the login was over before its token was kept', AGAIN_NEW);
    await sleep(everyMs);
  }
}

// Asks the nodes of this machine to vouch for whoever types `weft login` here.

/** Nodes of several clusters, at most. */
const NODES_MAX = 4;
/** An agent that does not know the question is of an older release: it vouches for nobody. */
const UNASKED = new Set(['route.unknown', 'agent.unreachable']);

/** The node whose word the head has taken; null: none, and whoever types it has read why. */
async function vouchedBy(
  context: Context,
  { fingerprint }: Extract<Location, { kind: 'url' }>,
  code: string,
): Promise<string | null> {
  // Only by its certificate can an agent tell whether this is its own head.
  if (fingerprint === null || process.getuid?.() === 0) return null;
  for (const node of localNodes(context).slice(0, NODES_MAX)) {
    try {
      const { node: name } = await askNode<{ readonly node: string }>(node, AGENT_PATHS.login, {
        code,
        fingerprint,
      });
      return name;
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      if (!UNASKED.has(error.code)) context.note(error.message);
    }
  }
  return null;
}

// How whoever approves a login is told who asks: first what the head has seen, then what the other
// says.

/** Between quotes that it cannot end: a label is whatever the one who asks makes up. */
const quotedLabel = (label: string): string => JSON.stringify(printable(label));

export function whoAsks(of: {
  readonly label: string;
  readonly address: string;
  readonly since: string;
}): string {
  return `From ${of.address}, since ${of.since}: it calls itself ${quotedLabel(of.label)}`;
}
