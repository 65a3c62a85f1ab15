// The table of routes as an OpenAPI 3.1 document.

import type { z } from 'zod';
import { KINDS } from '../model/errors.ts';
import { recordView } from './cluster.ts';
import { Components, type Json } from './components.ts';
import { failureReply } from './failure.ts';
import { jobDetail } from './jobs.ts';
import type { ApiPart, Tag } from './part.ts';
import { listRoutes, type Route } from './route-list.ts';
import { STREAMS } from './route-shape.ts';
import { namedSchemas } from './schema-names.ts';

/** Made once per head; plain JSON. */
export function openApiDocument(
  version: string,
  parts: readonly ApiPart[],
): Record<string, unknown> {
  const jobFields: z.ZodRawShape = Object.assign({}, ...parts.map((part) => part.jobFields));
  const wholeJob = jobDetail.extend(jobFields);
  const components = new Components(namedSchemas(parts).add(wholeJob, { id: 'JobDetail' }));
  const tags = tagsOf(parts);
  const failure = components.schema(failureReply, 'output', 'Failure');
  components.schema(recordView, 'output', 'EventRecord');
  const paths: Record<string, Record<string, unknown>> = {};
  for (const listed of listRoutes(parts)) {
    const route = listed.reply === jobDetail ? { ...listed, reply: wholeJob } : listed;
    const path = route.path.replace(/:(\w+)/g, '{$1}');
    paths[path] ??= {};
    paths[path][route.method.toLowerCase()] = operation(
      route,
      tagOf(route, tags),
      components,
      failure,
    );
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Weft', version, description: 'The API of a Weft head.' },
    servers: SERVERS,
    tags: Object.entries(tags).map(([name, { description }]) => ({ name, description })),
    paths,
    components: { schemas: components.all, securitySchemes: SECURITY },
  };
}

const SERVERS = [
  { url: '/', description: 'The head that answers this document.' },
  {
    url: 'https://{host}:{port}',
    description: "A head's TLS port.",
    variables: { host: { default: 'localhost' }, port: { default: '5001' } },
  },
];

const SECURITY = {
  bearer: { type: 'http', scheme: 'bearer' },
  node: {
    type: 'apiKey',
    in: 'header',
    name: 'Authorization',
    description: 'Node NAME:SECRET',
  },
  worker: {
    type: 'apiKey',
    in: 'header',
    name: 'Authorization',
    description: 'Worker EPOCH:SECRET',
  },
};

/** By the first word of the path behind the version; `cluster` has what no other has. */
const TAGS: Readonly<Record<string, Tag>> = {
  jobs: { description: 'Submit, follow and control jobs.', words: ['jobs', 'history'] },
  files: { description: 'File contents by their SHA-256.', words: ['blobs', 'epochs'] },
  nodes: {
    description: 'Nodes, and how they join.',
    words: ['nodes', 'join', 'join-tokens', 'agent'],
  },
  partitions: { description: 'Partitions and qualities of service.', words: ['partitions', 'qos'] },
  reservations: { description: 'Nodes set aside for a time.', words: ['reservations'] },
  maintenance: { description: 'Nodes out of service for a time.', words: ['maintenance'] },
  users: {
    description: 'Who may do what, and what they have used.',
    words: ['users', 'usage', 'tokens', 'auth', 'whoami'],
  },
};

const CLUSTER: Tag = {
  description: 'The cluster as a whole, and what happens in it.',
  words: [],
};

function tagsOf(parts: readonly ApiPart[]): Readonly<Record<string, Tag>> {
  return Object.assign({}, TAGS, ...parts.map((part) => part.tags), { cluster: CLUSTER });
}

function tagOf({ path }: Route, tags: Readonly<Record<string, Tag>>): string {
  const word = path.replace(/^\/(v1\/)?/, '').split('/')[0] ?? '';
  return Object.entries(tags).find(([, { words }]) => words.includes(word))?.[0] ?? 'cluster';
}

