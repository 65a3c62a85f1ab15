// Maintenance of a site's nodes: its site stops them for just that time, and what it says of it
// decides when the program begins and when the node is back.

import assert from 'node:assert/strict';
import type { JobId, NodeName } from '../../../../../src/kernel/model/ids.ts';
import type { SiteStop } from '../../../../../src/kernel/model/site.ts';
import { stopsWanted } from '../../../../../src/wings/sites/machine/stops.ts';
import { OPERATOR, scenario, type TestHead, user } from '../../../../support/controller.ts';
import { hearSite } from '../../../../support/hear-site.ts';
import {
  cancel,
  MINUTE,
  PROGRAM,
  phase,
  plan,
  planned,
  shown,
} from '../../../../support/maintenance.ts';

const HPC = 'hpc' as NodeName;
const N1 = 'n1.hpc' as NodeName;
const N2 = 'n2.hpc' as NodeName;

function steered(head: TestHead): void {
  head.connect('hpc', { cpus: 0 });
  const { session } = head.node('hpc');
  const nodes = ['n1', 'n2'].map((name) => ({
    ...({ name, state: 'idle', word: 'IDLE', reason: null, cpuCount: 2, cpusUsed: 0 } as const),
    memoryBytes: null,
    memoryFreeBytes: null,
    features: [],
    queues: [],
  }));
  hearSite(head, { node: HPC, session, mode: 'steer', nodes, jobs: [] });
  for (const name of [N1, N2]) head.connect(name, { cpus: 2, labels: ['site=hpc'] });
}

function hear(head: TestHead, ...stops: SiteStop[]): void {
  const { session } = head.node('hpc');
  head.perform({ kind: 'site_stops', heard: { node: HPC, session, stops, isUpToDate: true } });
}

/** A head that has not heard yet what it is to stop now. */
function hearEarly(head: TestHead, ...stops: SiteStop[]): void {
  const { session } = head.node('hpc');
  head.perform({ kind: 'site_stops', heard: { node: HPC, session, stops, isUpToDate: false } });
}

function stop(maintenance: string, state: SiteStop['state'], why: string | null = null): SiteStop {
  return { node: 'n1', maintenance, state, why };
}

const wanted = (head: TestHead): string[] =>
  stopsWanted(head.state, HPC).map(({ node, maintenance }) => `${node} ${maintenance}`);

scenario(
  '[M9] a node of a site is stopped from the start of its maintenance to its end',
  (head) => {
    steered(head);
    const id = planned(head, { nodes: [N1] });
    assert.deepEqual(wanted(head), []);
    head.tick(10 * MINUTE);
    assert.deepEqual(wanted(head), [`n1 ${id}`]);
    assert.equal(phase(head, id), 'draining', 'its site has not stopped it yet');
    hear(head, stop(id, 'stopped'));
    head.tick();
    assert.equal(phase(head, id), 'active');
    head.tick(60 * MINUTE);
    assert.deepEqual(wanted(head), []);
    assert.equal(phase(head, id), 'restoring');
    head.submit({ labels: ['site=hpc'], cpuCount: 2 });
    head.submit({ labels: ['site=hpc'], cpuCount: 2 });
    assert.deepEqual(
      head.schedule(),
      ['1#1@n2.hpc'],
      'nothing starts before the node is given back',
    );
    hear(head, stop(id, 'returning'));
    head.tick();
    assert.equal(phase(head, id), 'restoring');
    hear(head);
    head.tick();
    assert.deepEqual([phase(head, id), shown(head, id).works[N1]?.kind], ['done', 'done']);
    assert.deepEqual(head.schedule(), ['2#1@n1.hpc']);
  },
);

scenario(
  '[M9] the program begins when the site has stopped the node, and its end frees it',
  (head) => {
    steered(head);
    const id = planned(head, { nodes: [N1], time: { kind: 'now' }, program: PROGRAM });
    head.tick();
    assert.deepEqual(head.orders(N1), []);
    hear(head, stop(id, 'stopped'));
    head.tick();
    assert.deepEqual(head.orders(N1), ['launch 1#1']);
    assert.deepEqual(wanted(head), [`n1 ${id}`]);
    head.started('1#1', N1);
    head.ended('1#1', {}, N1);
    head.tick();
    assert.deepEqual(wanted(head), []);
    assert.equal(shown(head, id).works[N1]?.kind, 'done');
    assert.equal(phase(head, id), 'active', 'its site has still to give it back');
    hear(head);
    head.tick();
    assert.equal(phase(head, id), 'done');
  },
);

