// Steps of the plan of repairs, taken by commands of the system: maintenance is asked for, nodes go
// back to service, or are given up.

import { formatRefusal } from '../../../kernel/model/errors.ts';
import type { NodeName } from '../../../kernel/model/ids.ts';
import { type Difference, describeDifference } from '../core/goal.ts';
import type { GoalNode, GoalStep } from '../core/plan.ts';
import { repairScript } from '../core/script.ts';
import { illGpus } from './facts.ts';
import type { Memory } from './memory.ts';
import { GIVEN_UP, pastRepairs } from './nodes.ts';
import type { GoalOptions, GoalPorts } from './world.ts';

/** Between two requests for maintenance that were refused. */
const REFUSED_MS = 60_000;
/** Reasons of maintenance and drains are read in tables. */
const REASON_LENGTH_MAX = 900;

export class Repairs {
  readonly #ports: GoalPorts;
  readonly #options: () => GoalOptions;

  constructor(ports: GoalPorts, options: () => GoalOptions) {
    this.#ports = ports;
    this.#options = options;
  }

  /** @param memory of the step's node */
  take(step: GoalStep, memory: Memory): void {
    if (step.kind === 'wait') memory.next = step.because;
    else if (step.kind === 'repair') this.#repair(step.node, step.attempt, memory);
    else if (step.kind === 'restore') this.#restore(step.node, memory);
    else this.#giveUp(step.node, memory);
  }

  #repair(node: GoalNode, attempt: number, memory: Memory): void {
    const now = this.#ports.clock.now();
    const { refused, isAsked, look } = memory;
    if (look !== null) return;
    const because =
      refused !== null && refused.until > now ? refused.why : this.#cancelled(node, now);
    if (because !== null && !isAsked) memory.next = because;
    else if (!this.#options().repairs && !isAsked) {
      memory.next = 'repairs are off (goals.repair); `weft goal apply` asks for one';
    } else this.#request(node, attempt, memory);
  }

  /** A person did not want it: it is not asked for again until the next look that is due. */
  #cancelled({ name }: GoalNode, now: number): string | null {
    const { state } = this.#ports.engine;
    const node = state.nodes.get(name as NodeName);
    const last = node === undefined ? undefined : pastRepairs(state, node).at(-1);
    if (last?.phase !== 'cancelled' || (last.endedAt ?? 0) + this.#options().everyMs < now)
      return null;
    return `its repair ${last.id} was ${last.detail ?? 'cancelled'}; \`weft goal apply ${name}\` asks anew`;
  }

  #request({ name, class: of, differences }: GoalNode, attempt: number, memory: Memory): void {
    const now = this.#ports.clock.now();
    const different = differences ?? [];
    const unmet = different.map(({ goal }) => goal);
    const program = { kind: 'script', text: this.#scriptOf(name, of, unmet), args: [] } as const;
    const command = {
      kind: 'plan_maintenance',
      nodes: [name as NodeName],
      time: { kind: 'flexible', notBefore: now, until: now + of.withinMs + of.durationMs },
      durationMs: of.durationMs,
      running: of.running,
      warning: null,
      program: { program, account: null, restarts: of.restarts },
      goal: { class: of.name, attempt },
      reason: differencesTextOf(different),
    } as const;
    memory.isAsked = false;
    this.#ports.engine.perform({ kind: 'command', command, actor: { kind: 'system' } }, (reply) => {
      if (reply.ok) {
        const id = reply.value.kind === 'maintenance_planned' ? reply.value.id : '';
        this.#ports.log.info({ node: name, id, attempt, reason: command.reason }, 'repair planned');
      } else memory.refused = { until: now + REFUSED_MS, why: formatRefusal(reply.error) };
    });
  }

  #scriptOf(name: string, of: GoalNode['class'], unmet: readonly string[]): string {
    const node = this.#ports.engine.state.nodes.get(name as NodeName);
    return repairScript(of, { unmet, illGpus: node === undefined ? [] : illGpus(node) });
  }

  #restore({ name }: GoalNode, memory: Memory): void {
    memory.gaveUp = false;
    const command = { kind: 'undrain_node', node: name as NodeName } as const;
    this.#command(command, 'the node meets its goals and is back in service');
  }

  #giveUp({ name, class: of, differences }: GoalNode, memory: Memory): void {
    memory.gaveUp = true;
    const reason = `${GIVEN_UP}${of.name}: ${differencesTextOf(differences ?? [])}; not mended by repairs`;
    this.#command({ kind: 'drain_node', node: name as NodeName, reason }, 'the node is given up');
  }

  #command(
    command:
      | { readonly kind: 'undrain_node'; readonly node: NodeName }
      | { readonly kind: 'drain_node'; readonly node: NodeName; readonly reason: string },
    words: string,
  ): void {
    const { engine, log } = this.#ports;
    engine.perform({ kind: 'command', command, actor: { kind: 'system' } }, (reply) => {
      const { node } = command;
      if (reply.ok) log.info({ node }, words);
      else log.warn({ node, why: formatRefusal(reply.error) }, `not so: ${words}`);
    });
  }
}

function differencesTextOf(differences: readonly Difference[]): string {
  return differences.map(describeDifference).join('; ').slice(0, REASON_LENGTH_MAX);
}
