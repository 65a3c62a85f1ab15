// Where machines of a cluster differ in what they must have in common, in words, with the way out.

import { plural } from '../../../../kernel/base/plural.ts';
import type { Account, Survey } from './survey.ts';

/** A machine with one node or several. */
export interface Machine {
  /** The name for ssh. */
  readonly name: string;
  readonly nodes: readonly SurveyedNode[];
  /** Why it was not looked at, and the way out; null: it was. */
  readonly problem: { readonly what: string; readonly remedy: string } | null;
  readonly survey: Survey | null;
  /** Seconds that its clock is ahead of the one here. */
  readonly clockAhead: number;
}

/** What the head knows of a node. */
export interface SurveyedNode {
  readonly name: string;
  readonly isUp: boolean;
  readonly release: string | null;
  readonly sharedPaths: readonly string[];
  /** False: all its jobs run as one user. */
  readonly switchesUser: boolean;
}

export interface Difference {
  readonly state: 'ok' | 'note' | 'bad';
  readonly text: string;
  readonly remedy?: string;
}

export interface Compared {
  /** This machine, which the others are compared with. */
  readonly here: Survey;
  readonly headRelease: string;
  readonly machines: readonly Machine[];
}

/** A clock is read in whole seconds, and its answer travels. */
const CLOCK_SECONDS_MAX = 3;
/** Names in one line; the rest is counted. */
const NAMED_MAX = 6;

export function differencesOf(compared: Compared): Difference[] {
  const found = [
    ...compared.machines.flatMap(notSeen),
    ...compared.machines.flatMap((machine) => agentTroubles(machine, compared.headRelease)),
    ...accounts(compared),
    ...directories(compared),
    ...clocks(compared),
  ];
  return [summary(compared, found.length), ...found];
}

function summary({ here, machines }: Compared, count: number): Difference {
  const seen = machines.filter(({ survey }) => survey !== null).length;
  const words = [
    plural(here.accounts.size, 'account'),
    count === 0 ? 'nothing differs' : `${plural(count, 'remark')} below`,
  ];
  const text = `${seen} of ${plural(machines.length, 'machine')} looked at; ${words.join(', ')}`;
  return { state: 'ok', text };
}

function notSeen({ name, problem }: Machine): Difference[] {
  if (problem === null) return [];
  return [{ state: 'note', text: `${name}: ${problem.what}`, remedy: problem.remedy }];
}

function agentTroubles({ name, nodes, survey }: Machine, headRelease: string): Difference[] {
  const old = nodes.filter(({ release }) => release !== null && release !== headRelease);
  const found: Difference[] = old.map((node) => ({
    state: 'note',
    text: `node ${node.name} runs Weft ${node.release}, the head ${headRelease}`,
    remedy: `\`weft node upgrade ${name}\`; what runs there goes on.`,
  }));
  const away = nodes.filter(({ isUp }) => !isUp);
  if (away.length === 0 || survey === null) return found;
  const subject = `node ${away.map((node) => node.name).join(', ')} is away`;
  return [...found, { state: 'bad', ...whyAway(name, subject, survey) }];
}

function whyAway(name: string, subject: string, { agent }: Survey) {
  const { isMember, isRunning, release, dialled } = agent;
  if (release === null) {
    return { text: `${subject}: no Weft is there`, remedy: `\`weft node add ${name}\`` };
  }
  if (!isMember) {
    const text = `${subject}: it is a member of no cluster`;
    return { text, remedy: `\`weft node add ${name}\`` };
  }
  if (!isRunning) {
    const remedy = `\`weft node add ${name}\` starts it; its last words are in its agent.log.`;
    return { text: `${subject}: no agent runs there`, remedy };
  }
  const failed = dialled.filter(({ outcome }) => outcome !== 'ok');
  if (dialled.length === 0 || failed.length < dialled.length) {
    const text = `${subject}, though its agent runs and reaches the head's port`;
    return { text, remedy: `See its log: /var/lib/weft/node/agent.log on ${name}.` };
  }
  const tried = failed.map(({ address, outcome }) => `${address} ${dialWords(outcome)}`);
  const text = `${subject}: its agent runs and cannot reach the head: ${tried.join(', ')}`;
  return { text, remedy: 'Open the port on the head, or mend the name; `head.names` says them.' };
}

const DIAL_WORDS: Readonly<Record<string, string>> = {
  ETIMEDOUT: 'gives no answer (a firewall?)',
  ECONNREFUSED: 'is closed (does the head run there?)',
  ENOTFOUND: 'is a name that is not known there (DNS)',
  EAI_AGAIN: 'is a name that its DNS does not answer for',
  EHOSTUNREACH: 'cannot be reached from there (routes)',
  ENETUNREACH: 'cannot be reached from there (routes)',
};

const dialWords = (outcome: string): string => DIAL_WORDS[outcome] ?? `fails (${outcome})`;

/** Jobs of all users run there. */
const servesUsers = ({ nodes }: Machine): boolean =>
  nodes.length === 0 || nodes.some(({ switchesUser }) => switchesUser);

