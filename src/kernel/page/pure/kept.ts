// What the page keeps in the browser, read as if a stranger had written it: another version of the
// page, another program on the same address, a hand. What is broken is as if it were not there.

import { EMPTY_FORM, type JobForm } from './job-form.ts';

const ROLES = ['user', 'operator', 'admin'] as const;

export interface Me {
  readonly name: string;
  readonly role: (typeof ROLES)[number];
}

/** Null: nobody that can be told. */
export function readMe(text: string | null): Me | null {
  const { name, role } = readObject(text);
  const known = ROLES.find((one) => one === role);
  return typeof name === 'string' && known !== undefined ? { name, role: known } : null;
}

/** What goes into a header as it is; anything else no head has given. */
export function readKey(text: string | null): string | null {
  return text !== null && /^[\w-]{1,200}$/.test(text) ? text : null;
}

/** The form that this user has typed; of anybody else's nothing is shown. */
export function readForm(text: string | null, user: string): JobForm {
  const { of, form } = readObject(text);
  if (of !== user || typeof form !== 'object' || form === null) return EMPTY_FORM;
  const typed = Object.entries(form).filter(
    ([name, value]) => name in EMPTY_FORM && typeof value === 'string',
  );
  return { ...EMPTY_FORM, ...Object.fromEntries(typed) };
}

export function writeForm(form: JobForm, user: string): string {
  return JSON.stringify({ of: user, form });
}

function readObject(text: string | null): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text ?? '{}');
    return typeof value === 'object' && value !== null ? { ...value } : {};
  } catch {
    return {};
  }
}
