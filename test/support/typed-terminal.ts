// A program on a pseudo terminal of a known size: what a person would see of it, and keys for it.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';

export interface TerminalSize {
  readonly columns: number;
  readonly rows: number;
}

/** How long at most until something is shown: the machine may be busy. */
const SHOWN_MS_MAX = 120_000;

export class TypedTerminal {
  readonly #child: ChildProcess;
  readonly #size: TerminalSize;
  readonly #closed: Promise<unknown>;
  #cells: string[][];
  #row = 0;
  #column = 0;
  #rest = '';
  #said = '';
  #isClosed = false;
  #wake: () => void = () => undefined;

  /** Runs a line of a shell there. */
  constructor(line: string, setting: { env: NodeJS.ProcessEnv; cwd: string; size: TerminalSize }) {
    const { env, cwd, size } = setting;
    this.#size = size;
    this.#cells = blank(size);
    const sized = `stty cols ${size.columns} rows ${size.rows}; ${line}`;
    this.#child = spawn('script', ['-qefc', sized, '/dev/null'], {
      cwd,
      env: { ...env, TERM: 'xterm', SHELL: '/bin/sh' },
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    // Not its exit: what it has said last may come after that.
    this.#closed = once(this.#child, 'close').then(() => {
      this.#isClosed = true;
      this.#wake();
    });
    this.#child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      this.#said += text;
      this.#interpret(this.#rest + text);
      this.#wake();
    });
  }

  /** Everything that was sent, for what it must not hold. */
  get said(): string {
    return this.#said;
  }

  get picture(): string {
    return this.#cells.map((row) => row.join('').trimEnd()).join('\n');
  }

  type(keys: string): void {
    this.#child.stdin?.write(keys);
  }

  /** Resolves with the picture once it is so. */
  async shows(pattern: RegExp): Promise<string> {
    const until = performance.now() + SHOWN_MS_MAX;
    while (!pattern.test(this.picture)) {
      if (performance.now() > until || this.#isClosed) {
        throw new Error(`never shown: ${pattern}\n${this.picture}`);
      }
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, 1000);
        this.#wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
    return this.picture;
  }

  /** Exit code of the line. */
  async ended(): Promise<number | null> {
    await this.#closed;
    return this.#child.exitCode;
  }

  kill(): void {
    this.#child.kill('SIGKILL');
  }

  /**
   * Text, CR, LF, BS, and of the control sequences CUP, EL and ED (ECMA-48); others move nothing.
   */
  #interpret(text: string): void {
    const PIECE = /\u001b\[([0-9;?]*)([@-~])|\u001b[^[]|[^\u001b]/suy;
    let at = 0;
    for (let piece = PIECE.exec(text); piece !== null; piece = PIECE.exec(text)) {
      at = PIECE.lastIndex;
      const [character, parameters = '', final] = piece;
      if (final !== undefined) this.#control(parameters, final);
      else if (character.length === 1 || !character.startsWith('\u001b')) this.#put(character);
    }
    this.#rest = text.slice(at);
  }

  #control(parameters: string, final: string): void {
    const [first = 1, second = 1] = parameters.split(';').map((part) => Number(part) || 1);
    if (final === 'H') [this.#row, this.#column] = [first - 1, second - 1];
    else if (final === 'K') this.#cells[this.#row]?.fill(' ', this.#column);
    else if (final === 'J') this.#cells = blank(this.#size);
  }

  #put(character: string): void {
    if (character === '\r') this.#column = 0;
    else if (character === '\n') this.#row = Math.min(this.#row + 1, this.#size.rows - 1);
    else if (character === '\b') this.#column = Math.max(0, this.#column - 1);
    else if (character >= ' ') {
      const row = this.#cells[this.#row];
      if (row !== undefined && this.#column < row.length) row[this.#column] = character;
      this.#column += 1;
    }
  }
}

function blank({ columns, rows }: TerminalSize): string[][] {
  return Array.from({ length: rows }, () => Array<string>(columns).fill(' '));
}
