// The planted bugs in agents: in what they hear, what they keep and what they tell.

import { completePorts } from '../src/kernel/agent/absent.ts';
import { Engine } from '../src/kernel/agent/engine.ts';
import type { AgentPorts, AllPorts } from '../src/kernel/agent/ports.ts';
import type { LaunchOrder, Report } from '../src/kernel/model/orders.ts';
import type { Session } from '../src/kernel/ports/net.ts';
import type { RunnerInput } from '../src/kernel/runner/inputs.ts';
import { decodeAgentMessage } from '../src/kernel/wire/codec.ts';
import { type Canary, type Planted, replaceMethod } from './canary.ts';

/** Agents that make something else of a launch order. */
export function withLaunch(change: (order: LaunchOrder) => LaunchOrder): () => Planted {
  return () => ({
    remove: replaceMethod(Engine.prototype, 'step', (original) => {
      return function step(this: Engine, input: RunnerInput): void {
        const isLaunch = input.kind === 'order' && input.order.kind === 'launch';
        if (!isLaunch) original.call(this, input);
        else original.call(this, { ...input, order: change(input.order as LaunchOrder) });
      };
    }),
  });
}

function withPorts(change: (ports: AllPorts) => Partial<AgentPorts>): () => Planted {
  return () => ({ wrapPorts: (ports) => ({ ...ports, ...change(completePorts(ports)) }) });
}

/** The deadline of a pause passes, and nobody looks. */
function endlessPause(): Planted {
  return {
    remove: replaceMethod(Engine.prototype, 'step', (original) => {
      return function step(this: Engine, input: RunnerInput): void {
        const { pauses } = this.state;
        const { asked } = pauses;
        if (input.kind === 'tick') pauses.asked = null;
        original.call(this, input);
        if (input.kind === 'tick') pauses.asked = asked;
      };
    }),
  };
}

/** Says that it is paused, and stops nothing. */
function neverStop({ connectLauncher }: AgentPorts): Partial<AgentPorts> {
  return {
    async connectLauncher() {
      const processes = await connectLauncher();
      const signal = processes.signal.bind(processes);
      processes.signal = (launchId, number) => {
        if (number !== SIGSTOP) signal(launchId, number);
      };
      return processes;
    },
  };
}

/** Says each thing once: what was lost on the way is lost. */
function reportOnce(): Planted {
  const said = new Set<string>();
  const name = (report: Report): string =>
    `${'epochId' in report ? report.epochId : report.turn} ${report.kind}`;
  const isNews = (report: Report): boolean => !said.has(name(report));
  return {
    wrapPorts: (ports) => ({
      ...ports,
      dialer: {
        async dial(): Promise<Session> {
          const session = await ports.dialer.dial();
          const send = session.send.bind(session);
          session.send = (bytes) => {
            const message = decodeAgentMessage(bytes);
            if (message.ok && message.value.kind === 'reports') {
              const { reports } = message.value;
              const isOld = !reports.some(isNews);
              for (const one of reports) said.add(name(one));
              if (isOld) return;
            }
            send(bytes);
          };
          return session;
        },
      },
    }),
  };
}

/** The journal is written when there is time for it. */
function journalLater({ journal, clock }: AgentPorts): Partial<AgentPorts> {
  const write = (offset: number, bytes: Uint8Array): void => {
    clock.after(300, () => journal.write(offset, bytes));
  };
  return { journal: { ...journal, write } };
}

/** Only ever asks politely. */
function neverKill({ connectLauncher }: AgentPorts): Partial<AgentPorts> {
  return {
    async connectLauncher() {
      const processes = await connectLauncher();
      const signal = processes.signal.bind(processes);
      processes.signal = (launchId, number) => {
        if (number !== 9) signal(launchId, number);
      };
      return processes;
    },
  };
}

/** What cannot be recorded is not done, not even what ends processes. */
function endsWait({ journal, connectLauncher }: AgentPorts): Partial<AgentPorts> {
  let isStuck = false;
  const write = (offset: number, bytes: Uint8Array): void => {
    isStuck = true;
    journal.write(offset, bytes);
    isStuck = false;
  };
  return {
    journal: { ...journal, write },
    async connectLauncher() {
      const processes = await connectLauncher();
      const signal = processes.signal.bind(processes);
      processes.signal = (launchId, number) => {
        if (!isStuck) signal(launchId, number);
      };
      return processes;
    },
  };
}

/** A launcher that leaves leases to the agent. */
function withoutLease({ connectLauncher }: AgentPorts): Partial<AgentPorts> {
  return {
    async connectLauncher() {
      const processes = await connectLauncher();
      const start = processes.start.bind(processes);
      processes.start = (request) => start({ ...request, leaseMs: null });
      return processes;
    },
  };
}

function forgetTail({ files }: AllPorts): Partial<AgentPorts> {
  return { files: { ...files, size: (path) => Math.min(files.size(path) ?? 0, 23) } };
}

function keepSpool({ files }: AllPorts): Partial<AgentPorts> {
  return { files: { ...files, empty: () => true } };
}

/** Where agents and networks fail often, and heads do not; and work runs on leases soon over. */
const LEASED = {
  headCrashMs: null,
  commitCrashMs: null,
  headStopMs: null,
  powerCutMs: null,
  fenceSuccess: null,
  heartbeatMs: 500,
  nodeTimeoutMs: 2000,
  submissionMs: 1000,
  stormMs: 180_000,
} as const;

const SIGSTOP = 19;

export const AGENT_CANARIES: readonly Canary[] = [
  {
    name: 'pause-outlives-deadline',
    sentence: 'a pause goes on after its deadline',
    plant: endlessPause,
    weather: { pauseMs: 8000 },
  },
  {
    name: 'pause-stops-nothing',
    sentence: 'what runs on a node goes on in its pause',
    plant: withPorts(neverStop),
    weather: { pauseMs: 5000, killGraceMs: 1000 },
  },
  {
    name: 'no-lease',
    sentence: 'an agent cut off goes on with what it should have let go',
    plant: withLaunch((order) => ({ ...order, onNodeLoss: { kind: 'wait' } })),
    weather: { ...LEASED, netCutMs: 8000 },
  },
  {
    name: 'launcher-without-lease',
    sentence: 'a launcher lets go on what no agent is there to end',
    plant: withPorts(withoutLease),
    weather: { ...LEASED, agentCrashMs: 8000, launcherDeathMs: null },
  },
  {
    name: 'no-walltime',
    sentence: 'an agent does not look at the walltime',
    plant: withLaunch((order) => ({ ...order, walltimeMs: null })),
  },
  {
    name: 'report-sent-once',
    sentence: 'a report that is lost on its way is not sent again',
    plant: reportOnce,
  },
  {
    name: 'spool-not-emptied',
    sentence: 'a spool file is used again with what the task before has written',
    plant: withPorts(keepSpool),
  },
  {
    name: 'journal-after-start',
    sentence: 'a process is started before the agent has written that it will be',
    plant: withPorts(journalLater),
  },
  {
    name: 'never-kill',
    sentence: 'what ignores TERM is left alone',
    plant: withPorts(neverKill),
  },
  {
    name: 'ends-wait',
    sentence: 'an agent on a full disk ends nothing until there is room',
    plant: withPorts(endsWait),
    weather: { nodeDiskFullMs: 10_000, killGraceMs: 1000, stormMs: 180_000 },
  },
  {
    name: 'output-cut',
    sentence: 'the end of the output stays on the node',
    plant: withPorts(forgetTail),
  },
];
