// `weft ui`: opens the web page of the head, logged in as who asks.

import { spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { headNow } from '../../api/head-time.ts';
import type { CreatePageLinkReply } from '../../api/ui.ts';
import { locateHead } from '../../connect/locate.ts';
import { refuse } from '../../model/errors.ts';
import { failure } from '../../model/failure.ts';
import type { Context } from '../context.ts';
import { formatSpan } from '../output/words.ts';
import { defineVerb } from '../verb.ts';

interface Options {
  readonly print?: boolean;
}

export const verb = defineVerb<Options>({
  define(command) {
    command.option('--print', 'print the link instead of opening a browser');
    command.addHelpText('after', WORDS);
  },
  async run({ context, options }) {
    const link = await (await context.api()).call('createPageLink', { body: {} });
    const url = `${baseOf(context, link)}/#login=${link.secret}`;
    const isOpened = options.print !== true && openBrowser(context, url);
    if (isOpened) {
      context.print('The page opens in your browser. If it does not: weft ui --print');
      return 0;
    }
    context.print(url);
    const span = formatSpan(link.expiresAt - headNow());
    context.note(`the link works once, within ${span}; after that the browser stays logged in.`);
    tellFar(context, link);
    return 0;
  },
});

const WORDS = `
The link logs you in without a password, once. Elsewhere, open the address of the head and log in
with a token of \`weft token create\`.`;

/** Where the browser finds the page: as we found the head, or on this machine. */
function baseOf(context: Context, { loopbackPort, addresses }: CreatePageLinkReply): string {
  const location = locateHead(context.options, context.environment);
  if (location.kind === 'url') return location.url.origin;
  if (loopbackPort !== null) return `http://127.0.0.1:${loopbackPort}`;
  const [address] = addresses;
  if (address !== undefined) return `https://${address}`;
  throw failure(refuse('argument.invalid', { what: 'this head listens on no port' }));
}

function tellFar(context: Context, { loopbackPort, fingerprint }: CreatePageLinkReply): void {
  if (loopbackPort === null) {
    if (fingerprint === null) return;
    context.note(`the browser asks about a certificate; its SHA-256 is ${fingerprint}`);
    return;
  }
  if (!context.environment['SSH_CONNECTION']) return;
  context.note(
    `from your own machine: ssh -L ${loopbackPort}:127.0.0.1:${loopbackPort} THIS-MACHINE`,
  );
}

/**
 * False: there is no desktop to open one on. The secret goes through a file of the user's: whoever
 * lists processes sees every argument.
 */
function openBrowser({ environment, directory }: Context, url: string): boolean {
  const hasDesktop = Boolean(environment['DISPLAY'] || environment['WAYLAND_DISPLAY']);
  const opener = programOnPath('xdg-open', environment['PATH']);
  if (!hasDesktop || opener === null) return false;
  const folder = environment['XDG_RUNTIME_DIR'] || directory;
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const file = path.join(folder, 'weft-ui.html');
  const refresh = `<meta http-equiv="refresh" content="0;url=${url}">`;
  writeFileSync(file, `<!doctype html><title>Weft</title>${refresh}\n`, { mode: 0o600 });
  chmodSync(file, 0o600);
  const options = { detached: true, stdio: 'ignore' } as const;
  spawn(opener, [pathToFileURL(file).href], options)
    .on('error', () => undefined)
    .unref();
  return true;
}

function programOnPath(name: string, folders = ''): string | null {
  const files = folders.split(':').map((folder) => path.join(folder, name));
  return files.find((file) => existsSync(file)) ?? null;
}
