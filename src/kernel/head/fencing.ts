// Runs the site's fence command for silent nodes that tasks wait for, beside everything else: the
// head decides on, whatever the command does. What its yes means is for the controller to say.

import { type FenceRequest, outstandingFences } from '../machine/nodes/fences.ts';
import type { NodeName } from '../model/ids.ts';
import type { Clock } from '../ports/clock.ts';
import type { Commands } from '../ports/commands.ts';
import type { Log } from '../ports/log.ts';
import type { Engine } from './engine.ts';

/** The site's own means to make sure that a node is off: power switch, hypervisor, cloud. */
export interface FenceCommand {
  /** Program and arguments; `{node}` in any of them becomes the node's name. */
  readonly command: readonly string[];
  readonly timeoutMs: number;
}

export interface FencingOptions extends FenceCommand {
  readonly engine: Engine;
  readonly commands: Commands;
  readonly clock: Clock;
  readonly log: Log;
  readonly audit: Log;
  /** How long this head has heard nothing of the node. */
  readonly silentMs: (node: NodeName) => number;
}

/** A power switch that says no now will hardly say yes sooner. */
const RETRY_MS = 60_000;
/** A switch in the network that fails silences many nodes at once; they come back by themselves. */
const RUNNING_MAX = 4;
/** Characters of the command's output that the log gets. */
const TAIL_LENGTH = 500;

export class Fencing {
  readonly #options: FencingOptions;
  /** Nodes whose command runs, or has said no: not before this instant again. */
  readonly #notBefore = new Map<NodeName, number>();
  #running = 0;

  constructor(options: FencingOptions) {
    this.#options = options;
  }

  /** Starts what is due. */
  tick(): void {
    const { engine, clock, silentMs } = this.#options;
    // A copy of a head, with which no node is, takes all nodes of the other one for silent.
    if (engine.failure !== null || !engine.isMet) return;
    const wishes = outstandingFences(engine.state);
    this.#forgetOthers(wishes);
    for (const wish of wishes) {
      if (this.#running >= RUNNING_MAX) return;
      // A head that has just started must give a node the time to come back to it.
      if (silentMs(wish.node) < engine.settings.nodeTimeoutMs) continue;
      if ((this.#notBefore.get(wish.node) ?? 0) > clock.monotonic()) continue;
      this.#run(wish);
    }
  }

  #run(wish: FenceRequest): void {
    const { node } = wish;
    const { log } = this.#options;
    this.#notBefore.set(node, Number.POSITIVE_INFINITY);
    this.#running += 1;
    log.warn({ node }, 'the node is silent and tasks wait for it; the fence command is run');
    void this.#switchOff(node).then(({ off, words }) => {
      this.#running -= 1;
      this.#notBefore.set(node, this.#options.clock.monotonic() + RETRY_MS);
      this.#options.audit.info({ who: 'system', what: 'fence', node, off, words }, 'fence command');
      if (off) this.#confirm(wish, words);
      else log.error({ node, words }, 'the fence command did not confirm that the node is off');
    });
  }

  /** Exit code 0 is the only evidence that nothing runs on the node any more. */
  async #switchOff(node: NodeName): Promise<{ readonly off: boolean; readonly words: string }> {
    const { commands, command, timeoutMs } = this.#options;
    const { succeeded, how, output } = await commands.run({
      argv: command.map((word) => word.replaceAll('{node}', node)),
      timeoutMs,
      keep: { part: 'last', length: TAIL_LENGTH },
    });
    return { off: succeeded, words: [how, output.trim()].filter(Boolean).join(': ') };
  }

  #confirm(wish: FenceRequest, words: string): void {
    const { engine, log } = this.#options;
    engine.perform({ kind: 'fenced', ...wish }, (result) => {
      const { node } = wish;
      if (result.ok) log.info({ node, words }, 'the node is off; its tasks are lost');
      else
        log.warn(
          { node, code: result.error.code },
          'the node is off, but that could not be recorded',
        );
    });
  }

  #forgetOthers(wishes: readonly FenceRequest[]): void {
    const wanted = new Set(wishes.map(({ node }) => node));
    const now = this.#options.clock.monotonic();
    for (const [node, at] of this.#notBefore) {
      if (!wanted.has(node) && at <= now) this.#notBefore.delete(node);
    }
  }
}
