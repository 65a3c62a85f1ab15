// The table of routes as an OpenAPI 3.1 document.

import { z } from 'zod';
import { KINDS } from '../core/model/errors.ts';
import { failureReply } from './failure.ts';
import { ROUTE_LIST, type Route } from './routes.ts';

/** Made once per head; plain JSON. */
export function openApiDocument(version: string): Record<string, unknown> {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const route of ROUTE_LIST) {
    const path = route.path.replace(/:(\w+)/g, '{$1}');
    paths[path] ??= {};
    paths[path][route.method.toLowerCase()] = operation(route);
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Weft', version, description: 'The API of a Weft head.' },
    paths,
    components: {
      schemas: { Failure: jsonSchema(failureReply, 'output') },
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer' },
        node: {
          type: 'apiKey',
          in: 'header',
          name: 'Authorization',
          description: 'Node NAME:SECRET',
        },
      },
    },
  };
}

function operation(route: Route): Record<string, unknown> {
  return {
    operationId: route.name,
    summary: route.summary,
    description: describeAccess(route),
    security: securityOf(route),
    parameters: [...parameters(route.params, 'path'), ...parameters(route.query, 'query')],
    ...(route.body === undefined ? {} : { requestBody: requestBody(route.body) }),
    responses: { 200: success(route), default: FAILURE },
  };
}

const FAILURE = {
  description: `Refused; the status follows the kind: ${Object.entries(KINDS)
    .map(([kind, { http }]) => `${kind} ${http}`)
    .join(', ')}.`,
  content: { 'application/json': { schema: { $ref: '#/components/schemas/Failure' } } },
};

function describeAccess({ access }: Route): string {
  if (access.kind === 'public') return 'No credentials are needed.';
  if (access.kind === 'join_token') return 'Needs a join token.';
  if (access.kind === 'node') return 'Needs the credentials of a node.';
  if (access.kind === 'local_or_user') return 'Needs no credentials on the unix socket.';
  if (access.owned === undefined) return `Needs the role ${access.role}.`;
  return `For the owner of the ${access.owned}; others need the role operator or admin.`;
}

function securityOf({ access }: Route): readonly Record<string, []>[] {
  if (access.kind === 'public') return [];
  return [access.kind === 'node' ? { node: [] } : { bearer: [] }];
}

function requestBody(schema: z.ZodType): Record<string, unknown> {
  const required = !schema.safeParse(undefined).success;
  return { required, content: { 'application/json': { schema: jsonSchema(schema, 'input') } } };
}

function success(route: Route): Record<string, unknown> {
  const content =
    route.reply === undefined
      ? { [route.produces ?? 'application/octet-stream']: {} }
      : { 'application/json': { schema: jsonSchema(route.reply, 'output') } };
  return { description: 'Done.', content };
}

function parameters(schema: z.ZodType | undefined, where: 'path' | 'query') {
  if (schema === undefined) return [];
  const { properties = {}, required = [] } = jsonSchema(schema, 'input') as {
    properties?: Record<string, unknown>;
    required?: string[];
  };
  return Object.entries(properties).map(([name, property]) => ({
    name,
    in: where,
    required: where === 'path' || required.includes(name),
    schema: property,
  }));
}

function jsonSchema(schema: z.ZodType, io: 'input' | 'output'): Record<string, unknown> {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io, unrepresentable: 'any' });
  return rest;
}
