// The service units, judged by systemd's own tools without a running systemd, and what they and the
// program must agree on.

import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { SYSTEM_SOCKET } from '../../src/kernel/connect/locate.ts';
import { missingPackages } from '../../tools/debian-packages.ts';
import { ROOT } from '../../tools/tree.ts';

const UNITS = join(ROOT, 'deploy', 'systemd');
const PROGRAM = join(ROOT, 'bin', 'weft.mjs');
/** In tenths; below 2.0 systemd calls a service well protected. */
const EXPOSURE_MAX = 20;
const lacksSystemd = missingPackages(['e2e']).some(({ name }) => name === 'systemd');
const skip = process.env['CI'] !== 'true' && lacksSystemd && 'needs systemd-analyze';

describe('the systemd units', { skip }, () => {
  const names = readdirSync(UNITS);
  let directory: string;

  // With the path of the program as it is here: that the program is there is checked, too.
  before(() => {
    directory = mkdtempSync(join(tmpdir(), 'weft-units-'));
    for (const name of names) {
      const text = readFileSync(join(UNITS, name), 'utf8');
      writeFileSync(join(directory, name), text.replaceAll('/usr/bin/weft', PROGRAM));
    }
  });
  after(() => rmSync(directory, { recursive: true, force: true }));

  it('there is one for the head, one for agents and one for the groups of jobs', () => {
    const wanted = ['weft-agent.service', 'weft-head.service', 'weft-jobs.service'];
    assert.deepEqual(names.sort(), wanted);
  });

  it('systemd reads them without an error or a warning', () => {
    for (const name of names) {
      const { status, said } = analyze('verify', '--man=no', join(directory, name));
      // It also names faults of other units of the machine; ours are what counts.
      const ours = said.split('\n').filter((line) => line.includes('weft'));
      assert.deepEqual(ours, [], name);
      assert.equal(status, 0, said);
    }
  });

  it('systemd finds a misspelt setting, so the test before can fail', () => {
    const file = join(directory, 'weft-wrong.service');
    writeFileSync(file, `[Service]\nExecStart=${PROGRAM} head\nKilMode=process\n`);
    assert.match(analyze('verify', '--man=no', file).said, /weft-wrong.*KilMode/s);
  });

  it('the head is confined', () => {
    const limit = `--threshold=${EXPOSURE_MAX}`;
    const unit = join(directory, 'weft-head.service');
    const { status, said } = analyze('security', '--offline=yes', '--no-pager', limit, unit);
    assert.equal(status, 0, said);
  });

  it('each starts a command that there is', () => {
    for (const name of names.filter(isProgram)) {
      const [command = ''] = settings(name, 'ExecStart');
      const [program, ...words] = command.split(' ');
      assert.equal(program, '/usr/bin/weft');
      execFileSync(process.execPath, [PROGRAM, ...words, '--help'], { stdio: 'ignore' });
    }
  });

  it('the head is no root, and may write where users look for its socket', () => {
    assert.deepEqual(settings('weft-head.service', 'User'), ['weft']);
    const [folder] = settings('weft-head.service', 'RuntimeDirectory');
    assert.equal(`/run/${folder}`, dirname(SYSTEM_SOCKET));
    assert.deepEqual(settings('weft-head.service', 'RuntimeDirectoryMode'), ['0755']);
    assert.deepEqual(settings('weft-head.service', 'RuntimeDirectoryPreserve'), ['restart']);
    // ProtectSystem=strict makes everything read-only that is not named.
    assert.deepEqual(settings('weft-head.service', 'ReadWritePaths'), ['/tmp']);
    assert.deepEqual(settings('weft-head.service', 'PrivateTmp'), []);
  });

  it('the head may give the socket of wiki.group to a group, and has no other privilege', () => {
    const allowed = new Set<string>();
    for (const line of settings('weft-head.service', 'SystemCallFilter')) {
      const [, not, name = ''] = /^(~?)(@[a-z-]+)$/.exec(line) ?? [];
      for (const call of callsOf(name)) {
        if (not === '~') allowed.delete(call);
        else allowed.add(call);
      }
    }
    for (const call of callsOf('@chown')) assert.ok(allowed.has(call), call);
    const others = callsOf('@privileged').filter((call) => !callsOf('@chown').includes(call));
    assert.deepEqual(
      others.filter((call) => allowed.has(call)),
      [],
    );
  });

  it('stopping an agent leaves its jobs alone, and they get control groups', () => {
    assert.deepEqual(settings('weft-agent.service', 'KillMode'), ['process']);
    assert.deepEqual(settings('weft-agent.service', 'Delegate'), ['yes']);
    assert.deepEqual(settings('weft-jobs.service', 'Delegate'), ['yes']);
  });

  it('each keeps its state where its settings say that it may', () => {
    for (const name of names.filter(isProgram)) {
      const [variables = ''] = settings(name, 'Environment');
      const [state = ''] = settings(name, 'StateDirectory');
      const [cache = ''] = settings(name, 'CacheDirectory');
      const wanted = `WEFT_DIR=/var/lib/${state} XDG_CACHE_HOME=/var/cache/${cache}`;
      assert.equal(variables, wanted, basename(name));
    }
  });
});

function analyze(...args: string[]): { status: number | null; said: string } {
  const { status, stdout, stderr, error } = spawnSync('systemd-analyze', args, {
    encoding: 'utf8',
  });
  if (error !== undefined) throw error;
  return { status, said: `${stdout}${stderr}` };
}

/** The system calls of a set of systemd.exec(5), and of the sets in it. */
function callsOf(set: string): string[] {
  const lines = analyze('syscall-filter', '--no-pager', set).said.split('\n').slice(1);
  const words = lines.map((line) => line.trim()).filter((word) => /^@?\w/.test(word));
  return words.flatMap((word) => (word.startsWith('@') ? callsOf(word) : [word]));
}

/** The unit of jobs runs nothing of ours: it keeps a group. */
function isProgram(unit: string): boolean {
  return unit !== 'weft-jobs.service';
}

/** All values of a setting, in order. */
function settings(unit: string, name: string): string[] {
  const lines = readFileSync(join(UNITS, unit), 'utf8').split('\n');
  return lines
    .filter((line) => line.startsWith(`${name}=`))
    .map((line) => line.slice(name.length + 1));
}
