// Machines that are compared: what each says of itself, and where they differ.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { tmpdir, userInfo } from 'node:os';
import { test } from 'node:test';
import {
  differencesOf,
  type Machine,
  type SurveyedNode,
} from '../../../../src/wings/lab/core/survey/differences.ts';
import {
  type Account,
  type Directory,
  parseSurvey,
  type Survey,
  surveyScript,
} from '../../../../src/wings/lab/core/survey/survey.ts';

const ANN: Account = {
  uid: 1001,
  group: 'ann',
  groups: ['ann', 'chem'],
  home: '/homes/ann',
  homeUid: 1001,
};
const AGENT = { isRunning: true, release: '0.1.0', isMember: true, dialled: [] };

function survey(
  accounts: Readonly<Record<string, Account | null>> = { ann: ANN },
  more: Partial<Survey> = {},
  directories: Readonly<Record<string, Directory>> = {},
): Survey {
  return {
    clock: 0,
    accounts: new Map(Object.entries(accounts)),
    directories: new Map(Object.entries(directories)),
    agent: AGENT,
    ...more,
  };
}

function machine(
  name: string,
  found: Survey | null,
  node: Partial<SurveyedNode> = {},
  more: Partial<Machine> = {},
): Machine {
  const own = { name, isUp: true, release: '0.1.0', sharedPaths: [], switchesUser: true };
  return {
    name,
    nodes: [{ ...own, ...node }],
    problem: null,
    survey: found,
    clockAhead: 0,
    ...more,
  };
}

function words(machines: readonly Machine[], here = survey()): string[] {
  const [first, ...rest] = differencesOf({ here, headRelease: '0.1.0', machines });
  assert.equal(first?.state, 'ok');
  return rest.map(({ state, text }) => `${state} ${text}`);
}

test('[Y2] this machine answers the script, in words that are read back', () => {
  const { username, uid, homedir } = userInfo();
  const script = surveyScript({
    users: [username, 'nobody-of-this-name', "o'neil; exit 3"],
    directories: [tmpdir(), '/no such/folder'],
    dials: true,
  });
  const { stdout, status } = spawnSync('sh', ['-s'], { input: script, encoding: 'utf8' });
  assert.equal(status, 0);
  const found = parseSurvey(`Welcome!\n${stdout}`);
  assert.ok(found !== null);
  const mine = found.accounts.get(username);
  assert.equal(mine?.uid, uid);
  assert.equal(mine?.home, homedir);
  assert.equal(found.accounts.get("o'neil; exit 3"), null);
  assert.match(found.directories.get(tmpdir())?.inode ?? '', /^\d+$/);
  assert.equal(found.directories.get('/no such/folder')?.inode, null);
  assert.ok(Math.abs(found.clock - Date.now() / 1000) < 60);
  assert.equal(parseSurvey(stdout.replace(/weft-says\tend.*/, '')), null, 'cut off is no answer');
});

test('[Y2] accounts that differ are named with the machine and the command', () => {
  const other = { ...ANN, uid: 1005, groups: ['ann', 'bio'], home: '/data/ann', homeUid: 1005 };
  const said = words([
    machine('lab1', survey()),
    machine('lab2', survey({ ann: other })),
    machine('lab3', survey({ ann: null })),
    machine('lab4', survey({ ann: { ...ANN, homeUid: null } })),
    machine('mine', survey({ ann: null }), { switchesUser: false }),
  ]);
  assert.deepEqual(said, [
    'bad account ann: not on lab3, where its jobs cannot run',
    "bad account ann: uid 1001 here, 1005 on lab2; files on shared disks are another's there",
    'note account ann: in other groups than here: on lab2 not chem and also bio',
    'note account ann: home /homes/ann here, /data/ann on lab2, missing on lab4',
  ]);
});

test('[Y2] a shared directory is the same one everywhere, or is named', () => {
  const at = (inode: string | null) => survey({}, {}, { '/homes': { inode, kind: 'nfs' } });
  const shares = { sharedPaths: ['/homes'] };
  const said = words(
    [
      machine('lab1', at('7'), shares),
      machine('lab2', at('8'), shares),
      machine('lab3', at(null), shares),
      machine('lab4', at(null)),
    ],
    at('7'),
  );
  assert.deepEqual(said, [
    'bad shared /homes: not there on lab3, though node.shared names it',
    'bad shared /homes: another directory than here on lab2 (nfs)',
  ]);
});

test('[Y2] clocks and releases that differ are told, and nothing where all agree', () => {
  assert.deepEqual(words([machine('lab1', survey()), machine('lab2', survey())]), []);
  const said = words([
    machine('lab1', survey(), { release: '0.0.9' }),
    machine('lab2', survey(), {}, { clockAhead: -90 }),
  ]);
  assert.deepEqual(said, [
    'note node lab1 runs Weft 0.0.9, the head 0.1.0',
    'note clocks differ from here: lab2 90s behind',
  ]);
});

test('[Y2] of a node that is away it says what keeps it', () => {
  const away = (agent: Partial<Survey['agent']>) =>
    words(
      [machine('lab1', survey({}, { agent: { ...AGENT, ...agent } }), { isUp: false })],
      survey({}),
    );
  const dialled = (...outcomes: string[]) =>
    outcomes.map((outcome, at) => ({ address: `10.0.0.${at}:5001`, outcome }));
  assert.deepEqual(away({ release: null }), ['bad node lab1 is away: no Weft is there']);
  assert.deepEqual(away({ isRunning: false }), ['bad node lab1 is away: no agent runs there']);
  assert.deepEqual(away({ isMember: false }), [
    'bad node lab1 is away: it is a member of no cluster',
  ]);
  assert.deepEqual(away({ dialled: dialled('ETIMEDOUT', 'ENOTFOUND') }), [
    'bad node lab1 is away: its agent runs and cannot reach the head: 10.0.0.0:5001 gives no answer (a firewall?), 10.0.0.1:5001 is a name that is not known there (DNS)',
  ]);
  assert.match(away({ dialled: dialled('ETIMEDOUT', 'ok') })[0] ?? '', /reaches the head's port/);
  const problem = { what: 'not looked at: Permission denied', remedy: 'Try' };
  const said = words([machine('lab1', null, { isUp: false }, { problem })]);
  assert.deepEqual(said, ['note lab1: not looked at: Permission denied']);
});
