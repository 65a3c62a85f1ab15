// Serves the Model Context Protocol: one line in is a message, each request gets one line out.

import { checkArguments } from '../core/check.ts';
import {
  FAULTS,
  type Fault,
  formatFault,
  formatResult,
  type Id,
  isObject,
  parseMessage,
  type Request,
} from '../core/messages.ts';
import { type Given, LOGS_LAST, type Said, type Tool } from '../core/tools.ts';
import { LINE_BYTES_MAX } from './lines.ts';

/** Revisions that this server speaks, the newest first. */
const REVISIONS = ['2025-06-18', '2025-03-26', '2024-11-05'];
/** Requests that are answered at the same time; each is one command. */
const AT_ONCE = 8;
/** Commands of cancelled requests that have given up their place and run on. */
const UNSEEN_MAX = 32;
/** Requests that wait for their turn. */
const WAITING_MAX = 1000;
const JOB_URI = /^weft:\/\/jobs\/(\d{1,15}(?:\[\d{1,9}\])?)(\/logs)?$/;

const INSTRUCTIONS =
  'Weft runs commands on a cluster. Look first (cluster, preview), then submit or sweep; wait, and read logs ' +
  'or triage. cancel without confirm only says what it would end: ask the person before you confirm.';

export interface ServerPorts {
  readonly version: string;
  readonly tools: readonly Tool[];
  write(line: string): void;
  /** Runs command lines of `weft` one after the other, up to the first that fails. */
  run(lines: readonly (readonly string[])[]): Promise<Said>;
}

class Refused extends Error {
  readonly fault: Fault;

  constructor(code: number, message: string) {
    super(message);
    this.fault = { code, message };
  }
}

export class Server {
  readonly #ports: ServerPorts;
  readonly #asked = new Map<Id, Asked>();
  readonly #looks = new Turns();
  readonly #waits = new Turns();
  readonly #open = new Set<Promise<void>>();

  constructor(ports: ServerPorts) {
    this.#ports = ports;
  }

  /** One line of input, without its end; null: it was too long to be read. */
  take(line: string | null): void {
    if (line === null) {
      const message = `a message has at most ${LINE_BYTES_MAX} bytes; leave what is large in a file`;
      return this.#ports.write(formatFault(null, { code: FAULTS.request, message }));
    }
    if (line.trim() === '') return;
    const read = parseMessage(line);
    if (!read.ok) return this.#ports.write(formatFault(read.error.id, read.error.fault));
    if (read.value === null) return;
    const { id, method, params } = read.value;
    if (id === undefined) {
      const { requestId } = params;
      const isId = typeof requestId === 'string' || typeof requestId === 'number';
      if (method === 'notifications/cancelled' && isId) this.#asked.get(requestId)?.cancel();
      return;
    }
    const asked = new Asked();
    this.#asked.set(id, asked);
    const answering = this.#answer(id, read.value, asked).finally(() => {
      this.#open.delete(answering);
      if (this.#asked.get(id) === asked) this.#asked.delete(id);
    });
    this.#open.add(answering);
  }

  /** All that was asked is answered. */
  async drained(): Promise<void> {
    while (this.#open.size > 0) await Promise.all(this.#open);
  }

  async #answer(id: Id, request: Request, asked: Asked): Promise<void> {
    let line: string;
    try {
      line = formatResult(id, await this.#resultOf(request, asked));
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      line = formatFault(id, error.fault);
    }
    // Who has cancelled gets no answer (the protocol, "Cancellation").
    if (!asked.isCancelled) this.#ports.write(line);
  }

  #resultOf({ method, params }: Request, asked: Asked): Promise<object> | object {
    switch (method) {
      case 'initialize':
        return this.#initialize(params);
      case 'ping':
        return {};
      case 'tools/list':
        return { tools: this.#ports.tools.map(viewOf) };
      case 'tools/call':
        return this.#call(params, asked);
      case 'resources/list':
        return { resources: [CLUSTER] };
      case 'resources/templates/list':
        return { resourceTemplates: TEMPLATES };
      case 'resources/read':
        return this.#read(params, asked);
      default:
        throw new Refused(FAULTS.method, `there is no method ${method.slice(0, 100)}`);
    }
  }

  #initialize({ protocolVersion }: Request['params']): object {
    const asked = REVISIONS.find((one) => one === protocolVersion);
    return {
      protocolVersion: asked ?? REVISIONS[0],
      capabilities: { tools: {}, resources: {} },
      serverInfo: { name: 'weft', version: this.#ports.version },
      instructions: INSTRUCTIONS,
    };
  }

  async #call({ name, arguments: given = {} }: Request['params'], asked: Asked): Promise<object> {
    const tool = this.#ports.tools.find((one) => one.name === name);
    if (tool === undefined) {
      const names = this.#ports.tools.map((one) => one.name).join(', ');
      throw new Refused(
        FAULTS.params,
        `there is no tool ${String(name).slice(0, 100)}; there are ${names}`,
      );
    }
    if (!isObject(given)) throw new Refused(FAULTS.params, 'expected arguments that are an object');
    const checked = checkArguments(tool.input, given);
    if (!checked.ok) throw new Refused(FAULTS.params, `${tool.name}: ${checked.error}`);
    const said = await this.#run(tool, checked.value, asked);
    const isError = said.code !== 0 && tool.isAnswer?.(said, checked.value) !== true;
    return { content: [{ type: 'text', text: said.text }], isError };
  }

  async #read({ uri }: Request['params'], asked: Asked): Promise<object> {
    const lines = linesOf(String(uri));
    if (lines === null) {
      throw new Refused(
        FAULTS.params,
        'expected weft://cluster, weft://jobs/42 or weft://jobs/42/logs',
      );
    }
    const { code, text } = await this.#looks.take(asked, () => this.#ports.run(lines));
    if (code !== 0) throw new Refused(FAULTS.params, text.trim());
    return { contents: [{ uri, mimeType: 'text/plain', text }] };
  }

  #run(tool: Tool, given: Given, asked: Asked) {
    // Who waits for a job keeps nobody from looking or cancelling.
    const line = tool.isAnswer !== undefined ? this.#waits : this.#looks;
    return line.take(asked, async () => {
      const said = await this.#ports.run(tool.argv(given));
      const { afterwards } = tool;
      if (afterwards === undefined || said.code !== afterwards.code) return said;
      const more = await this.#ports.run([afterwards.argv(given)]);
      return { code: said.code, text: `${said.text}${more.text}` };
    });
  }
}

