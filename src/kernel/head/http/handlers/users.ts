// Users and the roles they have.

import type { UserView } from '../../../api/users.ts';
import { ok } from '../../../base/result.ts';
import { standings } from '../../../machine/answers/questions.ts';
import type { UserName } from '../../../model/ids.ts';
import { accountNotice } from '../../auth/accounts.ts';
import type { Handler } from '../call.ts';
import type { Services } from '../services.ts';
import { changed } from './job-actions.ts';

export const listUsers: Handler<'listUsers'> = ({ engine: { state }, blobs }) => {
  const activeJobs = new Map<UserName, number>();
  for (const { owner, outcome } of state.jobs.values()) {
    if (outcome === null) activeJobs.set(owner, (activeJobs.get(owner) ?? 0) + 1);
  }
  const tokens = [...state.tokens.values()].filter(({ purpose }) => purpose === 'user');
  const names = new Set([...state.users.keys(), ...(blobs.holders() as UserName[])]);
  const users = [...names].map((name): UserView => {
    const { role = 'user', groups = [], caps } = state.users.get(name) ?? {};
    const tokenCount = tokens.filter(({ user }) => user === name).length;
    const quota = blobs.quotaOf(name);
    return {
      name,
      role,
      groups: [...groups],
      tokenCount,
      activeJobs: activeJobs.get(name) ?? 0,
      hasRole: state.users.has(name),
      filesBytes: blobs.bytesOf(name),
      filesBytesMax: Number.isFinite(quota) ? quota : null,
      caps,
    };
  });
  return ok({ users });
};

export const listUsage: Handler<'listUsage'> = ({ engine }) => {
  const rows = [...standings(engine)].map(([user, { usage, share, factor }]) => {
    return { user, usageSeconds: Math.round(usage / 1000), share, factor };
  });
  const users = rows.sort((a, b) => b.usageSeconds - a.usageSeconds || (a.user < b.user ? -1 : 1));
  return ok({ halfLifeMs: engine.settings.scheduling.fairShare.halfLifeMs, users });
};

export const createUser: Handler<'createUser'> = (services, call) => set(services, call, 'create');

export const modifyUser: Handler<'modifyUser'> = (services, call) => set(services, call, 'modify');

export const removeUser: Handler<'removeUser'> = async (services, { params, actor }) => {
  const { engine, pageSessions } = services;
  const user = params.name as UserName;
  const reply = changed(await engine.execute({ kind: 'remove_user', user }, actor));
  if (reply.ok) await pageSessions.endAllOf(user);
  return reply;
};

async function set(
  { engine, facts }: Services,
  { params, body, actor }: Parameters<typeof createUser>[1] | Parameters<typeof modifyUser>[1],
  mode: 'create' | 'modify',
) {
  const user = params.name as UserName;
  const reply = changed(await engine.execute({ kind: 'set_user', user, ...body, mode }, actor));
  if (!reply.ok) return reply;
  const place = { multiUser: facts.multiUser, nodes: engine.state.nodes.values() };
  return ok({ ...reply.value, notice: await accountNotice(user, place) });
}
