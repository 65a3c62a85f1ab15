// Schemas of the fields that are one option each, made from the table of options.

import { z } from 'zod';
import { utf8Length } from '../base/utf8.ts';
import {
  type ChangeValues,
  FIELD_ROWS,
  type FieldName,
  type FieldRow,
  type FieldValues,
  flagOf,
  type KeptValues,
  type ShownValues,
} from '../model/options/table.ts';
import type { Form } from '../model/options/types.ts';
import { plainLine } from './common.ts';

/** Schemas by field, of those that have forms of their own. */
export type OwnForms = Readonly<Record<string, z.ZodType>>;

/** The schema of a field: that of its own form, or one made of its type. */
type SchemaOf<F extends string, V, O> = F extends keyof O ? O[F] & z.ZodType : z.ZodType<V, V>;
type OptionFields<O> = {
  [F in FieldName]: z.ZodOptional<SchemaOf<F, FieldValues[F], O>>;
};
type ChangeFields<O> = {
  [F in keyof ChangeValues]-?: z.ZodExactOptional<
    null extends ChangeValues[F]
      ? z.ZodNullable<SchemaOf<F, NonNullable<ChangeValues[F]>, O>>
      : SchemaOf<F, NonNullable<ChangeValues[F]>, O>
  >;
};

/** Fields of a submission. */
export function optionFields<O extends OwnForms>(own: O): OptionFields<O> {
  const fields = FIELD_ROWS.map((row) => [row.field, described(row, own).optional()]);
  return Object.fromEntries(fields) as OptionFields<O>;
}

/** Fields of a change; of those that may be taken away null does it. */
export function changeFields<O extends OwnForms>(own: O): ChangeFields<O> {
  const fields = FIELD_ROWS.flatMap((row) => {
    if (row.change === undefined) return [];
    const schema = schemaOf(row, own);
    return [[row.field, (row.change.none ? schema.nullable() : schema).exactOptional()]];
  });
  return Object.fromEntries(fields) as ChangeFields<O>;
}

type ShownFields = {
  [F in keyof ShownValues]: F extends RequiredField
    ? z.ZodType<ShownValues[F], ShownValues[F]>
    : z.ZodExactOptional<z.ZodType<ShownValues[F], ShownValues[F]>>;
};
type RequiredField = {
  [F in keyof KeptValues]-?: Record<never, never> extends Pick<KeptValues, F> ? never : F;
}[keyof KeptValues];

/** Fields of a shown job. Heads of other releases have other bounds, and may leave some out. */
export function shownFields(): ShownFields {
  const fields = FIELD_ROWS.flatMap(({ field, kept, type }) => {
    if (kept === undefined) return [];
    const schema = replyOf(type.form);
    if ('default' in kept) return [[field, schema]];
    return [[field, ('title' in kept ? schema.nullable() : schema).exactOptional()]];
  });
  return Object.fromEntries(fields) as ShownFields;
}

function replyOf(form: Form): z.ZodType {
  switch (form.kind) {
    case 'whole':
      return z.int();
    case 'flag':
      return z.boolean();
    case 'line':
      return z.string();
    case 'choice':
      return z.enum(form.words);
    case 'own':
      throw new Error('a value of an own form is not kept as it is');
  }
}

function described(row: FieldRow, own: OwnForms): z.ZodType {
  const description = `As \`${flagOf(row)}\` of \`weft run\`: ${row.words}.`;
  return schemaOf(row, own).meta({ description });
}

/** Throws when the table has a field for which nobody has written a schema. */
function schemaOf({ field, type }: FieldRow, own: OwnForms): z.ZodType {
  const form: Form = type.form;
  switch (form.kind) {
    case 'whole':
      return z.int().min(form.least).max(form.most);
    case 'choice':
      return z.enum(form.words);
    case 'flag':
      return z.boolean();
    case 'line':
      return form.unit === 'characters' ? plainLine.min(1).max(form.most) : bytesOf(form.most);
    case 'own': {
      const schema = own[field];
      if (schema === undefined) throw new Error(`no schema for the field ${field}`);
      return schema;
    }
  }
}

/** JSON Schema counts characters: more of them than bytes there cannot be. */
function bytesOf(most: number): z.ZodType<string> {
  const error = `a text of at most ${most} bytes`;
  return plainLine
    .min(1)
    .max(most)
    .refine((text) => utf8Length(text) <= most, { error });
}