/** A request that is not answered yet. */
class Asked {
  isCancelled = false;
  /** What gives up its place. */
  onCancel: () => void = () => undefined;

  cancel(): void {
    if (this.isCancelled) return;
    this.isCancelled = true;
    this.onCancel();
  }
}

/**
 * Turns for requests: a bounded number runs at a time, the others wait in the order in which they
 * came. One that is cancelled makes room for the next, though its command runs to its end.
 */
class Turns {
  readonly #waiting: (() => void)[] = [];
  #running = 0;
  #unseen = 0;

  async take<T>(asked: Asked, work: () => Promise<T>): Promise<T> {
    await this.#turn();
    const leave = once(() => {
      const next = this.#waiting.shift();
      if (next === undefined) this.#running -= 1;
      else next();
    });
    let isUnseen = false;
    asked.onCancel = () => {
      if (this.#unseen >= UNSEEN_MAX) return;
      isUnseen = true;
      this.#unseen += 1;
      leave();
    };
    try {
      if (asked.isCancelled) throw new Refused(FAULTS.internal, 'it was cancelled');
      return await work();
    } finally {
      asked.onCancel = () => undefined;
      if (isUnseen) this.#unseen -= 1;
      leave();
    }
  }

  async #turn(): Promise<void> {
    if (this.#waiting.length >= WAITING_MAX)
      throw new Refused(FAULTS.internal, `${WAITING_MAX} requests wait already`);
    // Who leaves hands its place on.
    if (this.#running >= AT_ONCE) await new Promise<void>((go) => this.#waiting.push(go));
    else this.#running += 1;
  }
}

function once(act: () => void): () => void {
  let isDone = false;
  return () => {
    if (!isDone) act();
    isDone = true;
  };
}

const CLUSTER = {
  uri: 'weft://cluster',
  name: 'cluster',
  title: 'The cluster now',
  mimeType: 'text/plain',
};
const TEMPLATES = [
  { uriTemplate: 'weft://jobs/{job}', name: 'job', title: 'A job', mimeType: 'text/plain' },
  {
    uriTemplate: 'weft://jobs/{job}/logs',
    name: 'logs',
    title: 'Output of a job',
    mimeType: 'text/plain',
  },
];

function linesOf(uri: string): readonly (readonly string[])[] | null {
  if (uri === CLUSTER.uri) return [['info']];
  const [, job, logs] = JOB_URI.exec(uri) ?? [];
  if (job === undefined) return null;
  return [logs === undefined ? ['job', '--', job] : ['logs', LOGS_LAST, '--', job]];
}

function viewOf({ name, title, description, input, readOnly, destructive = false }: Tool): object {
  const annotations = {
    title,
    readOnlyHint: readOnly,
    destructiveHint: destructive,
    openWorldHint: false,
  };
  return { name, title, description, inputSchema: input, annotations };
}