scenario('[M9] a site that refuses has nothing to give back, and nothing is done there', (head) => {
  steered(head);
  const time = { kind: 'now' } as const;
  const id = planned(head, { nodes: [N1, N2], time, program: PROGRAM });
  hear(head, stop(id, 'refused', 'scontrol: Access denied'));
  head.tick();
  const { works } = shown(head, id);
  assert.deepEqual(works[N1], {
    kind: 'skipped',
    why: 'its site does not stop it: scontrol: Access denied',
  });
  assert.equal(works[N2]?.kind, 'waiting');
  assert.equal(head.node(N1).drain, null);
  head.submit({ labels: ['site=hpc'] });
  assert.deepEqual(head.schedule(), ['1#1@n1.hpc'], 'it is in service');
});

scenario('[M9] what its site never stopped is not taken for done', (head) => {
  steered(head);
  const id = planned(head, { nodes: [N1] });
  head.tick(10 * MINUTE);
  head.tick(60 * MINUTE);
  assert.equal(phase(head, id), 'restoring', 'nobody knows whether it is stopped');
  hear(head);
  head.tick();
  assert.equal(phase(head, id), 'failed');
  assert.match(shown(head, id).detail ?? '', /n1\.hpc: its site never stopped it/);
});

scenario(
  '[M6, M9] called off before anything was heard, it ends when its gateway says how it is',
  (head) => {
    steered(head);
    const id = planned(head, { nodes: [N1], time: { kind: 'now' } });
    assert.deepEqual(wanted(head), [`n1 ${id}`]);
    head.disconnect(HPC);
    head.command(cancel(id), OPERATOR);
    head.tick(MINUTE);
    assert.equal(phase(head, id), 'restoring', 'it may have been told, and the node be stopped');
    head.connect('hpc', { cpus: 0 });
    hearEarly(head);
    head.tick();
    assert.equal(phase(head, id), 'restoring', 'it may still be at it');
    hear(head, stop(id, 'returning'));
    head.tick();
    assert.equal(phase(head, id), 'restoring');
    head.submit({ labels: ['site=hpc'], cpuCount: 2 });
    head.submit({ labels: ['site=hpc'], cpuCount: 2 });
    assert.deepEqual(head.schedule(), ['1#1@n2.hpc']);
    hear(head);
    head.tick();
    assert.equal(phase(head, id), 'cancelled');
    assert.deepEqual(head.schedule(), ['2#1@n1.hpc']);
  },
);

scenario('[M6, M9] called off, it ends by the word that nothing was stopped', (head) => {
  steered(head);
  const [first, second] = [N1, N2].map((node) =>
    planned(head, { nodes: [node], time: { kind: 'now' } }),
  );
  assert.ok(first !== undefined && second !== undefined);
  for (const id of [first, second]) head.command(cancel(id), OPERATOR);
  hear(head, { ...stop(second, 'refused', 'no'), node: 'n2' });
  head.tick();
  assert.deepEqual([phase(head, first), phase(head, second)], ['cancelled', 'cancelled']);
  assert.deepEqual(shown(head, first).works[N1], {
    kind: 'skipped',
    why: 'cancelled by olga',
  });
});

scenario('[M9] a gateway that was never there, or is removed, holds up nothing', (head) => {
  steered(head);
  head.disconnect(HPC);
  const id = planned(head, { nodes: [N1], time: { kind: 'now' } });
  assert.deepEqual(wanted(head), [], 'told only once that is written down');
  head.tick(60 * MINUTE);
  assert.equal(phase(head, id), 'failed');
  head.connect('hpc', { cpus: 0 });
  const later = planned(head, { nodes: [N2], time: { kind: 'now' } });
  head.disconnect(HPC);
  head.command(cancel(later), OPERATOR);
  head.command({ kind: 'remove_node', node: HPC }, OPERATOR);
  head.tick();
  assert.equal(phase(head, later), 'cancelled');
});

