// Planted bugs about other clusters: each must be found.

import { ok } from '../../src/kernel/base/result.ts';
import { Engine } from '../../src/kernel/head/engine.ts';
import type { SiteJob } from '../../src/kernel/model/site.ts';
import type { Adaptor, Steering } from '../../src/wings/sites/adaptors/adaptor.ts';
import { NodeStops } from '../../src/wings/sites/fabric/site/node-stops.ts';
import { replaceMethod } from '../canary.ts';
import { takeWhatIsFree } from '../scheduler-canaries.ts';
import type { ForeignCanary, ForeignCanaryWorld, PlantedForeign } from './canary.ts';

/** What a listing has no more is listed as done. */
function absenceIsDone(adaptor: Adaptor): Adaptor {
  const seen = new Map<string, SiteJob>();
  const { command, read } = adaptor.jobs;
  return {
    ...adaptor,
    jobs: {
      command,
      read(output) {
        const answer = read(output);
        if (!answer.ok) return answer;
        const listed = new Set(answer.value.map(({ id }) => id));
        const gone = [...seen.values()].filter(({ id }) => !listed.has(id));
        for (const job of answer.value) seen.set(job.id, job);
        return ok([...answer.value, ...gone.map((job) => ({ ...job, ...DONE }))]);
      },
    },
  };
}

const DONE = { state: 'ended', word: 'DONE', exit: { code: 0 } } as const;

/** What a look-up says is not heeded until it was made a few times. */
function hardlyLookedUp(adaptor: Adaptor): Adaptor {
  const count = new Map<string, number>();
  return {
    ...adaptor,
    named(name) {
      const query = adaptor.named(name);
      count.set(name, (count.get(name) ?? 0) + 1);
      return (count.get(name) ?? 0) > 5 ? query : { ...query, read: () => ok([]) };
    },
  };
}

function requirementsMet(adaptor: Adaptor): Adaptor {
  const { steering } = adaptor;
  if (steering === null) return adaptor;
  const requirements = steering.requirements.map((one) => ({
    ...one,
    query: { ...one.query, read: () => ok(true) },
  }));
  return { ...adaptor, steering: { ...steering, requirements } };
}

/** A node that was stopped stays so. */
function neverGivesBack(adaptor: Adaptor): Adaptor {
  const setNode: Adaptor['setNode'] = (change) =>
    change.kind === 'restore' ? [] : adaptor.setNode(change);
  return { ...adaptor, setNode };
}

function heedsLate({ time }: ForeignCanaryWorld): PlantedForeign {
  return {
    remove: replaceMethod(NodeStops.prototype, 'want', (original) => {
      return function want(this: NodeStops, wishes: Parameters<NodeStops['want']>[0]) {
        time.after(5000, () => original.call(this, wishes));
      };
    }),
  };
}

/** While a site says nothing the head waits for it, with all that anybody asks. */
function headWaits({ time, isSilent }: ForeignCanaryWorld): PlantedForeign {
  return {
    remove: replaceMethod(Engine.prototype, 'execute', (original) => {
      return async function execute(this: Engine, ...args: Parameters<Engine['execute']>) {
        while (isSilent()) await new Promise<void>((then) => time.after(500, then));
        return original.apply(this, args);
      };
    }),
  };
}

/** Each that comes has the head forget which jobs of sites it has taken over. */
function forgetAdopted(): PlantedForeign {
  return {
    remove: replaceMethod(Engine.prototype, 'perform', (original) => {
      return function perform(this: Engine, ...[input, done]: Parameters<Engine['perform']>): void {
        if (input.kind === 'hello') this.state.indexes.foreign.clear();
        original.call(this, input, done);
      };
    }),
  };
}

/** A site that has said nothing for long has none of its jobs any more. */
function silenceIsDone(adaptor: Adaptor, { time }: ForeignCanaryWorld): Adaptor {
  let [seen, at]: [readonly SiteJob[], number] = [[], time.now];
  const { command, read } = adaptor.jobs;
  return {
    ...adaptor,
    jobs: {
      command,
      read(output) {
        const answer = read(output);
        if (answer.ok) [seen, at] = [answer.value, time.now];
        if (answer.ok || time.now - at < 600_000) return answer;
        return ok(seen.map((job) => ({ ...job, ...DONE })));
      },
    },
  };
}

/** An element of an array is named as the whole. */
function namedAsWhole(adaptor: Adaptor): Adaptor {
  const { command, read } = adaptor.jobs;
  return {
    ...adaptor,
    element: (array) => array,
    jobs: {
      command,
      read(output) {
        const answer = read(output);
        if (!answer.ok) return answer;
        return ok(answer.value.map((job) => ({ ...job, id: job.id.replace('.', '') })));
      },
    },
  };
}

