// Maintenance of nodes in a world of sites, as its operator asks for it and sees it.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import type { MaintenanceView } from '../../../src/kernel/api/maintenance.ts';
import { until } from './hosts.ts';
import type { SiteWorld } from './site-world.ts';

export class Maintained {
  readonly #world: SiteWorld;

  constructor(world: SiteWorld) {
    this.#world = world;
  }

  show(id: string): Promise<MaintenanceView> {
    return this.#world.ask<MaintenanceView>(`/v1/maintenance/${id}`);
  }

  /** Asks for one; its id. */
  off(...options: string[]): Promise<string> {
    return this.#world.weft('maint', 'node-off', ...options, '-d', '10m', '-o', 'name');
  }

  now(node: string, ...options: string[]): Promise<string> {
    return this.off(node, '--now', ...options);
  }

  /** Fails when it is over in another way. */
  phase(id: string, phase: string): Promise<MaintenanceView> {
    return until(`${id} is ${phase}`, async () => {
      const one = await this.show(id);
      assert.ok(one.endedAt === null || one.phase === phase, JSON.stringify(one));
      return one.phase === phase ? one : undefined;
    });
  }

  /** The number of its program's job, once that runs on the node, stopped at its site. */
  programOf(id: string): Promise<number> {
    return until('the program runs', async () => {
      const [work] = (await this.show(id)).nodes;
      const isAtWork = work?.state === 'running' && work.stop === 'stopped';
      return isAtWork ? (work.jobId ?? undefined) : undefined;
    });
  }

  /** A line of shell that waits until `open` is called with the same name. */
  gate(name: string): string {
    return `until [ -e ${this.#world.at(name)} ]; do sleep 0.1; done`;
  }

  open(name: string): void {
    writeFileSync(this.#world.at(name), '');
  }

  /** Called so that a test that has failed leaves the nodes to the next. */
  async cancelAll(): Promise<void> {
    const left = await this.#world.weft('maint', 'list', '-o', 'name');
    for (const id of left.split('\n').filter(Boolean)) {
      await this.#world.weft('maint', 'cancel', id);
      await until(`${id} is over`, async () => (await this.show(id)).endedAt ?? undefined);
    }
  }
}
