// Hosts as `qhost` lists them, with their queue instances; cluster queues as `qstat -g c` does.

import { ok, type Result } from '../../../../kernel/base/result.ts';
import { parseSize } from '../../../../kernel/base/size.ts';
import type { SiteNode, SiteNodeState, SiteQueue } from '../../../../kernel/model/site.ts';
import type { SiteOutput, SiteProblem } from '../adaptor.ts';
import { unreadable, wholeIn } from '../read.ts';
import { failure } from './failure.ts';
import { below, childText, type Element, parseXml } from './xml.ts';

export const NODES_COMMAND = { argv: ['qhost', '-q', '-xml'] };
export const QUEUES_COMMAND = { argv: ['qstat', '-g', 'c', '-xml'] };

export function readNodes(output: SiteOutput): Result<readonly SiteNode[], SiteProblem> {
  if (output.code !== 0) return failure('qhost', output);
  const document = parseXml(output.stdout.trim());
  if (document?.name !== 'qhost') return unreadable('qhost', 'its answer is no whole qhost');
  const hosts = [...below(document, 'host')].filter(
    ({ attributes }) => attributes.name !== 'global',
  );
  return ok(hosts.map(nodeOf));
}

interface Instance {
  readonly name: string;
  readonly slots: number;
  readonly used: number;
  /** Letters, as qhost(1) has them. */
  readonly state: string;
}

function nodeOf(host: Element): SiteNode {
  const values = valuesOf(host, 'hostvalue');
  const instances = [...below(host, 'queue')].map(instanceOf);
  const memory = sizeOf(values.get('mem_total'));
  const used = sizeOf(values.get('mem_used'));
  const cpuCount = Math.max(0, ...instances.map(({ slots }) => slots));
  const letters = instances.map(({ state }) => state).join('');
  const cpusUsed = instances.reduce((sum, one) => sum + one.used, 0);
  return {
    name: host.attributes.name ?? '',
    state: nodeStateOf(letters, { isHeard: memory !== null, cpusUsed, cpuCount }),
    word: letters === '' ? 'no letter' : letters,
    reason: null,
    cpuCount,
    cpusUsed,
    memoryBytes: memory,
    memoryFreeBytes: memory === null || used === null ? null : Math.max(0, memory - used),
    features: [values.get('arch_string') ?? ''].filter((word) => word !== '' && word !== '-'),
    queues: instances.map(({ name }) => name),
    parts: instances.map((one) => ({ name: one.name, isOpen: !one.state.includes('d') })),
  };
}

function valuesOf(element: Element, name: string): Map<string, string> {
  const values = element.children.filter((child) => child.name === name);
  return new Map(values.map((one) => [one.attributes.name ?? '', one.text.trim()]));
}

function instanceOf(queue: Element): Instance {
  const values = valuesOf(queue, 'queuevalue');
  return {
    name: queue.attributes.name ?? '',
    slots: wholeIn(values.get('slots')) ?? 0,
    used: wholeIn(values.get('slots_used')) ?? 0,
    state: values.get('state_string') ?? '',
  };
}

/** `23.5G`, where G are 2^30; `-` of a host that does not report. */
function sizeOf(text: string | undefined): number | null {
  const size = parseSize(text === '0.0' ? '0' : (text ?? ''));
  return size.ok ? size.value : null;
}

/** u unknown, E error, d and D disabled, s, S and C suspended, a and A over a load threshold. */
function nodeStateOf(
  letters: string,
  host: { readonly isHeard: boolean; readonly cpusUsed: number; readonly cpuCount: number },
): SiteNodeState {
  if (/[^uEdDsSCaAoPc]/.test(letters)) return 'unknown';
  if (!host.isHeard || letters.includes('u')) return 'down';
  if (/[EdDsSC]/.test(letters)) return 'stopped';
  if (host.cpusUsed >= host.cpuCount) return 'busy';
  return host.cpusUsed > 0 ? 'running' : 'idle';
}

export function readQueues(output: SiteOutput): Result<readonly SiteQueue[], SiteProblem> {
  if (output.code !== 0) return failure('qstat', output);
  const document = parseXml(output.stdout.trim());
  if (document?.name !== 'job_info') return unreadable('qstat', 'its answer is no whole job_info');
  const queues = [...below(document, 'cluster_queue_summary')].map((queue) => ({
    name: childText(queue, 'name') ?? '',
    isOpen: true,
    isStarted: (Number(childText(queue, 'available') ?? '0') || 0) > 0,
    walltimeMaxMs: null,
    nodes: [],
  }));
  return ok(queues);
}
