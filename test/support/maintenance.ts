// Maintenance in short words, for the controller's tests.

import assert from 'node:assert/strict';
import type { Command } from '../../src/kernel/machine/declared.ts';
import type { NodeName } from '../../src/kernel/model/ids.ts';
import type { Maintenance } from '../../src/kernel/model/maintenance.ts';
import { ADMIN, START_AT, type TestHead } from './controller.ts';

export type Plan = Extract<Command, { kind: 'plan_maintenance' }>;

export const MINUTE = 60_000;
const SCRIPT = { kind: 'shell', line: 'upgrade' } as const;
export const PROGRAM = { program: SCRIPT, account: null, restarts: false };

/** In ten minutes, for an hour, on n1. */
export function plan(wish: Partial<Plan> = {}): Plan {
  return {
    kind: 'plan_maintenance',
    nodes: ['n1' as NodeName],
    time: { kind: 'fixed', from: START_AT + 10 * MINUTE },
    durationMs: 60 * MINUTE,
    running: 'wait',
    warning: null,
    program: null,
    reason: 'new disks',
    ...wish,
  };
}

export function planned(head: TestHead, wish: Partial<Plan> = {}): string {
  const reply = head.command(plan(wish), ADMIN);
  assert.equal(reply.kind, 'maintenance_planned');
  return reply.kind === 'maintenance_planned' ? reply.id : '';
}

export function shown(head: TestHead, id: string): Maintenance {
  const one = head.state.maintenances.get(id);
  assert.ok(one !== undefined, id);
  return one;
}

export const phase = (head: TestHead, id: string): string => shown(head, id).phase;
export const cancel = (id: string): Command => ({ kind: 'cancel_maintenance', id });
