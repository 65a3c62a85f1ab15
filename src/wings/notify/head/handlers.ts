// Who was notified, and how the notifiers do.

import { ok } from '../../../kernel/base/result.ts';
import type { Handler } from '../../../kernel/head/http/call.ts';
import { hasRole } from '../../../kernel/model/actor.ts';
import { viewNotifications } from './notification-view.ts';

export const listNotifications: Handler<'listNotifications'> = (services, { actor }) => {
  const { engine, notifierHealth } = services;
  const { state } = engine;
  const waiting = (kind: string): number => {
    const lines = [...state.indexes.lines].filter(([target]) => target.startsWith(`${kind}:`));
    return lines.reduce((sum, [, line]) => sum + line.size, 0);
  };
  const notifiers = [...notifierHealth()].map(([kind, health]) => {
    return { kind, waiting: waiting(kind), ...health };
  });
  const owner = hasRole(actor, 'operator') ? null : actor.name;
  return ok({ notifiers, notifications: viewNotifications(state, engine.now(), owner) });
};
