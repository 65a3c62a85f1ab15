// A driver's tool: run bounded in time and output, and not again while it hangs. What hangs in the
// kernel no signal ends, and each further one would hang beside it.

import { existsSync } from 'node:fs';
import { systemCommands } from '../../../kernel/os/commands.ts';
import { isOnPath } from '../../../kernel/os/container-runtimes.ts';
import type { CommandEnd } from '../../../kernel/ports/commands.ts';
import type { Said, Tool } from '../ports/machine-view.ts';
import { type LeftTools, markedTool } from './left-tools.ts';

/** Eight cards without persistence take 30 s to wake. */
const TIMEOUT_MS = 30_000;
/** The XML of eight cards is 200 kB. */
const OUTPUT_LENGTH_MAX = 4_000_000;

export class SystemTool implements Tool {
  readonly #program: string;
  readonly #left: LeftTools;
  #last: CommandEnd | null = null;
  #isRunning = false;

  /** `left`: what agents before this one have left behind. */
  constructor(program: string, left: LeftTools) {
    this.#program = program;
    this.#left = left;
  }

  get isThere(): boolean {
    return this.#program.startsWith('/') ? existsSync(this.#program) : isOnPath(this.#program);
  }

  async run(...args: readonly string[]): Promise<Said> {
    if (this.#isRunning) return { kind: 'mute', words: `${this.#program} has not answered yet` };
    if (this.#last?.isThere() === true || this.#left.isThere(this.#program)) {
      return { kind: 'mute', words: `${this.#program} hangs, and cannot be ended` };
    }
    this.#isRunning = true;
    const end = await systemCommands.run({
      argv: markedTool(this.#program, args),
      environment: { LC_ALL: 'C' },
      timeoutMs: TIMEOUT_MS,
      keep: { part: 'first', length: OUTPUT_LENGTH_MAX },
      lengthMax: OUTPUT_LENGTH_MAX,
    });
    this.#isRunning = false;
    this.#last = end;
    if (end.code !== null) return { kind: 'said', code: end.code, text: end.output };
    return { kind: 'mute', words: `${this.#program}: ${end.how}` };
  }
}
