// Pages of the documents, sent as files of the page are.

import type { IncomingMessage, ServerResponse } from 'node:http';
import { err, ok, type Result } from '../../../kernel/base/result.ts';
import type { HandlersOf } from '../../../kernel/head/http/call.ts';
import { PageFiles } from '../../../kernel/head/http/page-files.ts';
import { type Refusal, refuse } from '../../../kernel/model/errors.ts';
import type { manualRoutes } from '../api/manual.ts';

const FIRST = 'index.html';
const NOT_BUILT =
  'From the sources, `node tools/site.ts` builds them in seconds; a package has them built in.';

interface Web {
  readonly incoming: IncomingMessage;
  readonly response: ServerResponse;
}

/** `site`: the folder that they are in; it may come later, and be built anew. */
export function handlersOf(site: string): HandlersOf<typeof manualRoutes> {
  const files = new PageFiles(site);
  const send = async (
    { incoming, response }: Web,
    name: string,
  ): Promise<Result<null, Refusal>> => {
    if (await files.send(incoming, response, name)) return ok(null);
    const hint = name === FIRST ? NOT_BUILT : 'The list of all pages is at /docs.';
    return err(refuse('route.unknown', { path: `GET /docs/${name}` }, hint));
  };
  return {
    manual: async (_, call) => toFirst(call.response),
    manualFile: async (_, call) => {
      const { file } = call.params;
      return file === '' ? toFirst(call.response) : await send(call, file);
    },
    manualFileIn: async (_, call) => {
      const { folder, file } = call.params;
      return await send(call, `${folder}/${file || FIRST}`);
    },
  };
}

/** Links on pages are relative to the page's own address. */
function toFirst(response: ServerResponse): Result<null, Refusal> {
  response.writeHead(302, { location: `/docs/${FIRST}`, 'content-length': 0 });
  response.end();
  return ok(null);
}
