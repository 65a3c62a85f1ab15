// `weft mcp`: this cluster for programs that act for people, by the Model Context Protocol on
// standard input and output, with the rights of whoever starts it.

import type { Context, Terminal } from '../../../kernel/cli/context.ts';
import { defineVerb } from '../../../kernel/cli/verb.ts';
import { VERSION } from '../../../kernel/cli/version.ts';
import { usage } from '../../../kernel/model/failure.ts';
import { BoundedText } from '../core/bounded-text.ts';
import { TOOLS } from '../core/tools.ts';
import { readLines } from './lines.ts';
import { Server, type ServerPorts } from './server.ts';

interface Options {
  readonly readOnly?: boolean;
}

/** Characters of an answer: some pages. */
const ANSWER_MAX = 20_000;

export const verb = defineVerb<Options>({
  define(command) {
    command.option('--read-only', 'only tools that change nothing');
  },
  async run({ context, options }) {
    const { runLine } = context;
    if (runLine === undefined) throw usage('this program runs no other commands');
    const tools = TOOLS.filter(({ readOnly }) => readOnly || options.readOnly !== true);
    const server = new Server({
      version: VERSION,
      tools,
      write: (line) => context.out(line),
      run: (lines) => runAll(context, lines),
    });
    const { input } = context.terminal;
    if (input === undefined) throw usage('there is no standard input to serve');
    await readLines(input.open(), (line) => server.take(line));
    await server.drained();
    return 0;
  },
});

const runAll = async (
  { runLine, options }: Context,
  lines: Parameters<ServerPorts['run']>[0],
): ReturnType<ServerPorts['run']> => {
  const said = new BoundedText(ANSWER_MAX);
  const terminal: Terminal = {
    out: (text) => said.add(typeof text === 'string' ? text : Buffer.from(text).toString('utf8')),
    error: (text) => said.add(typeof text === 'string' ? text : Buffer.from(text).toString('utf8')),
    outIsTerminal: false,
    errorIsTerminal: false,
  };
  const common = commonFlags(options);
  let code = 0;
  for (const argv of lines) {
    code = (await runLine?.([...argv.slice(0, 1), ...common, ...argv.slice(1)], terminal)) ?? 1;
    if (code !== 0) break;
  }
  return { code, text: said.toString() };
};

/** Which cluster was meant, for the commands as well. */
function commonFlags({ dir, head, fingerprint, tokenFile, config }: Context['options']): string[] {
  const given = { dir, head, fingerprint, 'token-file': tokenFile, config };
  return Object.entries(given).flatMap(([name, value]) =>
    value === undefined ? [] : [`--${name}=${value}`],
  );
}
