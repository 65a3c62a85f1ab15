// Connections that become the streams of steps: of whoever owns the job, and of the node.

import type { Duplex } from 'node:stream';
import { authorizeObject } from '../../../kernel/head/auth/authorize.ts';
import { refuseAndClose } from '../../../kernel/head/http/last-words.ts';
import type { Services } from '../../../kernel/head/http/services.ts';
import type { Upgrade, Upgrader } from '../../../kernel/head/http/upgrades.ts';
import { type Refusal, refuse } from '../../../kernel/model/errors.ts';
import { parseTaskId } from '../../../kernel/model/ids.ts';
import { EPOCH_HEADER, formatStepId, parseLine } from '../core/ids.ts';
import { keyOf, type Step, type StepProcess } from '../core/step.ts';
import { type WatchWish, WING } from '../core/told.ts';
import type { Steps } from './steps.ts';

/** What an upgrade names. */
export const PROTOCOL = 'weft-step';

export const openStep: Upgrader = ({ engine, steps, agents }, upgrade) => {
  const { principal, params, socket } = upgrade;
  if (principal.kind !== 'user') return;
  const found = find(steps, upgrade);
  const place = parseTaskId(found?.step.task ?? '');
  const job = place.ok ? engine.state.jobs.get(place.value.jobId) : undefined;
  if (found === null || job === undefined) return refuseAndClose(socket, unknown(params));
  const { id, owner } = job;
  const refusal = authorizeObject(principal.actor, { kind: 'calls', id, owner });
  if (refusal !== null) return refuseAndClose(socket, refusal);
  const { end } = found.process;
  if (end !== null && 'why' in end) {
    const details = { step: formatStepId(found.step), why: end.why };
    return refuseAndClose(socket, refuse('step.lost', details));
  }
  if (end !== null && found.process.isPast) {
    const details = { step: formatStepId(found.step), exit: exitWords(end.exit) };
    return refuseAndClose(socket, refuse('step.over', details));
  }
  if (found.watch !== null) return look(found, found.watch, { steps, engine, agents, upgrade });
  take(steps, { upgrade, key: found.key, side: 'client' });
  if (end !== null) steps.expect(found.key, found.process);
};

export const serveStep: Upgrader = ({ steps }, upgrade) => {
  const { principal, params, socket } = upgrade;
  if (principal.kind !== 'node') return;
  const found = find(steps, upgrade);
  if (found?.process.node !== principal.name) return refuseAndClose(socket, unknown(params));
  take(steps, { upgrade, key: found.key, side: 'node' });
};

/** The node of a process is asked for a line of its own for who only looks. */
function look(
  { step, process, key, rank }: Found,
  watch: string,
  { steps, engine, agents, upgrade }: Pick<Services, 'steps' | 'engine' | 'agents'> & Asking,
): void {
  const why = unwatchable({ step, process }, engine.state.nodes.get(process.node)?.features);
  if (why !== null)
    return refuseAndClose(upgrade.socket, refuse('argument.invalid', { what: why }));
  const wish: WatchWish = { do: 'watch', step: formatStepId(step), rank, watch };
  take(steps, { upgrade, key, side: 'client' });
  if (agents.tellWing(process.node, WING, wish)) steps.expectWatch(key);
  else upgrade.socket.destroy();
}

interface Asking {
  readonly upgrade: Upgrade;
}

/** Words why; null: it can be looked at. */
function unwatchable(
  { step, process }: Pick<Found, 'step' | 'process'>,
  features: readonly string[] | null | undefined,
): string | null {
  const id = formatStepId(step);
  if (step.isNoted === true)
    return `what step ${id} writes goes to the srun in its script, and with that to the output of the job`;
  if (features?.includes('attach') === true) return null;
  return `node ${process.node} runs an agent too old for looking at steps of others; upgrade it`;
}

function exitWords(exit: { readonly code: number } | { readonly signal: number }): string {
  return 'code' in exit ? `exit code ${exit.code}` : `signal ${exit.signal}`;
}

interface Found {
  readonly step: Step;
  readonly process: StepProcess;
  readonly key: string;
  readonly rank: number;
  /** Name of who only looks; null: it is the line of whoever has started it. */
  readonly watch: string | null;
}

/**
 * A head whose records were put back may give a number again. Whoever has a line to the step of
 * then says in which start of the task it was, and gets no stream of another one.
 */
function find(steps: Steps, { incoming, params }: Upgrade): Found | null {
  const { step: id = '', rank = '' } = params;
  const step = steps.book.find(id);
  const meant = incoming.headers[EPOCH_HEADER];
  if (meant !== undefined && meant !== step?.epochId) return null;
  const line = parseLine(rank);
  const process = line === null ? undefined : step?.processes.get(line.rank);
  if (line === null || step === undefined || process === undefined) return null;
  const { watch } = line;
  const key = keyOf(step, line.rank);
  return { step, process, key: watch === null ? key : `${key}~${watch}`, ...line };
}

function unknown({ step = '' }: Upgrade['params']): Refusal {
  return refuse('step.not_found', { step });
}

interface Taken {
  readonly upgrade: Upgrade;
  readonly key: string;
  readonly side: 'client' | 'node';
}

function take({ lines }: Steps, { upgrade, key, side }: Taken): void {
  const { incoming, socket, head } = upgrade;
  if (incoming.headers.upgrade !== PROTOCOL) {
    const what = `an upgrade to '${incoming.headers.upgrade}'; it is '${PROTOCOL}'`;
    return refuseAndClose(socket, refuse('request.malformed', { what }));
  }
  const answer = [
    'HTTP/1.1 101 Switching Protocols',
    `Upgrade: ${PROTOCOL}`,
    'Connection: Upgrade',
  ];
  socket.write(`${answer.join('\r\n')}\r\n\r\n`);
  if (head.length > 0) socket.unshift(head);
  // The server's time-outs are for requests.
  if (isSocket(socket)) socket.setTimeout(0).setNoDelay(true);
  lines.open(key, side, socket);
}

function isSocket(socket: Duplex): socket is Duplex & {
  setTimeout(ms: number): { setNoDelay(isOff: boolean): void };
} {
  return 'setNoDelay' in socket;
}