scenario('[M9] a gateway that comes later is told then', (head) => {
  steered(head);
  head.disconnect(HPC);
  const id = planned(head, { nodes: [N1], time: { kind: 'now' } });
  head.connect('hpc', { cpus: 0 });
  hearEarly(head);
  assert.deepEqual(wanted(head), [`n1 ${id}`]);
  head.command(cancel(id), OPERATOR);
  assert.equal(phase(head, id), 'restoring');
});

scenario('[M9] what was refused in part is given back first', (head) => {
  steered(head);
  const id = planned(head, { nodes: [N1], time: { kind: 'now' } });
  hear(head, stop(id, 'returning'), stop(id, 'refused', 'no'));
  head.tick();
  assert.deepEqual([shown(head, id).works[N1]?.kind, phase(head, id)], ['skipped', 'active']);
  hear(head, stop(id, 'refused', 'no'));
  head.tick();
  assert.equal(phase(head, id), 'failed');
});

scenario('[M6, M9] called off, it is over once the site has given the node back', (head) => {
  steered(head);
  const id = planned(head, { nodes: [N1], time: { kind: 'now' } });
  hear(head, stop(id, 'stopped'));
  head.command(cancel(id), OPERATOR);
  assert.deepEqual(wanted(head), []);
  assert.equal(phase(head, id), 'restoring');
  hear(head);
  head.tick();
  assert.equal(phase(head, id), 'cancelled');
});

scenario('[M9] a node that is no node of its site any more holds up nothing', (head) => {
  steered(head);
  const id = planned(head, { nodes: [N1], time: { kind: 'now' } });
  hear(head, stop(id, 'stopped'));
  head.command(cancel(id), OPERATOR);
  head.disconnect(N1);
  head.command({ kind: 'remove_node', node: N1 }, OPERATOR);
  head.tick();
  assert.equal(phase(head, id), 'cancelled');
});

scenario('[M9] only the gateway of this session is believed, and once', (head) => {
  steered(head);
  const id = planned(head, { nodes: [N1], time: { kind: 'now' } });
  const heard = { node: HPC, session: 7, stops: [stop(id, 'stopped')], isUpToDate: true };
  head.perform({ kind: 'site_stops', heard });
  assert.deepEqual(shown(head, id).stops, { [N1]: 'asked' });
  hear(head, stop(id, 'stopped'));
  const { session } = head.node('hpc');
  const again = { ...heard, session };
  assert.deepEqual(head.perform({ kind: 'site_stops', heard: again }).events, []);
});

scenario('[M10] what a site cannot do is refused when it is planned', (head) => {
  steered(head);
  const refused = (wish: Parameters<typeof plan>[0]): string =>
    head.refused(plan({ nodes: [N1], ...wish }), OPERATOR);
  assert.equal(refused({ running: 'suspend' }), 'maintenance.not_at_site');
  assert.equal(refused({ warning: { leadMs: MINUTE, signal: 15 } }), 'maintenance.not_at_site');
  const restarts = { ...PROGRAM, restarts: true };
  assert.equal(head.refused(plan({ nodes: [N1], program: restarts })), 'maintenance.not_at_site');
  assert.equal(head.state.maintenances.size + head.state.reservations.size, 0);
});

scenario('[M11] a node is put back into service before its maintenance is over', (head) => {
  steered(head);
  const nodes = [N1, N2];
  const id = planned(head, { nodes, time: { kind: 'now' } });
  hear(head, stop(id, 'stopped'), { ...stop(id, 'stopped'), node: 'n2' });
  assert.equal(head.refused({ kind: 'node_on', nodes: [N1, HPC] }, OPERATOR), 'maintenance.not_on');
  assert.equal(head.refused({ kind: 'node_on', nodes: [N1] }, user('eve')), 'auth.role_needed');
  assert.deepEqual(wanted(head), [`n1 ${id}`, `n2 ${id}`], 'a refusal leaves nothing behind');
  head.command({ kind: 'node_on', nodes: [N1] }, OPERATOR);
  assert.deepEqual(wanted(head), [`n2 ${id}`]);
  hear(head, { ...stop(id, 'stopped'), node: 'n2' });
  head.tick();
  head.submit({ labels: ['site=hpc'] });
  assert.deepEqual(head.schedule(), ['1#1@n1.hpc']);
  head.tick(60 * MINUTE);
  hear(head);
  head.tick();
  assert.equal(phase(head, id), 'done');
  assert.match(shown(head, id).detail ?? '', /took n1\.hpc back/);
});

