// `{{re}}` in names, arguments and files stands for a value of the sweep.

const PLACEHOLDER = /\{\{\s*([A-Za-z_][\w-]*)\s*\}\}/g;

/** Left alone until the start of a job, when the number is known. */
export const CPUS = 'cpus';

/** Names that a text asks for, `cpus` among them. */
export function placeholdersIn(text: string): string[] {
  return [...text.matchAll(PLACEHOLDER)].map(([, name = '']) => name);
}

/** The text with what is known filled in; what is not stays. */
export function fillIn(text: string, values: ReadonlyMap<string, string>): string {
  return text.replace(PLACEHOLDER, (whole, name: string) => values.get(name) ?? whole);
}

/** A job's arguments at its start. */
export function fillCpus(args: readonly string[], cpuCount: number): string[] {
  const values = new Map([[CPUS, String(cpuCount)]]);
  return args.map((text) => fillIn(text, values));
}
