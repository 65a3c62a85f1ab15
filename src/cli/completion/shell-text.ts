// Text of a shell script in a template literal.

/** As written, backslashes and all; only a dollar before a brace needs one, which goes. */
export function shellText({ raw }: TemplateStringsArray): string {
  return raw.join('').replaceAll('\\${', '${');
}
