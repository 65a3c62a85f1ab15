// `weft doctor --cluster`: looks at all machines of the cluster over the user's own ssh, and says
// where they differ in what jobs and users need to be the same.

import { execFile, spawn } from 'node:child_process';
import { hostname } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import type { NodeView } from '../../../kernel/api/nodes.ts';
import type { Context } from '../../../kernel/cli/context.ts';
import type { Finding } from '../../../kernel/cli/doctor/finding.ts';
import type { Api } from '../../../kernel/connect/api.ts';
import { Failure, usage } from '../../../kernel/model/failure.ts';
import { readHosts } from '../../rollout/cli/read-hosts.ts';
import { Ssh } from '../../rollout/cli/ssh.ts';
import { type Destination, parseDestination } from '../../rollout/core/destination.ts';
import { differencesOf, type Machine, type SurveyedNode } from '../core/survey/differences.ts';
import { parseSurvey, type Survey, surveyScript, type Wanted } from '../core/survey/survey.ts';

/** Machines at a time. */
const AT_ONCE = 8;
const LOOK_MS = 60_000;
/** Accounts that are compared; more is a cluster with a directory service. */
const ACCOUNTS_MAX = 200;
/** What useradd(8) gives to people. */
const PERSONS = { from: 1000, to: 60_000 };

export async function machinesOf(context: Context, cluster: true | string): Promise<Finding[]> {
  try {
    return await compare(context, cluster);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return [{ state: 'bad', text: error.message, ...(error.hint ? { remedy: error.hint } : {}) }];
  }
}

async function compare(context: Context, cluster: true | string): Promise<Finding[]> {
  const hosts = cluster === true ? [] : readHosts(path.resolve(context.cwd, cluster));
  const api = await context.api();
  const { nodes } = await api.call('listNodes');
  const { version: headRelease } = await api.call('info');
  const directories = [...new Set(nodes.flatMap(({ sharedPaths }) => sharedPaths))];
  const wanted = { users: await accountsOf(api), directories, dials: false };
  const here = await surveyHere(wanted);
  const ssh = new Ssh();
  try {
    const machines = await eachOf(placesOf(nodes, hosts), (place) =>
      lookAt(place, { ssh, here, wanted }),
    );
    return differencesOf({ here, headRelease, machines });
  } finally {
    ssh.close();
  }
}

/** Where a machine is looked at, and the nodes that it has. */
interface Place {
  /** Null when it is this one. */
  readonly ssh: string | null;
  readonly name: string;
  readonly nodes: readonly NodeView[];
}

/** Machines of nodes are found by their host names; a gateway's tasks run elsewhere. */
function placesOf(nodes: readonly NodeView[], hosts: readonly Destination[]): Place[] {
  const places = new Map<string, Place>();
  for (const node of nodes) {
    const { hostname: told, site } = node.facts ?? {};
    if (typeof site === 'string') continue;
    const listed = hosts.find((one) => nameOf(one) === node.name || one.name === node.name);
    const name = listed?.ssh ?? (typeof told === 'string' ? told : node.name);
    const known = places.get(name);
    const isHere = told === hostname();
    places.set(name, {
      ssh: isHere ? null : name,
      name,
      nodes: [...(known?.nodes ?? []), node],
    });
  }
  for (const { ssh } of hosts) {
    if (!places.has(ssh)) places.set(ssh, { ssh, name: ssh, nodes: [] });
  }
  return [...places.values()];
}

/** `lab3` of `ann@lab3`. */
const nameOf = ({ ssh }: Destination): string =>
  ssh
    .replace(/^ssh:\/\//, '')
    .replace(/^.*@/, '')
    .replace(/:\d+$/, '');

interface Look {
  readonly ssh: Ssh;
  readonly here: Survey;
  readonly wanted: Wanted;
}

async function lookAt({ ssh: host, name, nodes }: Place, look: Look): Promise<Machine> {
  const about = { name, nodes: nodes.map(nodeOf), clockAhead: 0 };
  if (host === null) return { ...about, problem: null, survey: look.here };
  const read = parseDestination(host);
  if (!read.ok) {
    return { ...about, survey: null, problem: { what: read.error, remedy: 'Name it in a FILE.' } };
  }
  const dials = about.nodes.some(({ isUp }) => !isUp);
  const script = surveyScript({ ...look.wanted, dials });
  const answer = await look.ssh.script(host, script, { as: '', timeoutMs: LOOK_MS });
  const survey = parseSurvey(answer.out);
  if (survey === null) {
    const why = answer.error.trim().split('\n').at(-1)?.trim() || `exit ${answer.code}`;
    const remedy = `Try: ssh ${host} true. Other names: weft doctor --cluster FILE.`;
    return { ...about, survey, problem: { what: `not looked at: ${why}`, remedy } };
  }
  const clockAhead = Math.round(survey.clock - Date.now() / 1000);
  return { ...about, survey, problem: null, clockAhead };
}

function nodeOf({ name, state, facts, sharedPaths }: NodeView): SurveyedNode {
  const { agentVersion, switchesUser } = facts ?? {};
  return {
    name,
    isUp: state === 'up',
    release: typeof agentVersion === 'string' ? agentVersion : null,
    sharedPaths,
    switchesUser: switchesUser !== false,
  };
}

/** In order, some at a time. */
async function eachOf<T, R>(all: readonly T[], work: (one: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  const waiting = [...all.entries()];
  const next = async (): Promise<void> => {
    for (let one = waiting.shift(); one !== undefined; one = waiting.shift()) {
      results[one[0]] = await work(one[1]);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, next));
  return results;
}

function surveyHere(wanted: Wanted): Promise<Survey> {
  const child = spawn('sh', ['-s'], { stdio: ['pipe', 'pipe', 'ignore'], timeout: LOOK_MS });
  let out = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    out += text;
  });
  child.stdin.on('error', () => undefined).end(surveyScript(wanted));
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', () => {
      const survey = parseSurvey(out);
      if (survey !== null) resolve(survey);
      else reject(usage('this machine cannot be looked at: its shell did not answer'));
    });
  });
}

/** Users of the cluster, those with a role, and people with an account here. */
async function accountsOf(api: Api): Promise<string[]> {
  const { users: used } = await api.call('listUsage');
  const { users: known } = await api.call('listUsers').catch(() => ({ users: [] }));
  const people = await peopleHere();
  const all = new Set([
    ...used.map(({ user }) => user),
    ...known.map(({ name }) => name),
    ...people,
  ]);
  all.delete('root');
  return [...all].sort().slice(0, ACCOUNTS_MAX);
}

async function peopleHere(): Promise<string[]> {
  const { stdout } = await promisify(execFile)('getent', ['passwd']).catch(() => ({ stdout: '' }));
  return stdout.split('\n').flatMap((line) => {
    const [name = '', , uid = ''] = line.split(':');
    return Number(uid) >= PERSONS.from && Number(uid) < PERSONS.to ? [name] : [];
  });
}
