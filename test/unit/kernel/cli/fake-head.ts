// A head's HTTP side with prepared answers, on a unix socket in a directory of its own, and a way
// to run the command line against it inside this process.

import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Input } from '../../../../src/kernel/cli/jobs/input.ts';
import { type Invocation, runSingle, runWeft } from '../../../../src/kernel/cli/main.ts';
import type { Screen } from '../../../../src/kernel/cli/screen.ts';
import type { Verb } from '../../../../src/kernel/cli/verb.ts';
import type { Environment } from '../../../../src/kernel/config/config.ts';
import type { Programs } from '../../../../src/kernel/config/daemon-options.ts';
import { killByMark } from '../../../../src/kernel/os/marks.ts';
import '../../../../src/wings.ts';
import { WINGS } from '../../../../src/wings.ts';

export interface Asked {
  readonly method: string;
  /** Decoded, without the query. */
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly headers: IncomingMessage['headers'];
  readonly body: unknown;
}

export type Answer = {
  readonly status?: number;
  readonly json?: unknown;
  readonly text?: string;
  readonly bytes?: Uint8Array;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent when this has settled. */
  readonly after?: Promise<void>;
};
export type Answers = Readonly<Record<string, (asked: Asked) => Answer>>;

/** What tests take for their machine. */
const MACHINE = { cpuCount: 8, memoryBytes: 7 * 1024 ** 3, gpuCount: 1, counted: {} };

export interface Said {
  readonly code: number;
  readonly out: string;
  readonly error: string;
}

/** A head that answers `METHOD /path` as told, and remembers what it was asked. */
export class FakeHead implements AsyncDisposable {
  readonly asked: Asked[] = [];
  readonly directory = mkdtempSync(path.join(tmpdir(), 'weft-cli-test-'));
  readonly #server: Server;
  readonly #sessions = new Set<string>();

  private constructor(answers: Answers) {
    this.#server = createServer((request, response) => {
      void readJson(request).then((body) => {
        const asked = describe(request, body);
        this.asked.push(asked);
        const { status = 200, json, text, bytes, headers, after } = this.#answer(asked, answers);
        void Promise.resolve(after).then(() => {
          response.writeHead(status, { 'content-type': 'application/json', ...headers });
          response.end(bytes ?? text ?? JSON.stringify(json ?? {}));
        });
      });
    });
  }

  static async start(answers: Answers): Promise<FakeHead> {
    const head = new FakeHead(answers);
    await new Promise<void>((resolve) => head.#server.listen(head.socket, resolve));
    return head;
  }

  get socket(): string {
    return path.join(this.directory, 'weft.sock');
  }

  /** Requests but those of the login. */
  get work(): Asked[] {
    return this.asked.filter((asked) => !asked.path.startsWith('/v1/auth/'));
  }

  /** Becomes a restarted head: it knows no sessions. */
  forgetSessions(): void {
    this.#sessions.clear();
  }

  /** The same, typed in a folder. */
  weftIn(cwd: string, ...argv: string[]): Promise<Said> {
    return capture(this.directory, { program: 'weft', argv, cwd }, runWeft);
  }

  weft(...argv: string[]): Promise<Said> {
    return capture(this.directory, { program: 'weft', argv }, runWeft);
  }

  /** The same for somebody who reads its standard error on a terminal. */
  weftOnTerminal(...argv: string[]): Promise<Said> {
    return capture(this.directory, { program: 'weft', argv, errorIsTerminal: true }, runWeft);
  }

  /** The same for somebody who hears also what it complains of once it has ended. */
  weftHeard(onError: (part: string) => void, ...argv: string[]): Promise<Said> {
    return capture(this.directory, { program: 'weft', argv, onError }, runWeft);
  }

  /** The same with something on its standard input. */
  weftWith(input: Input, ...argv: string[]): Promise<Said> {
    return capture(this.directory, { program: 'weft', argv, input }, runWeft);
  }

  /** The same for somebody at a terminal that views may fill. */
  weftOnScreen(screen: Screen, ...argv: string[]): Promise<Said> {
    return capture(this.directory, { program: 'weft', argv, screen }, runWeft);
  }

  /** Runs it while the head is away, socket and all; it is back at the first complaint. */
  async weftMeanwhile(...argv: string[]): Promise<Said> {
    await this.#leave();
    const onError = () => {
      if (!this.#server.listening) this.#server.listen(this.socket);
    };
    return capture(this.directory, { program: 'weft', argv, onError }, runWeft);
  }

  seed(program: string, verb: Verb, ...argv: string[]): Promise<Said> {
    return this.seedWith({}, program, verb, ...argv);
  }

  seedWith(
    environment: Environment,
    program: string,
    verb: Verb,
    ...argv: string[]
  ): Promise<Said> {
    const of = { program, argv, environment };
    return capture(this.directory, of, (it) => runSingle(it, '', verb));
  }

  async #leave(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#leave();
    rmSync(this.directory, { recursive: true, force: true });
  }

  #answer(asked: Asked, answers: Answers): Answer {
    const prepared = answers[`${asked.method} ${asked.path}`];
    if (asked.path === '/v1/auth/local/begin') {
      const challenge = String(this.asked.length);
      return { json: { challenge, path: path.join(this.directory, `challenge-${challenge}`) } };
    }
    if (asked.path === '/v1/auth/local/finish') {
      const token = `session-${this.asked.length}`;
      this.#sessions.add(`Bearer ${token}`);
      return { json: { token, user: 'alice', expiresAt: 0 } };
    }
    if (!this.#sessions.has(asked.headers.authorization ?? '')) {
      return { status: 401, json: refusal('auth.required', 'unauthenticated', 'Who are you?') };
    }
    if (prepared !== undefined) return prepared(asked);
    const text = `not prepared for ${asked.method} ${asked.path}`;
    return { status: 500, json: refusal('internal.error', 'internal', text) };
  }
}

