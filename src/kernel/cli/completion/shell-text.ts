// Text of a shell script in a template literal.

/** The text of a shell script with its backslashes; only a dollar before a brace needs one more. */
export function shellText({ raw }: TemplateStringsArray): string {
  return raw.join('').replaceAll('\\${', '${');
}
