// Schemas as components of an OpenAPI document: every object has a name, and stands there once.

import { z } from 'zod';
import { ENUMS, type Named, STAND_INS } from './schema-names.ts';

export type Json = Record<string, unknown>;

const PREFIX = '#/components/schemas/';

/** Gathers components while the document is written. */
export class Components {
  readonly #schemas = new Map<string, Json>();
  readonly #named: Named;

  constructor(named: Named) {
    this.#named = named;
  }

  /** In the order of their names. */
  get all(): Record<string, Json> {
    return Object.fromEntries([...this.#schemas].sort(([a], [b]) => (a < b ? -1 : 1)));
  }

  /** The schema, or a reference to it when it is an object; `name`: unless it has one. */
  schema(schema: z.ZodType, io: 'input' | 'output', name: string): Json {
    const { $schema: _, $defs = {}, ...root } = this.#convert(schema, io);
    for (const [id, inner] of Object.entries($defs as Record<string, Json>)) {
      this.#add(id, this.#insides(inner, id));
    }
    return this.#place(root, name);
  }

  /** An object whose own fields are read: those of a path, a query or headers. */
  inline(schema: z.ZodType): Json {
    const { $schema: _, $defs = {}, ...root } = this.#convert(schema, 'input');
    for (const [id, inner] of Object.entries($defs as Record<string, Json>)) {
      this.#add(id, this.#insides(inner, id));
    }
    return this.#insides(root, '');
  }

  #convert(schema: z.ZodType, io: 'input' | 'output'): Json {
    return convert(schema, io, this.#named);
  }

  /** An object or a choice goes into a component of this name; anything else stays in its place. */
  #place(schema: Json, name: string): Json {
    const shared = sharedEnum(schema);
    if (shared !== undefined) {
      this.#add(shared, schema);
      return { $ref: `${PREFIX}${shared}` };
    }
    if (typeof schema['$ref'] === 'string') return { $ref: `${PREFIX}${idOf(schema['$ref'])}` };
    const inside = this.#insides(schema, name);
    if (!isObject(inside) && inside['oneOf'] === undefined) return inside;
    this.#add(name, inside);
    return { $ref: `${PREFIX}${name}` };
  }

  #insides(schema: Json, name: string): Json {
    const placed: Json = { ...schema };
    for (const [key, value] of Object.entries(schema)) {
      if (key === 'properties') placed[key] = this.#properties(value as Record<string, Json>, name);
      else if (key === 'items') placed[key] = this.#place(value as Json, `${name}Item`);
      else if (key === 'anyOf' || key === 'oneOf') {
        const choices = value as Json[];
        placed[key] = choices.map((one, at) =>
          this.#place(one, choiceName(one, choices, at, name)),
        );
      } else if (key === 'additionalProperties' && typeof value === 'object') {
        placed[key] = this.#place(value as Json, `${name}Value`);
      }
    }
    return placed;
  }

  #properties(properties: Record<string, Json>, name: string): Json {
    const entries = Object.entries(properties);
    return Object.fromEntries(
      entries.map(([key, value]) => [key, this.#place(value, `${name}${capital(key)}`)]),
    );
  }

  /** One name, one schema: two that differ are a mistake of schema-names.ts. */
  #add(name: string, schema: Json): void {
    const titled = { title: name, ...schema };
    const before = this.#schemas.get(name);
    if (before !== undefined && JSON.stringify(before) !== JSON.stringify(titled)) {
      throw new Error(`two schemas have the name ${name}`);
    }
    this.#schemas.set(name, titled);
  }
}

/** The name of a list of words that several schemas have. */
function sharedEnum({ type, enum: words }: Json): string | undefined {
  return type === 'string' && Array.isArray(words) ? ENUMS.get(words.join()) : undefined;
}

/** With its discriminator where it has one; alone beside null it needs no further name. */
function choiceName(choice: Json, choices: readonly Json[], at: number, name: string): string {
  const { properties = {} } = choice as { properties?: Record<string, { const?: unknown }> };
  const word = Object.values(properties).find((property) => property.const !== undefined)?.const;
  if (typeof word === 'string') return `${name}${capital(word)}`;
  if (typeof word === 'boolean') return `${name}${word ? 'Done' : 'Refused'}`;
  return choices.filter(isObject).length > 1 ? `${name}${at + 1}` : name;
}

function isObject({ type, properties }: Json): boolean {
  return type === 'object' && properties !== undefined;
}

function idOf(reference: string): string {
  return reference.slice('#/$defs/'.length);
}

function capital(word: string): string {
  return word.replace(/(?:^|[^A-Za-z0-9])([A-Za-z0-9])/g, (_, letter: string) =>
    letter.toUpperCase(),
  );
}

function convert(schema: z.ZodType, io: 'input' | 'output', named: Named): Json {
  return z.toJSONSchema(schema, {
    io,
    metadata: named,
    unrepresentable: 'any',
    override: ({ zodSchema, jsonSchema }) => {
      const standIn = STAND_INS.get(zodSchema);
      if (standIn !== undefined) Object.assign(jsonSchema, { $ref: `#/$defs/${standIn}` });
      // What is read may have more fields one day; only what is sent may not.
      const { type, catchall } = zodSchema._zod.def as { type: string; catchall?: unknown };
      const isOpen = type === 'object' && catchall === undefined;
      if (io === 'output' && isOpen) delete jsonSchema.additionalProperties;
      if (jsonSchema.type === 'integer') widen(jsonSchema);
      if (jsonSchema.enum?.join() === 'true,false') asFlag(jsonSchema);
      const description = z.globalRegistry.get(zodSchema as z.core.$ZodType)?.description;
      if (description !== undefined) jsonSchema.description = description;
    },
  }) as Json;
}

/** The words of a query string for a flag. */
function asFlag(schema: z.core.JSONSchema.JSONSchema): void {
  schema.type = 'boolean';
  delete schema.enum;
}

/** Bounds that only say what a double holds exactly say nothing to a reader. */
function widen(schema: { minimum?: number; maximum?: number; format?: string }): void {
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum;
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum;
  schema.format = 'int64';
}
