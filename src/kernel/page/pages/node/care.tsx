// What operators do with a node: out of service and back, for a while or until further notice.

import { useState } from 'preact/hooks';
import type { NodeView } from '../../../api/nodes.ts';
import { parseDuration } from '../../../base/duration.ts';
import { asSentence } from '../../../base/sentence.ts';
import { call } from '../../data/client.ts';
import { type Action, Actions } from '../../parts/actions.tsx';
import { Panel, Time } from '../../parts/basic.tsx';
import {
  drainCommand,
  maintenanceCommand,
  pauseCommand,
  unpauseCommand,
} from '../../pure/command-of-node.ts';

export function Care({ node }: { node: NodeView }) {
  const [reason, setReason] = useState('maintenance');
  const [duration, setDuration] = useState('1h');
  const [running, setRunning] = useState('wait');
  const { name } = node;
  const durationMs = parseDuration(duration);
  const params = { name };
  const actions: Action[] = [
    node.drained === null
      ? {
          label: 'Drain',
          command: drainCommand(name, reason),
          run: async () => {
            await call('drainNode', { params, body: { reason } });
            return asSentence(`${name} gets no new work: ${reason}`);
          },
          warning: 'What runs goes on to its end; nothing new starts there.',
        }
      : {
          label: 'Undrain',
          command: `weft node undrain ${name}`,
          run: async () => {
            await call('undrainNode', { params, body: {} });
            return `${name} gets work again.`;
          },
        },
    ...(durationMs.ok
      ? timed(name, { reason, duration, durationMs: durationMs.value, running })
      : []),
    ...(node.paused === null
      ? []
      : [
          {
            label: 'End the pause',
            command: unpauseCommand(name),
            run: async () => {
              await call('unpauseNode', { params, body: {} });
              return `${name} is asked to work again.`;
            },
          },
        ]),
  ];
  return (
    <Panel title="Take out of service">
      <div class="filters">
        <label class="grow">
          Reason, shown to all
          <input value={reason} onInput={(event) => setReason(event.currentTarget.value)} />
        </label>
        <label>
          For how long
          <input
            value={duration}
            aria-invalid={!durationMs.ok}
            onInput={(event) => setDuration(event.currentTarget.value)}
          />
        </label>
        <label>
          What runs
          <select value={running} onChange={(event) => setRunning(event.currentTarget.value)}>
            {['wait', 'requeue', 'suspend', 'kill'].map((word) => (
              <option key={word}>{word}</option>
            ))}
          </select>
        </label>
      </div>
      {!durationMs.ok && <p class="problem">{durationMs.error}</p>}
      <p />
      <Actions actions={actions} />
      <Planned node={node} />
    </Panel>
  );
}

function timed(
  name: string,
  of: { reason: string; duration: string; durationMs: number; running: string },
): Action[] {
  const { reason, durationMs } = of;
  const running = of.running as 'wait';
  return [
    {
      label: 'Maintenance now',
      command: maintenanceCommand(name, of),
      run: async () => {
        const body = { nodes: [name], time: { kind: 'now' as const }, durationMs, running, reason };
        const { id } = await call('planMaintenance', { body });
        return `Maintenance ${id} of ${name} is planned.`;
      },
      warning: 'Nobody else’s work starts there in that time.',
    },
    {
      label: 'Pause',
      command: pauseCommand(name, of.duration),
      run: async () => {
        await call('pauseNode', { params: { name }, body: { durationMs } });
        return `${name} is asked to stand aside.`;
      },
      warning: 'Its tasks are suspended until the pause ends.',
    },
  ];
}

function Planned({ node: { maintenance } }: { node: NodeView }) {
  if (maintenance === null) return null;
  const { id, from, until, reason } = maintenance;
  const cancel: Action = {
    label: `Cancel maintenance ${id}`,
    command: `weft maint cancel ${id}`,
    leave: 'Keep it',
    agree: 'Cancel the maintenance',
    run: async () => {
      await call('cancelMaintenance', { params: { id }, body: {} });
      return `Maintenance ${id} is cancelled.`;
    },
  };
  return (
    <>
      <p>
        Maintenance {id} from <Time at={from} /> until <Time at={until} />: {reason}
      </p>
      <Actions actions={[cancel]} />
    </>
  );
}
