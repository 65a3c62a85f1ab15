// The form of a new job: what is wrong with it, and the submission that it stands for. Its fields
// are options of jobs, and a command with the directory that it runs in.

import type { Body } from '../../api/routes.ts';
import { err, type Result } from '../../base/result.ts';
import {
  FIELD_ROWS,
  type FieldRow,
  type FieldValues,
  type FormField,
  type FormOption,
} from '../../model/options/table.ts';
import type { Reading } from '../../model/options/types.ts';

/** What the form says; texts as typed. */
export type JobForm = { readonly [N in FormOption | 'command' | 'chdir']: string };

type FormRow = FieldRow & Required<Pick<FieldRow, 'form'>> & { readonly name: FormOption };

/** Those of the table, in the order of the form. */
export const FORM_ROWS = FIELD_ROWS.filter((row): row is FormRow => row.form !== undefined);

/** What is not said is as on the command line: the cluster has its defaults. */
export const EMPTY_FORM: JobForm = {
  ...(Object.fromEntries(FORM_ROWS.map(({ name }) => [name, ''])) as Record<FormOption, string>),
  command: '',
  chdir: '',
};

export type Problems = Partial<Record<keyof JobForm, string>>;

/** By field; empty: nothing is wrong that the page can see. */
export function problemsOf(form: JobForm): Problems {
  const chdir = form.chdir.trim();
  return {
    ...(form.command.trim() === '' && { command: 'what is to run' }),
    ...Object.fromEntries(
      FORM_ROWS.flatMap((row) => {
        const value = parsed(row, form);
        return value === null || value.ok ? [] : [[row.name, value.error]];
      }),
    ),
    ...(chdir !== '' && !chdir.startsWith('/') && { chdir: 'a path from /' }),
  };
}

/** The form has no instants. */
const READING: Reading = { instant: (text) => err(`'${text}' is not a time`) };

/** Returns null when nothing is said. */
function parsed({ name, type }: FormRow, form: JobForm): Result<unknown, string> | null {
  const text = form[name].trim();
  return text === '' ? null : type.parse([text], READING);
}

/** Only of a form without problems. */
export function submissionOf(form: JobForm): Body<'submitJob'> {
  const fields = FORM_ROWS.flatMap((row) => {
    const value = parsed(row, form);
    return value?.ok ? [[row.field, value.value]] : [];
  });
  const chdir = form.chdir.trim();
  return {
    ...(Object.fromEntries(fields) as Partial<Pick<FieldValues, FormField>>),
    program: { kind: 'shell', line: form.command },
    directory: chdir === '' ? { kind: 'private' } : { kind: 'shared', path: chdir },
  };
}