function operation(
  route: Route,
  tag: string,
  components: Components,
  failure: Json,
): Record<string, unknown> {
  const name = capital(route.name);
  const body = requestBody(route, components, `${name}Request`);
  return {
    operationId: route.name,
    tags: [tag],
    summary: route.summary,
    description: describeAccess(route),
    security: securityOf(route),
    parameters: (['path', 'query', 'header'] as const).flatMap((where) =>
      parameters(route, where, components),
    ),
    ...(body === undefined ? {} : { requestBody: body }),
    responses: {
      ...success(route, components, `${name}Reply`),
      default: { description: REFUSED, content: { 'application/json': { schema: failure } } },
    },
  };
}

const REFUSED = `Refused; the status follows the kind: ${Object.entries(KINDS)
  .map(([kind, { http }]) => `${kind} ${http}`)
  .join(', ')}.`;

function describeAccess({ access }: Route): string {
  if (access.kind === 'public') return 'No credentials are needed.';
  if (access.kind === 'join_token') return 'Needs a join token.';
  if (access.kind === 'node') return 'Needs the credentials of a node.';
  if (access.kind === 'worker') return 'Needs the credentials of a worker of the pool.';
  if (access.kind === 'user_or_epoch') {
    return `Needs the role ${access.role}, or the credentials of a node and a task that it runs.`;
  }
  if (access.kind === 'local_or_user') return 'Needs no credentials on the unix socket.';
  if (access.owned === undefined) return `Needs the role ${access.role}.`;
  if (access.owned === 'calls') return 'For the owner of the pool; others need the role admin.';
  const isForAdmins = access.others === 'admin' || access.owned === 'token';
  const others = isForAdmins ? 'admin' : 'operator or admin';
  return `For the owner of the ${access.owned}; others need the role ${others}.`;
}

function securityOf({ access }: Route): readonly Record<string, []>[] {
  if (access.kind === 'public') return [];
  if (access.kind === 'user_or_epoch') return [{ bearer: [] }, { node: [] }];
  if (access.kind === 'worker') return [{ worker: [] }];
  return [access.kind === 'node' ? { node: [] } : { bearer: [] }];
}

function requestBody({ body, consumes }: Route, components: Components, name: string) {
  if (consumes !== undefined) return { required: true, content: streamed(consumes) };
  return body && jsonBody(body, components, name);
}

function jsonBody(schema: z.ZodType, components: Components, name: string): Json {
  const required = !schema.safeParse(undefined).success;
  const content = { 'application/json': { schema: components.schema(schema, 'input', name) } };
  return { required, content };
}

/** By its status. */
function success(route: Route, components: Components, name: string): Json {
  const { reply, produces } = route;
  if (produces === 'upgrade') return { 101: { description: 'The connection is a WebSocket now.' } };
  const headers = Object.entries(route.replyHeaders ?? {}).map(([header, description]) => [
    header,
    { description, schema: { type: 'string' } },
  ]);
  const content =
    reply === undefined
      ? produces && streamed(produces)
      : { 'application/json': { schema: components.schema(reply, 'output', name) } };
  const description = DESCRIPTIONS[route.name] ?? 'Done.';
  return {
    200: {
      description,
      ...(headers.length === 0 ? {} : { headers: Object.fromEntries(headers) }),
      ...(content === undefined ? {} : { content }),
    },
  };
}

const DESCRIPTIONS: Readonly<Record<string, string>> = {
  events: 'Server-sent events. The `data` of each is an EventRecord in JSON, its `id` the `seq`.',
  readLogs: 'The bytes as the process wrote them, up to what the head has.',
};

function streamed(stream: keyof typeof STREAMS): Json {
  const bytes = stream === 'bytes' ? { format: 'binary' } : {};
  return { [STREAMS[stream]]: { schema: { type: 'string', ...bytes } } };
}

function parameters(route: Route, where: 'path' | 'query' | 'header', components: Components) {
  const schema = { path: route.params, query: route.query, header: route.headers }[where];
  if (schema === undefined) return [];
  const {
    properties = {},
    required = [],
  }: { properties?: Record<string, Json>; required?: string[] } = components.inline(schema);
  return Object.entries(properties).map(([name, { description, ...property }]) => ({
    name,
    in: where,
    required: where === 'path' || required.includes(name),
    ...(description === undefined ? {} : { description }),
    schema: property,
  }));
}

function capital(word: string): string {
  return `${word.charAt(0).toUpperCase()}${word.slice(1)}`;
}