/** For the pass of a start the other elements of the array are not held. */
function letsAll(adaptor: Adaptor): Adaptor {
  const { steering } = adaptor;
  if (steering === null) return adaptor;
  const start: Steering['start'] = (job, nodes) =>
    steering.start(job, nodes).filter(({ argv }) => argv[1] !== 'keep');
  return { ...adaptor, steering: { ...steering, start } };
}

/** A plan knows nothing of what users want. */
function anywhere(adaptor: Adaptor): Adaptor {
  const { command, read } = adaptor.jobs;
  return {
    ...adaptor,
    jobs: {
      command,
      read(output) {
        const answer = read(output);
        return answer.ok ? ok(answer.value.map(({ where: _, ...job }) => job)) : answer;
      },
    },
  };
}

export const FOREIGN_CANARIES: readonly ForeignCanary[] = [
  {
    name: 'absence-is-done',
    sentence: 'what a listing leaves out is taken for done',
    rule: 'X1',
    plant: () => ({ wrapAdaptor: absenceIsDone }),
    weather: { hideMs: 5000, maintMs: null },
  },
  {
    name: 'submit-repeated',
    sentence: 'a submission without an answer is made again unseen',
    rule: 'X2',
    plant: () => ({ wrapAdaptor: hardlyLookedUp }),
    weather: { mode: 'submit', lies: 0.2, purgeMs: 120_000, maintMs: null },
  },
  {
    name: 'steered-while-scheduling',
    sentence: 'nodes are steered while the scheduler of their site is on',
    rule: 'X4',
    plant: () => ({ wrapAdaptor: requirementsMet }),
    weather: { mode: 'steer', schedulerMs: 30_000, maintMs: null },
  },
  {
    name: 'never-given-back',
    sentence: 'a node stays stopped at its site after its maintenance',
    rule: 'X5',
    plant: () => ({ wrapAdaptor: neverGivesBack }),
    weather: { mode: 'steer', maintMs: 15_000 },
  },
  {
    name: 'stops-heeded-late',
    sentence: 'a gateway says that it has heard what is to be stopped before it heeds it',
    rule: 'X9',
    plant: heedsLate,
    weather: { mode: 'steer', maintMs: 15_000, wishMs: null },
  },
  {
    name: 'head-waits-for-sites',
    sentence: 'a site that says nothing holds up everybody',
    rule: 'X8',
    plant: headWaits,
    weather: { silenceMs: 30_000, maintMs: null },
  },
  {
    name: 'adopted-again',
    sentence: 'a job of a site becomes a second job of ours when its gateway comes back',
    rule: 'X3',
    plant: forgetAdopted,
    weather: { mode: 'steer', gatewayCrashMs: 15_000, maintMs: null },
  },
  {
    name: 'started-in-maintenance',
    sentence: 'jobs of users are started on nodes that are in maintenance',
    rule: 'X6',
    plant: takeWhatIsFree,
    weather: { mode: 'steer', maintMs: 15_000, submissionMs: 3000 },
  },
  {
    name: 'silence-is-done',
    sentence: 'what a site had when it fell silent is taken for done in the end',
    rule: 'X1',
    plant: (world) => ({ wrapAdaptor: (adaptor) => silenceIsDone(adaptor, world) }),
    weather: { stormMs: 60_000, hasHour: true, maintMs: null },
  },
  {
    name: 'array-taken-for-one',
    sentence: 'the elements of an array are not told from others',
    rule: 'X3',
    plant: () => ({ wrapAdaptor: namedAsWhole }),
    weather: { mode: 'steer', hasTickets: false, arrayMs: 10_000, maintMs: null },
  },
  {
    name: 'started-anywhere',
    sentence: 'jobs of users of a site are started on other nodes than they named',
    rule: 'X11',
    plant: () => ({ wrapAdaptor: anywhere }),
    weather: {
      mode: 'steer',
      contract: 'plain',
      hasTickets: false,
      takeover: 'disabled_scheduler',
      wishMs: 5000,
      maintMs: null,
      nodeCount: 3,
    },
  },
  {
    name: 'ticket-for-all',
    sentence: 'the start of one element of an array lets the others begin, too',
    rule: 'X10',
    plant: () => ({ wrapAdaptor: letsAll }),
    weather: { mode: 'steer', contract: 'plain', hasTickets: true, arrayMs: 5000, maintMs: null },
  },
];
