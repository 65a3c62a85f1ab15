// A machine of its own, with a kernel and an init of its own: what namespaces cannot show.
// Emulated, so some forty times slower at computing; its only cables are two serial lines.

import assert from 'node:assert/strict';
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { makeDisk } from './machine-disk.ts';

/** From power on to the first command; a quiet machine needs a tenth of it. */
const BOOT_MS_MAX = 600_000;
const COMMAND_SECONDS_MAX = 300;
const SEEN_SECONDS_MAX = 600;
/** Beyond the bound of a command: the machine itself hangs. */
const SILENCE_MS_MAX = 30_000;
/** The package that names the newest kernel for virtual machines as its only dependency. */
const KERNEL = 'linux-image-cloud-amd64';

/** What a command inside said. */
export interface Said {
  readonly code: number;
  readonly output: string;
}

export class VirtualMachine {
  readonly directory = mkdtempSync(join(tmpdir(), 'weft-machine-'));
  readonly #kernel: string;
  readonly #answers: string[] = [];
  #emulator: ChildProcess | null = null;
  #line: Socket | null = null;
  #heard: (() => void) | null = null;

  private constructor() {
    this.#kernel = fetchKernel(this.directory);
  }

  /** Makes a disk with Weft on it and boots from it, with these parameters for the kernel. */
  static async start(...parameters: string[]): Promise<VirtualMachine> {
    const machine = new VirtualMachine();
    const folder = join(machine.directory, 'root');
    mkdirSync(folder);
    await makeDisk(join(machine.directory, 'disk'), folder);
    rmSync(folder, { recursive: true });
    await machine.#powerOn(parameters);
    return machine;
  }

  async #powerOn(parameters: readonly string[]): Promise<void> {
    const cable = join(this.directory, 'line');
    // What hides a real processor's faults costs an emulated one a third of its time; so do the
    // wide registers of a newer one, and a second processor, whose locks are real ones.
    const rest = 'console=ttyS0 quiet panic=-1 mitigations=off root=/dev/nvme0n1 rw';
    const spared = 'init_on_alloc=0 apparmor=0 audit=0 random.trust_cpu=on';
    const kernel = [rest, spared, INIT, ...parameters];
    const options = {
      accel: 'tcg',
      // Without random numbers of its processor, a kernel waits for those of its interrupts.
      cpu: 'Westmere,+rdrand',
      smp: '1',
      m: '1536',
      kernel: this.#kernel,
      append: kernel.join(' '),
      display: 'none',
      nic: 'none',
      drive: `file=${join(this.directory, 'disk')},if=none,id=disk,format=raw,cache=unsafe`,
      device: 'nvme,drive=disk,serial=1',
    };
    const lines = [`file:${this.consoleFile}`, `unix:${cable},server=on,wait=off`];
    const args = Object.entries(options).flatMap(([name, value]) => [`-${name}`, value]);
    for (const line of lines) args.push('-serial', line);
    // With the test's process dead by a signal, nobody else would end it.
    const command = ['setpriv', '--pdeathsig', 'KILL', 'qemu-system-x86_64', ...args];
    // Starved by what runs beside it, it would pass bounds of time inside by waiting alone. Who may
    // not be served first is told and goes on.
    const first = ['-n', '-10', ...command];
    const emulator = spawn('nice', first, { stdio: ['ignore', 'ignore', 'pipe'] });
    this.#emulator = emulator;
    let said = '';
    emulator.stderr?.setEncoding('utf8').on('data', (text: string) => {
      said += text;
    });
    emulator.once('exit', (code) => this.#hear(`ended ${code} ${said}`));
    this.#line = await connectTo(cable, emulator);
    createInterface({ input: this.#line }).on('line', (line) => this.#hear(line));
    await this.#booted();
  }

  async #booted(): Promise<void> {
    const word = await this.#next(BOOT_MS_MAX);
    if (word !== 'ready') throw new Error(`it says '${word}' instead of 'ready'`);
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

  /** Waits inside until a command succeeds: each question from outside costs ten such looks. */
  async until(condition: string): Promise<void> {
    await this.ok(`until ${condition}; do sleep 3; done`, SEEN_SECONDS_MAX);
  }

  /** Resets it like the button does: nothing inside is asked. */
  async reset(): Promise<void> {
    this.#send('echo b > /proc/sysrq-trigger', COMMAND_SECONDS_MAX);
    await this.#booted();
  }

  /** Shut down and started again by its init. */
  async reboot(): Promise<void> {
    await this.ok('systemctl reboot');
    await this.#booted();
  }

  #send(line: string, seconds: number): void {
    assert.ok(!line.includes('\n'), 'one line is one command');
    this.#line?.write(`${seconds} ${line}\n`);
  }

  get consoleFile(): string {
    return join(this.directory, 'console');
  }

  console(): string {
    return readFileSync(this.consoleFile, 'utf8').slice(-4000);
  }

  async close(): Promise<void> {
    const emulator = this.#emulator;
    this.#line?.destroy();
    if (emulator !== null && emulator.exitCode === null) {
      const ended = new Promise((resolve) => emulator.once('exit', resolve));
      emulator.kill('SIGKILL');
      await ended;
    }
    rmSync(this.directory, { recursive: true, force: true });
  }
}

/** Nobody logs in at the console. */
const INIT =
  'init=/lib/systemd/systemd systemd.unit=multi-user.target systemd.wants=machine-shell.service ' +
  'systemd.mask=getty.target systemd.mask=systemd-logind.service';

/** A kernel is nothing to install on somebody's machine: it is only unpacked. */
function fetchKernel(directory: string): string {
  const run = (command: string, ...args: string[]): string =>
    execFileSync(command, args, { cwd: directory, encoding: 'utf8', stdio: 'pipe' });
  const name = /Depends: (linux-image-\S+)/.exec(run('apt-cache', 'depends', KERNEL))?.[1];
  run('apt-get', '-q', 'download', name ?? KERNEL);
  const file = readdirSync(directory).find((entry) => entry.endsWith('.deb')) ?? '';
  run('sh', '-c', `dpkg-deb --fsys-tarfile ${file} | tar -xf - --wildcards './boot/vmlinuz-*'`);
  const [kernel = ''] = readdirSync(join(directory, 'boot'));
  return join(directory, 'boot', kernel);
}

/** The emulator makes the socket a moment after its start. */
async function connectTo(path: string, emulator: ChildProcess): Promise<Socket> {
  for (;;) {
    const socket = connect(path);
    const isOpen = await new Promise<boolean>((resolve) => {
      socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    });
    if (isOpen) return socket;
    if (emulator.exitCode !== null) throw new Error(`the emulator ended: ${emulator.exitCode}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
