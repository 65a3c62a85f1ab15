// A machine of its own, with a kernel and an init of its own: what namespaces cannot show. Its
// kernel is a program of this machine (User-mode Linux): programs compute as fast as here, and each
// system call takes some times longer. Its only cable is a serial line.

import assert from 'node:assert/strict';
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { closeSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Duplex } from 'node:stream';
import { makeDisk } from './machine-disk.ts';

/** From power on to the first command; a quiet machine needs a few seconds. */
const BOOT_MS_MAX = 300_000;
const COMMAND_SECONDS_MAX = 300;
const SEEN_SECONDS_MAX = 600;
/** Beyond the bound of a command: the machine itself hangs. */
const SILENCE_MS_MAX = 30_000;
/** The kernel, of Debian's package `user-mode-linux`. */
const KERNEL = 'linux.uml';
const WHOLE_REGISTERS = join(import.meta.dirname, 'whole-registers.c');

/** What a command inside said. */
export interface Said {
  readonly code: number;
  readonly output: string;
}

export class VirtualMachine {
  readonly directory = mkdtempSync(join(tmpdir(), 'weft-machine-'));
  readonly #answers: string[] = [];
  #kernel: ChildProcess | null = null;
  #line: Duplex | null = null;
  #heard: (() => void) | null = null;

  private constructor() {}

  /** Makes a disk with Weft on it and boots from it. */
  static async start(): Promise<VirtualMachine> {
    const machine = new VirtualMachine();
    try {
      const folder = join(machine.directory, 'root');
      mkdirSync(folder);
      await makeDisk(join(machine.directory, 'disk'), folder);
      rmSync(folder, { recursive: true });
      execFileSync('cc', ['-O2', '-shared', '-fPIC', '-o', machine.#preload, WHOLE_REGISTERS]);
      await machine.#powerOn();
      return machine;
    } catch (error) {
      await machine.close();
      throw error;
    }
  }

  async #powerOn(): Promise<void> {
    const lines = ['con=null', 'con0=null,fd:1', 'ssl=null', 'ssl1=fd:3,fd:3'];
    const disk = [`ubd0=${join(this.directory, 'disk')}`, 'root=/dev/ubda', 'rw'];
    const rest = ['mem=1536M', 'quiet', 'panic=-1', 'audit=0', 'selinux=0', ...INIT.split(' ')];
    const kernel = ['env', `LD_PRELOAD=${this.#preload}`, KERNEL, ...lines, ...disk, ...rest];
    // Its processes are processes here, and end with the first of them. With the test's process
    // dead by a signal, nobody else would end that.
    const alone = ['unshare', '--fork', '--pid', '--kill-child=KILL'];
    const asRoot = process.getuid?.() === 0 ? [] : ['--user', '--map-root-user'];
    const command = ['setpriv', '--pdeathsig', 'KILL', ...alone, ...asRoot, ...kernel];
    // Starved by what runs beside it, it would pass bounds of time inside by waiting alone. Who may
    // not be served first is told and goes on.
    const first = ['-n', '-10', ...command];
    const said = openSync(this.consoleFile, 'a');
    const started = spawn('nice', first, { stdio: ['ignore', said, said, 'pipe'] });
    closeSync(said);
    this.#kernel = started;
    started.once('exit', (code) => this.#hear(`ended ${code}`));
    this.#line = started.stdio[3] as Duplex;
    createInterface({ input: this.#line }).on('line', (line) => this.#hear(line));
    await this.#booted();
  }

  async #booted(): Promise<void> {
    const word = await this.#next(BOOT_MS_MAX);
    if (word !== 'ready') throw new Error(`it says '${word}', not 'ready'\n${this.console()}`);
  }

  #hear(line: string): void {
    this.#answers.push(line.trim());
    this.#heard?.();
  }

  async #next(timeoutMs: number): Promise<string> {
    if (this.#answers.length === 0) await this.#hearing(timeoutMs);
    return this.#answers.shift() ?? '';
  }

  #hearing(timeoutMs: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const late = () => reject(new Error(`silent for ${timeoutMs} ms\n${this.console()}`));
      const timer = setTimeout(late, timeoutMs);
      this.#heard = () => {
        clearTimeout(timer);
        this.#heard = null;
        resolve();
      };
    });
  }

  /** Runs a line of shell inside, as root. One at a time. */
  async run(line: string, seconds = COMMAND_SECONDS_MAX): Promise<Said> {
    this.#send(line, seconds);
    const answer = await this.#next(seconds * 1000 + SILENCE_MS_MAX);
    const [code, text = ''] = answer.split(' ');
    if (code === undefined || !/^\d+$/.test(code)) throw new Error(`${line}: ${answer}`);
    return { code: Number(code), output: Buffer.from(text, 'base64').toString().trimEnd() };
  }

  /** Output of a line of shell that must succeed. */
  async ok(line: string, seconds?: number): Promise<string> {
    const { code, output } = await this.run(line, seconds);
    if (code !== 0) throw new Error(`${line}: exit code ${code}\n${output}`);
    return output;
  }

  /** Waits inside until a command succeeds: a question from outside costs more than such a look. */
  async until(condition: string): Promise<void> {
    await this.ok(`until ${condition}; do sleep 1; done`, SEEN_SECONDS_MAX);
  }

  /** Resets it like the button does: nothing inside is asked. */
  async reset(): Promise<void> {
    this.#send('echo b > /proc/sysrq-trigger', COMMAND_SECONDS_MAX);
    await this.#booted();
  }

  #send(line: string, seconds: number): void {
    assert.ok(!line.includes('\n'), 'one line is one command');
    this.#line?.write(`${seconds} ${line}\n`);
  }

  get #preload(): string {
    return join(this.directory, 'whole-registers.so');
  }

  get consoleFile(): string {
    return join(this.directory, 'console');
  }

  console(): string {
    return readFileSync(this.consoleFile, 'utf8').slice(-4000);
  }

  async close(): Promise<void> {
    const kernel = this.#kernel;
    this.#line?.destroy();
    if (kernel !== null && kernel.exitCode === null) {
      const ended = new Promise((resolve) => kernel.once('exit', resolve));
      kernel.kill('SIGKILL');
      await ended;
    }
    rmSync(this.directory, { recursive: true, force: true });
  }
}

/** Nobody logs in at the console. */
const INIT =
  'init=/lib/systemd/systemd systemd.unit=multi-user.target systemd.wants=machine-shell.service ' +
  'systemd.mask=getty.target systemd.mask=systemd-logind.service';
