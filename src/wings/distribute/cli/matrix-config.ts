// The seed's `--matrix-config`: an account of Matrix by name and password. The head wants a token;
// this gets one, once, and keeps it beside the head's own secrets.

import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import type { Flags } from '../../../kernel/config/config.ts';
import { fileProblem } from '../../../kernel/config/file-problem.ts';
import { type Failure, usage } from '../../../kernel/model/failure.ts';

const FLAG = '--matrix-config';
const LOGIN_MS_MAX = 30_000;

const account = z.strictObject({
  matrix_username: z.string().min(1),
  matrix_password: z.string().min(1),
  homeserver_url: z.url({ protocol: /^https?$/ }),
  /** The user that the seed wrote as; the login says who that is. */
  matrix_id: z.string().optional(),
});
type Account = z.infer<typeof account>;

/** What the head is to be told, as flags of its configuration. */
export async function matrixFlags(file: string, secretsFolder: string): Promise<Flags> {
  const given = readAccount(file);
  const homeserver = new URL(given.homeserver_url).origin;
  const of = createHash('sha256').update(`${homeserver}\n${given.matrix_username}`).digest('hex');
  const tokenFile = path.join(secretsFolder, `matrix-${of.slice(0, 16)}.token`);
  if (!existsSync(tokenFile)) {
    writeFileSync(tokenFile, `${await login(file, homeserver, given)}\n`, { mode: 0o600 });
  }
  return new Map([
    ['notify.matrix_homeserver', { text: homeserver, flag: FLAG }],
    ['notify.matrix_token_file', { text: tokenFile, flag: FLAG }],
  ]);
}

function readAccount(file: string): Account {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    throw wrong(file, fileProblem(error));
  }
  let written: unknown;
  try {
    written = JSON.parse(text);
  } catch (error) {
    // Without the text that the engine quotes: it may be the password.
    if (error instanceof SyntaxError) throw wrong(file, 'is not valid JSON');
    throw error;
  }
  const read = account.safeParse(written);
  if (read.success) return read.data;
  const [{ path: at = [], message = '' } = {}] = read.error.issues;
  throw wrong(file, [at.join('.'), message].filter(Boolean).join(': '));
}

/** The access token. Throws a failure that says what the homeserver answered. */
async function login(file: string, homeserver: string, given: Account): Promise<string> {
  const { matrix_username: user, matrix_password: password } = given;
  const body = {
    type: 'm.login.password',
    identifier: { type: 'm.id.user', user },
    password,
    initial_device_display_name: 'weft',
  };
  let answer: Response;
  let text: string;
  try {
    answer = await fetch(`${homeserver}/_matrix/client/v3/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(LOGIN_MS_MAX),
    });
    text = await answer.text();
  } catch (error) {
    const cause = (error as Error).cause ?? error;
    throw wrong(file, `${homeserver} does not answer: ${(cause as Error).message}`);
  }
  const said = loginAnswer(text);
  if (answer.ok && said.access_token) return said.access_token;
  throw wrong(
    file,
    `${homeserver} refuses the login of ${user} (${answer.status} ${said.error ?? ''})`,
  );
}

const answered = z.object({ access_token: z.string().optional(), error: z.string().optional() });

function loginAnswer(text: string): z.infer<typeof answered> {
  try {
    return answered.parse(JSON.parse(text));
  } catch {
    return {}; // No homeserver: the status is all that there is to tell.
  }
}

function wrong(file: string, what: string): Failure {
  const hint =
    'notify.matrix_homeserver and notify.matrix_token_file say the same without a password.';
  return usage(`${FLAG}: ${file}: ${what}`, hint);
}