function accounts({ here, machines }: Compared): Difference[] {
  const seen = machines.filter((machine) => machine.survey !== null && servesUsers(machine));
  return [...here.accounts].flatMap(([user, mine]): Difference[] => {
    if (mine === null) return [];
    const there = seen.map(({ name, survey }) => {
      return { name, account: survey?.accounts.get(user) ?? null };
    });
    const lacking = there.filter(({ account }) => account === null);
    return [
      ...missing(user, mine, lacking),
      ...uids(user, mine, there),
      ...groups(user, mine, there),
      ...homes(user, mine, there),
    ];
  });
}

interface There {
  readonly name: string;
  readonly account: Account | null;
}

function missing(user: string, { uid }: Account, lacking: readonly There[]): Difference[] {
  if (lacking.length === 0) return [];
  const text = `account ${user}: not on ${namesOf(lacking)}, where its jobs cannot run`;
  return [{ state: 'bad', text, remedy: `There: useradd --uid ${uid} ${user}` }];
}

function uids(user: string, { uid }: Account, there: readonly There[]): Difference[] {
  const others = there.filter(({ account }) => account !== null && account.uid !== uid);
  if (others.length === 0) return [];
  const said = listed(others.map(({ name, account }) => `${account?.uid} on ${name}`));
  const text = `account ${user}: uid ${uid} here, ${said}; files on shared disks are another's there`;
  return [
    { state: 'bad', text, remedy: `There: usermod --uid ${uid} ${user}, and chown its files.` },
  ];
}

function groups(user: string, mine: Account, there: readonly There[]): Difference[] {
  const others = there.flatMap(({ name, account }) => {
    if (account === null) return [];
    const lacks = mine.groups.filter((one) => !account.groups.includes(one));
    const more = account.groups.filter((one) => !mine.groups.includes(one));
    const words = [
      ...(lacks.length > 0 ? [`not ${lacks.join(', ')}`] : []),
      ...(more.length > 0 ? [`also ${more.join(', ')}`] : []),
    ];
    return words.length === 0 ? [] : [`on ${name} ${words.join(' and ')}`];
  });
  if (others.length === 0) return [];
  const text = `account ${user}: in other groups than here: ${listed(others)}`;
  return [{ state: 'note', text, remedy: 'Jobs there may read other files. usermod -aG GROUP' }];
}

function homes(user: string, mine: Account, there: readonly There[]): Difference[] {
  const others = there.flatMap(({ name, account }) => {
    if (account === null) return [];
    if (account.home !== mine.home) return [`${account.home} on ${name}`];
    // Where it is not right here either, it is so on purpose.
    if (mine.homeUid !== mine.uid) return [];
    if (account.homeUid === null) return [`missing on ${name}`];
    return account.homeUid === account.uid ? [] : [`of user ${account.homeUid} on ${name}`];
  });
  if (others.length === 0) return [];
  const text = `account ${user}: home ${mine.home} here, ${listed(others)}`;
  return [{ state: 'note', text, remedy: 'Programs that keep settings at home behave otherwise.' }];
}

function directories({ here, machines }: Compared): Difference[] {
  const paths = new Set(machines.flatMap(({ nodes }) => nodes.flatMap((one) => one.sharedPaths)));
  return [...paths].sort().flatMap((path): Difference[] => {
    const sharing = machines.filter(({ nodes, survey }) => {
      return survey !== null && nodes.some((one) => one.sharedPaths.includes(path));
    });
    const mine = here.directories.get(path)?.inode ?? null;
    const of = ({ survey }: Machine) => survey?.directories.get(path) ?? { inode: null, kind: '' };
    const lacking = sharing.filter((machine) => of(machine).inode === null);
    const others = sharing.filter((machine) => {
      const { inode } = of(machine);
      return inode !== null && mine !== null && inode !== mine;
    });
    const remedy = 'Mount it there, or take it out of node.shared.';
    const said: Difference[] = [];
    if (mine === null) said.push({ state: 'note', text: `shared ${path}: not on this machine` });
    if (lacking.length > 0) {
      const text = `shared ${path}: not there on ${namesOf(lacking)}, though node.shared names it`;
      said.push({ state: 'bad', text, remedy });
    }
    if (others.length > 0) {
      const kinds = others.map((machine) => `${machine.name} (${of(machine).kind})`);
      const text = `shared ${path}: another directory than here on ${listed(kinds)}`;
      said.push({ state: 'bad', text, remedy });
    }
    return said;
  });
}

function clocks({ machines }: Compared): Difference[] {
  const others = machines.flatMap(({ name, clockAhead }) => {
    if (Math.abs(clockAhead) <= CLOCK_SECONDS_MAX) return [];
    return [`${name} ${Math.abs(clockAhead)}s ${clockAhead > 0 ? 'ahead' : 'behind'}`];
  });
  if (others.length === 0) return [];
  const remedy = 'Synchronise the clocks of all machines with NTP.';
  return [{ state: 'note', text: `clocks differ from here: ${listed(others)}`, remedy }];
}

const namesOf = (all: readonly { readonly name: string }[]): string =>
  listed(all.map(({ name }) => name));

function listed(words: readonly string[]): string {
  const more = words.length - NAMED_MAX;
  const shown = words.slice(0, NAMED_MAX).join(', ');
  return more > 0 ? `${shown} and ${more} more` : shown;
}