scenario('[M11] its program is ended, and what was suspended goes on', (head) => {
  head.connect('n1', { cpus: 2 });
  head.connect('n2', { cpus: 2 });
  head.running({ nodeCount: 1, cpuCount: 2 });
  const nodes = ['n1', 'n2'] as NodeName[];
  const time = { kind: 'now' } as const;
  const id = planned(head, { nodes, time, running: 'suspend', program: PROGRAM });
  head.suspended('1#1');
  head.tick();
  const [launch] = head.orders('n2');
  assert.equal(launch, 'launch 2#1');
  head.started('3#1');
  head.command({ kind: 'node_on', nodes: ['n1' as NodeName] }, OPERATOR);
  assert.ok(head.orders('n1').includes('end 3#1'), head.orders('n1').join());
  head.ended('3#1', { cause: 'ended', signal: 15 });
  head.tick();
  assert.deepEqual(head.orders('n1'), ['resume 1#1']);
  assert.equal(head.node('n1').drain, null, 'nothing has failed there');
  assert.equal(phase(head, id), 'active');
});

scenario('[M11] what a failed maintenance has left drained is back in service', (head) => {
  head.connect('n1');
  const id = planned(head, { time: { kind: 'now' }, program: PROGRAM });
  head.tick();
  head.started('1#1');
  head.ended('1#1', { code: 3 });
  head.tick();
  assert.equal(phase(head, id), 'failed');
  assert.notEqual(head.node('n1').drain, null);
  head.command({ kind: 'node_on', nodes: ['n1' as NodeName] }, OPERATOR);
  assert.equal(head.node('n1').drain, null);
  head.command({ kind: 'drain_node', node: 'n1' as NodeName, reason: 'mine' }, OPERATOR);
  assert.equal(
    head.refused({ kind: 'node_on', nodes: ['n1' as NodeName] }, OPERATOR),
    'maintenance.not_on',
    'what a person has drained is theirs',
  );
});

scenario('[M2] what has come to a node that is through is left alone', (head) => {
  head.connect('n1', { cpus: 2 });
  head.connect('n2', { cpus: 2 });
  const nodes = ['n1', 'n2'] as NodeName[];
  planned(head, { nodes, time: { kind: 'now' }, running: 'kill', program: PROGRAM });
  head.tick();
  head.started('1#1');
  head.ended('1#1', {});
  head.tick();
  head.submit();
  assert.deepEqual(head.schedule(), ['3#1@n1']);
  head.started('3#1', 'n1');
  head.tick();
  assert.deepEqual(head.orders('n1'), []);
  assert.equal(head.state.maintenances.size, 1);
});

scenario(
  '[M9] a task that its site has not begun is placed anew, and one that has is waited for',
  (head) => {
    steered(head);
    head.submit({ labels: ['site=hpc'], cpuCount: 2 });
    head.submit({ labels: ['site=hpc'], cpuCount: 2 });
    assert.deepEqual(head.schedule(), ['1#1@n1.hpc', '2#1@n2.hpc']);
    head.started('2#1', N2);
    const id = planned(head, { nodes: [N1, N2], time: { kind: 'now' } });
    hear(head, stop(id, 'stopped'), { ...stop(id, 'stopped'), node: 'n2' });
    head.tick();
    assert.deepEqual(head.orders(N1), ['end 1#1']);
    assert.deepEqual(head.orders(N2), []);
    head.ended('1#1', { cause: 'never_started' }, N1);
    assert.equal(head.state.jobs.get(1 as JobId)?.outcome, null, 'it waits again');
    assert.equal(phase(head, id), 'draining');
    head.ended('2#1', {}, N2);
    head.tick();
    assert.equal(phase(head, id), 'active');
  },
);

scenario('[M9] a task that must not run twice is left to begin', (head) => {
  steered(head);
  head.submit({ labels: ['site=hpc'], requeue: false });
  head.schedule();
  const id = planned(head, { nodes: [N1], time: { kind: 'now' } });
  hear(head, stop(id, 'stopped'));
  head.tick();
  assert.ok(!head.orders(N1).some((order) => order.startsWith('end')), head.orders(N1).join());
  assert.equal(phase(head, id), 'draining');
});
