// `weft setup client`: users of this machine, or this user alone, find the head from then on.

import { X509Certificate } from 'node:crypto';
import { existsSync } from 'node:fs';
import { connect } from 'node:tls';
import { identityShown } from '../../../../kernel/base/pinned-certificate.ts';
import type { Context } from '../../../../kernel/cli/context.ts';
import { defineVerb } from '../../../../kernel/cli/verb.ts';
import { Api } from '../../../../kernel/connect/api.ts';
import {
  type ClientFile,
  machineFile,
  parseClientFile,
  putClientFile,
  readClientFile,
  textOf,
  userFile,
} from '../../../../kernel/connect/client-file.ts';
import { type Location, locateHead, SYSTEM_SOCKET } from '../../../../kernel/connect/locate.ts';
import { SessionCache } from '../../../../kernel/connect/sessions.ts';
import { Failure, usage } from '../../../../kernel/model/failure.ts';
import { type ClientSeen, planClient } from '../../core/setup/plan.ts';
import { Asking, type AskingOptions, defineAsking } from './asking.ts';

const KEYS = ['head', 'fingerprint'] as const;
const ANSWER_MS = 10_000;
const TOKEN = '~/.config/weft/token';

type Head = Extract<Location, { kind: 'url' }>;

export const verb = defineVerb<AskingOptions>({
  define(command) {
    defineAsking(command, KEYS);
  },
  async run({ context, options }) {
    const asking = new Asking(context, options, KEYS);
    const { url, fingerprint } = await headFrom(context, asking);
    const seen = look(context);
    const plan = planClient(seen, { head: url.origin, fingerprint });
    if (!plan.ok) throw usage(plan.error.what, plan.error.remedy);
    const isAll = seen.file === machineFile(context.environment);
    const whom = isAll ? 'all users of this machine' : 'you alone (as root: for all users)';
    const words = `write ${seen.file}, for ${whom}`;
    if (!(await asking.agree(plan.value ? [{ words }] : []))) return 1;
    const certificate = fingerprint === null ? {} : { fingerprint };
    const said: ClientFile = { head: url.origin, ...certificate, token_file: TOKEN };
    if (plan.value) putClientFile(seen.file, said);
    context.print(`The head at ${url.host} answers. What next, as each user:`);
    context.print('  weft login    gets a token, which somebody whom the head knows confirms');
    return 0;
  },
});

/** The head, once it has answered: nothing is written of a head that nobody has reached. */
async function headFrom(context: Context, asking: Asking): Promise<Head> {
  const { head, fingerprint } = context.options;
  const told = asking.given('head', head) ?? (await asking.ask('Address of the head, HOST:5001'));
  if (told === '') throw usage('there is no head to tell of', 'Give --head HOST:5001.');
  const pin = asking.given('fingerprint', fingerprint)?.replaceAll(':', '').toLowerCase();
  if (pin !== undefined && !/^[0-9a-f]{64}$/.test(pin)) {
    throw usage('that is no fingerprint', 'Copy all 64 characters: `weft info` on the head.');
  }
  const location = locateHead(
    pin === undefined ? { head: told } : { head: told, fingerprint: pin },
    {},
  );
  if (location.kind !== 'url') throw usage(`'${told}' is no address of a head`);
  const known = pin === undefined ? await pinned(context, asking, location) : location;
  await reach(context, known);
  return known;
}

/** A certificate that the machine's authorities know needs no fingerprint; others are compared. */
async function pinned(context: Context, asking: Asking, location: Head): Promise<Head> {
  try {
    await reach(context, location);
    return location;
  } catch (error) {
    if (!(error instanceof Failure) || error.kind !== 'unavailable') throw error;
  }
  const fingerprint = await shownBy(location);
  const question = `It shows the certificate ${fingerprint}. Does \`weft info\` on the head show the same (yes or no)`;
  if (/^y(es)?$/i.test(await asking.ask(question))) return { ...location, fingerprint };
  const hint = 'Give --fingerprint, as `weft info` on the head shows it.';
  throw usage(`nobody says that ${location.url.host} is the right head`, hint);
}

async function reach(context: Context, location: Head): Promise<void> {
  const sessions = new SessionCache(context.environment);
  const api = new Api({ location, sessions, timeoutMs: ANSWER_MS });
  try {
    await api.call('health');
  } finally {
    api.close();
  }
}

function shownBy({ url }: Head): Promise<string> {
  const { hostname: host, port } = url;
  return new Promise((resolve, reject) => {
    // Nothing is sent and nothing believed: the certificate is only shown.
    const socket = connect({ host, port: Number(port), rejectUnauthorized: false });
    const timer = setTimeout(() => socket.destroy(new Error('no answer')), ANSWER_MS);
    socket.once('secureConnect', () => {
      const carried = (text: string) => new X509Certificate(Buffer.from(text, 'base64url'));
      resolve(identityShown(socket.getPeerX509Certificate(), carried));
      socket.destroy();
    });
    socket.once('error', ({ message }) => {
      reject(usage(`${url.host} cannot be reached: ${message}`, 'Is that its address and port?'));
    });
    socket.once('close', () => clearTimeout(timer));
  });
}

/** The file that counts for whom this is done. */
function look({ environment }: Context): ClientSeen {
  const isRoot = process.getuid?.() === 0;
  const [own, all] = [userFile(environment), machineFile(environment)];
  const file = isRoot || (!existsSync(own) && existsSync(all)) ? all : own;
  const told = isRoot ? toldBy(all) : readClientFile(environment);
  const { head = null, fingerprint = null } = told ?? {};
  return { file, head, fingerprint, hasHead: existsSync(SYSTEM_SOCKET) };
}

const toldBy = (file: string): ClientFile | null =>
  existsSync(file) ? parseClientFile(textOf(file), file) : null;
