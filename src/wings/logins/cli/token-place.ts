// Where a token is kept: in the user's folder, read by nobody else.

import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Context } from '../../../kernel/cli/context.ts';
import { fileProblem } from '../../../kernel/config/file-problem.ts';
import { homeOf } from '../../../kernel/config/home.ts';
import { readClientFile } from '../../../kernel/connect/client-file.ts';
import { type Location, parseHead } from '../../../kernel/connect/locate.ts';
import { usage } from '../../../kernel/model/failure.ts';

export interface TokenPlace {
  readonly file: string;
  /** A file of the user's that says where the head is, to be written too; null: one says it. */
  readonly client: { readonly file: string; readonly text: string } | null;
}

export function namedTokenFile({
  options,
  environment,
}: Pick<Context, 'options' | 'environment'>): string | undefined {
  return options.tokenFile ?? (environment['WEFT_TOKEN_FILE'] || undefined);
}

/** Throws a failure where a token that is kept would not be the one that counts. */
export function tokenPlace(
  { options, environment }: Context,
  { url, fingerprint }: Extract<Location, { kind: 'url' }>,
): TokenPlace {
  if (environment['WEFT_TOKEN']) {
    throw usage('WEFT_TOKEN is set, and counts before what is kept', 'Unset it first.');
  }
  const home = homeOf(environment);
  if (home === null) throw usage('HOME is not set', 'Set it to a directory of yours.');
  const folder = path.join(environment['XDG_CONFIG_HOME'] || path.join(home, '.config'), 'weft');
  const named = namedTokenFile({ options, environment });
  if (named !== undefined) return { file: path.resolve(named), client: null };
  const told = readClientFile(environment);
  if (told?.token_file !== undefined) {
    refuseOther(told, url);
    return { file: told.token_file.replace(/^~(?=\/)/, home), client: null };
  }
  const file = path.join(folder, 'token');
  const client = path.join(folder, 'client.yaml');
  if (existsSync(client)) {
    throw usage(`${client} does not say where the token is`, `Add a line: token_file: "${file}"`);
  }
  const lines = [`head: "${url.origin}"`, `token_file: "${file}"`];
  if (fingerprint !== null) lines.push(`fingerprint: "${fingerprint}"`);
  return { file, client: { file: client, text: `${lines.join('\n')}\n` } };
}

/** A token of another head in that file would be sent to the one that the client's file names. */
function refuseOther({ head }: { readonly head?: string | undefined }, url: URL): void {
  if (head === undefined) return;
  const named = parseHead(head);
  if (named === null || named.origin === url.origin) return;
  throw usage(
    `client.yaml says where the token of ${head} is, and this is ${url.origin}`,
    'Say where this one goes: --token-file FILE.',
  );
}

/** Before anybody is asked for a token: throws a failure where none could be kept. */
export function tryPlace({ file, client }: TokenPlace): void {
  write(file, '', (draft) => rmSync(draft));
  if (client !== null) write(client.file, '', (draft) => rmSync(draft));
}

/** All of it or nothing; never for others to read, whatever the umask. */
export function keepLogin({ file, client }: TokenPlace, token: string): void {
  write(file, `${token}\n`, (draft) => renameSync(draft, file));
  if (client !== null) write(client.file, client.text, (draft) => renameSync(draft, client.file));
}

function write(file: string, text: string, settle: (draft: string) => void): void {
  const draft = `${file}.new-${process.pid}`;
  try {
    mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
    rmSync(draft, { force: true });
    writeFileSync(draft, text, { mode: 0o600, flag: 'wx' });
    settle(draft);
  } catch (error) {
    throw usage(`${file} cannot be written: ${fileProblem(error)}`);
  }
}
