// A stand-in for the head's program: answers what `up` and `down` ask, and keeps its nodes.

import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { readHeadOptions } from '../../../../../src/bin/head-options.ts';
import { readLiveMark } from '../../../../../src/kernel/connect/process-file.ts';
import { listen, listenNear } from '../../../../../src/kernel/head/http/listening.ts';
import { infoView } from '../top/info-view.ts';
import { nodeView } from '../views.ts';

const options = readHeadOptions(process.argv.slice(2));
const store = `${options.directory}/nodes.json`;
const nodes = new Map<string, string | null>(
  existsSync(store) ? JSON.parse(readFileSync(store, 'utf8')) : [],
);
const login = `${options.directory}/login`;
const secure = createServer();
const port = await portOf(options.listen);

const answers: Record<string, (body: { name?: string; reason?: string }, name: string) => unknown> =
  {
    'POST /v1/auth/local/begin': () => ({ challenge: 'c', path: login }),
    'POST /v1/auth/local/finish': () => ({ token: 't', user: 'me', expiresAt: 0 }),
    'GET /v1/whoami': () => ({ kind: 'user', name: 'me', uid: 0, role: 'admin' }),
    'GET /v1/info': () => {
      const info = infoView();
      return { ...info, head: { ...info.head, addresses: [`localhost:${port}`] } };
    },
    'POST /v1/nodes': ({ name = '' }) => {
      nodes.set(name, null);
      return { name, secret: `secret of ${name}`, clusterName: options.clusterName };
    },
    'GET /v1/nodes': () => ({
      nodes: [...nodes].map(([name, reason]) =>
        nodeView({
          name,
          state: isUp(name) ? 'up' : 'away',
          drained: reason === null ? null : { reason, by: 'me', at: 0 },
        }),
      ),
    }),
    'GET /v1/jobs': () => ({ jobs: [], next: null }),
    'DELETE /v1/nodes/n2': () => ({ count: Number(nodes.delete('n2')) }),
    'POST drain': ({ reason = '' }, name) => {
      nodes.set(name, reason);
      return { count: 1 };
    },
    'POST undrain': (_, name) => {
      nodes.set(name, null);
      return { count: 1 };
    },
  };

function isUp(name: string): boolean {
  return readLiveMark(`${options.directory}/../run/${name}.pid`) !== null;
}

rmSync(options.socketPath, { force: true });
const server = createServer((request, response) => {
  let text = '';
  request.on('data', (piece: Buffer) => {
    text += piece.toString();
  });
  request.on('end', () => {
    const path = new URL(request.url ?? '', 'http://head').pathname;
    const [, name = '', verb = ''] = /^\/v1\/nodes\/([^/]+)\/(\w+)$/.exec(path) ?? [];
    const answer = answers[verb === '' ? `${request.method} ${path}` : `POST ${verb}`];
    response.statusCode = answer === undefined ? 404 : 200;
    response.end(JSON.stringify(answer?.(text === '' ? {} : JSON.parse(text), name) ?? {}));
  });
}).listen(options.socketPath);

process.on('SIGTERM', () => {
  writeFileSync(store, JSON.stringify([...nodes]));
  server.closeAllConnections();
  secure.close();
  server.close(() => process.exit(0));
});

/** Port where it listens as a head does; nothing is served there. */
async function portOf(where: typeof options.listen): Promise<number | null> {
  if (where === null) return null;
  return where.orNear ? listenNear(secure, where) : listen(secure, where);
}
