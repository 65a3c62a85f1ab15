// Copies of machines during a run: the agent's folder with the node's name and secret, on a machine
// with a boot and a board of its own. And the operator who puts right what comes of them.

import type { State } from '../src/kernel/machine/state.ts';
import type { Streams } from './chance.ts';
import { type Client, operator } from './client.ts';
import type { Time } from './clock.ts';
import type { HeadHost } from './head-host.ts';
import type { Machine } from './machine.ts';
import { Recurring } from './recurring.ts';
import type { Weather } from './weather.ts';

export interface CloneWorld {
  readonly time: Time;
  readonly streams: Streams;
  readonly client: Client;
  readonly host: HeadHost;
  readonly machines: readonly Machine[];
  readonly weather: Weather;
  /** A machine beside it with the same name, on a line of its own. */
  readonly copy: (of: Machine, number: number) => Machine;
}

const LOOK_MS = 2000;

export class CloneWork {
  readonly #world: CloneWorld;
  readonly #recurring: Recurring;
  readonly #alive = new Set<Machine>();
  #made = 0;

  constructor(world: CloneWorld) {
    this.#world = world;
    this.#recurring = new Recurring(world.time, world.streams);
  }

  start(): void {
    const { weather, machines, time } = this.#world;
    if (weather.cloneMs === null) return;
    this.#recurring.every('clone', weather.cloneMs, (dice) => {
      const copy = this.#clone(dice.pick(machines));
      if (copy !== null) time.after(dice.whole(2000, 40_000), () => this.#end(copy));
    });
    this.#settleEverySoOften();
  }

  /** No copy is left; what they have brought about is still put right. */
  heal(): void {
    this.#recurring.stop();
    for (const copy of [...this.#alive]) this.#end(copy);
  }

  #clone(of: Machine): Machine | null {
    if (!of.isOn || [...this.#alive].some(({ name }) => name === of.name)) return null;
    this.#made += 1;
    const copy = this.#world.copy(of, this.#made);
    this.#alive.add(copy);
    copy.powerOn();
    return copy;
  }

  #end(copy: Machine): void {
    if (!this.#alive.delete(copy)) return;
    copy.powerOff(false);
    copy.leave();
  }

  #settleEverySoOften(): void {
    const { time, host } = this.#world;
    time.after(LOOK_MS, () => {
      const { engine } = host;
      if (engine !== null && engine.failure === null) this.#settle(engine.state);
      this.#settleEverySoOften();
    });
  }

  /** Says only what is true: a node is lost where neither the copy nor that boot of it is left. */
  #settle(state: State): void {
    const { client, machines } = this.#world;
    for (const node of state.nodes.values()) {
      const machine = machines.find(({ name }) => name === node.name);
      if (node.clones.length === 0 || machine === undefined) continue;
      if ([...this.#alive].some(({ name }) => name === node.name)) continue;
      if (node.bootId === machine.bootId) {
        client.once({ kind: 'undrain_node', node: node.name }, operator('bob'));
      } else if (!node.connected) {
        client.once({ kind: 'declare_node_lost', node: node.name }, operator('bob'));
      }
    }
  }
}