/** The body of a refusal. */
export function refusal(code: string, kind: string, message: string, hint: string | null = null) {
  return { error: { code, kind, message, details: {}, hint } };
}

/** Runs the command line with nothing of this process's environment. */
export async function capture(
  directory: string,
  of: {
    readonly program: string;
    readonly argv: readonly string[];
    readonly environment?: Environment;
    readonly cwd?: string;
    readonly input?: Input;
    readonly screen?: Screen;
    readonly errorIsTerminal?: boolean;
    readonly onError?: (part: string) => void;
    readonly programs?: Partial<Programs>;
  },
  run: (invocation: Invocation) => Promise<number>,
): Promise<Said> {
  const said = { out: '', error: '' };
  const text = (part: string | Uint8Array) =>
    typeof part === 'string' ? part : Buffer.from(part).toString();
  const code = await run({
    program: of.program,
    argv: of.argv,
    terminal: {
      out: (part) => {
        said.out += text(part);
      },
      error: (part) => {
        said.error += text(part);
        of.onError?.(text(part));
      },
      outIsTerminal: false,
      errorIsTerminal: of.errorIsTerminal ?? false,
      ...(of.input === undefined ? {} : { input: of.input }),
      ...(of.screen === undefined ? {} : { screen: of.screen }),
    },
    environment: { WEFT_DIR: directory, XDG_RUNTIME_DIR: directory, ...of.environment },
    cwd: of.cwd ?? '/work',
    programs: {
      headScript: '/nowhere/head.ts',
      agentScript: '/nowhere/agent.ts',
      runHead: () => Promise.reject(new Error('no head in this test')),
      runAgent: () => Promise.reject(new Error('no agent in this test')),
      machineIdentity: () => Promise.resolve({ bootId: 'boot of this machine' }),
      detectMachine: () => Promise.resolve(MACHINE),
      endMarked: (variable) => Promise.resolve(killByMark(variable)),
      findContainerRuntimes: () => Promise.resolve([]),
      readStore: () => Promise.resolve({ problem: 'there is no store' }),
      readJournals: () => Promise.resolve([]),
      ...of.programs,
    },
    wings: WINGS,
  });
  return { code, ...said };
}

async function readJson(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const text = Buffer.concat(chunks).toString();
  if (text === '') return undefined;
  // Contents of files are sent as they are.
  return /^[[{"]/.test(text) ? JSON.parse(text) : text;
}

function describe(request: IncomingMessage, body: unknown): Asked {
  const url = new URL(request.url ?? '/', 'http://localhost');
  return {
    method: request.method ?? '',
    path: decodeURIComponent(url.pathname),
    query: Object.fromEntries(url.searchParams),
    headers: request.headers,
    body,
  };
}
