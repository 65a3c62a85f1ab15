// The detectors of whoever uses this machine: real terminals, files as the kernel and logind
// write them, and what each of them says where it sees nothing.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  closeSync,
  constants,
  mkdirSync,
  mkdtempSync,
  openSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import { systemClock } from '../../../../../src/kernel/os/clock.ts';
import {
  type Detector,
  type Instant,
  readOrNull,
} from '../../../../../src/wings/owner/os/detector.ts';
import {
  bitsOf,
  inputDevices,
  isForPeople,
} from '../../../../../src/wings/owner/os/input-devices.ts';
import { countsOf, interrupts } from '../../../../../src/wings/owner/os/interrupts.ts';
import { logind, personIn } from '../../../../../src/wings/owner/os/logind.ts';
import {
  displays,
  presenceOf,
  systemPresence,
} from '../../../../../src/wings/owner/os/presence.ts';
import { terminals } from '../../../../../src/wings/owner/os/terminals.ts';
import { utmp } from '../../../../../src/wings/owner/os/utmp.ts';
import type { Sign } from '../../../../../src/wings/owner/ports/presence.ts';
import { openTerminal } from '../../../../support/terminal.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'weft-presence-'));
const NOWHERE = path.join(folder, 'nowhere');
after(() => rmSync(folder, { recursive: true }));

function now(): Instant {
  return { at: Date.now(), monotonic: performance.now() };
}

function made(name: string): string {
  const directory = path.join(folder, name);
  mkdirSync(directory, { recursive: true });
  return directory;
}

function only(signs: readonly Sign[], kind: Sign['kind']): Sign[] {
  return signs.filter((sign) => sign.kind === kind);
}

/** When a detector saw input last, in ms ago. */
function agoMs(signs: readonly Sign[], at: Instant): number | null {
  const [sign] = only(signs, 'input');
  assert.ok(sign?.kind === 'input');
  return sign.last === null ? null : at.monotonic - sign.last.monotonic;
}

function whyBlind(detector: Detector): string {
  const [sign] = only(detector.look(now()), 'blind');
  assert.ok(sign?.kind === 'blind');
  return sign.why;
}

async function until<T>(what: () => T | null): Promise<T> {
  for (const end = performance.now() + 20_000; performance.now() < end; ) {
    const found = what();
    if (found !== null) return found;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error('it never came');
}

test('[O6] what is typed into a real terminal is seen, and when', async () => {
  const terminal = await openTerminal();
  const { name } = terminal;
  try {
    const long = new Date(Date.now() - 3_600_000);
    utimesSync(`/dev/${name}`, long, long);
    const detector = terminals({ directory: '/dev', ours: () => new Set() });
    detector.look(now());
    terminal.type('x\n');
    await until(() => {
      const at = now();
      const [sign] = only(detector.look(at), 'input');
      assert.ok(sign?.kind === 'input' && sign.last !== null);
      // The kernel notes it to eight seconds.
      const isNew = at.monotonic - sign.last.monotonic < 20_000;
      return isNew && sign.what === `keyboard on ${name}` ? sign : null;
    });
  } finally {
    await terminal.close();
  }
});

test("[O6] the terminals of tasks are not the owner's", async () => {
  const terminal = await openTerminal();
  const { name } = terminal;
  try {
    const { rdev } = statSync(`/dev/${name}`);
    const fresh = (): Sign[] =>
      terminals({ directory: '/dev', ours: () => new Set([rdev]) }).look(now());
    const [sign] = only(fresh(), 'input');
    assert.ok(sign?.kind === 'input' && sign.what !== `keyboard on ${name}`);
  } finally {
    await terminal.close();
  }
});

test('[O6] terminals: a wall clock that was set hides no input and makes none', () => {
  const directory = made('dev');
  made('dev/pts');
  const tty = path.join(directory, 'tty2');
  writeFileSync(tty, '');
  const touch = (atMs: number): void => utimesSync(tty, atMs / 1000, atMs / 1000);
  const detector = terminals({ directory, ours: () => new Set() });
  const day = 86_400_000;
  touch(10 * day);
  assert.equal(
    agoMs(detector.look({ at: 10 * day + 60_000, monotonic: 99_000 }), {
      at: 0,
      monotonic: 99_000,
    }),
    60_000,
  );
  // Set back by a day; nothing is typed.
  const later = { at: 9 * day, monotonic: 100_000 };
  assert.equal(agoMs(detector.look(later), later), 61_000);
  touch(9 * day + 1000);
  const typed = { at: 9 * day + 5000, monotonic: 105_000 };
  assert.equal(agoMs(detector.look(typed), typed), 4000);
  // Set forward by three days, between the key and the look.
  touch(9 * day + 6000);
  const forward = { at: 12 * day, monotonic: 110_000 };
  assert.equal(agoMs(detector.look(forward), forward), 0);
  // A time in the future means nothing at the first look.
  const first = terminals({ directory, ours: () => new Set() });
  assert.equal(agoMs(first.look({ at: day, monotonic: 5 }), { at: day, monotonic: 5 }), null);
});

test('[O7] terminals that cannot be listed are said', () => {
  const why = whyBlind(terminals({ directory: NOWHERE, ours: () => new Set() }));
  assert.match(why, /nowhere\/pts cannot be read: it is not there \(ENOENT\)|in a container/);
});

/** A keyboard that the test types on, as the kernel describes one; its device is a pipe. */
function fakeKeyboard(): { places: { devices: string; described: string }; press: () => void } {
  const devices = made('input');
  const described = made('class');
  const keys = '402000000 3803078f800d001 feffffdfffefffff fffffffffffffffe';
  for (const [event, name, key] of [
    ['event0', 'Power Button', '10000000000000 0'],
    ['event3', 'AT Translated Set 2 keyboard', keys],
  ] as const) {
    mkdirSync(path.join(described, event, 'device/capabilities'), { recursive: true });
    writeFileSync(path.join(described, event, 'device/name'), `${name}\n`);
    writeFileSync(path.join(described, event, 'device/capabilities/key'), `${key}\n`);
  }
  execFileSync('mkfifo', [path.join(devices, 'event3')]);
  const file = openSync(path.join(devices, 'event3'), constants.O_RDWR | constants.O_NONBLOCK);
  after(() => closeSync(file));
  return { places: { devices, described }, press: () => void writeSync(file, Buffer.alloc(72)) };
}

test('[O6] a key is seen at the next look, once, and what it was is not kept', () => {
  const { places, press } = fakeKeyboard();
  const detector = inputDevices(places);
  const at = now();
  assert.equal(agoMs(detector.look(at), at), null);
  press();
  const typed = now();
  const signs = detector.look(typed);
  assert.deepEqual(signs, [
    { kind: 'input', by: 'input devices', what: 'AT Translated Set 2 keyboard', last: typed },
  ]);
  const later = now();
  assert.ok((agoMs(detector.look(later), later) ?? 0) > 0);
  detector.close?.();
});

test('[O7] devices that cannot be opened are named with the reason', () => {
  const { described } = { described: path.join(folder, 'class') };
  const why = whyBlind(inputDevices({ devices: path.join(folder, 'none'), described }));
  assert.match(
    why,
    /none cannot be read: it is not there \(ENOENT\); AT Translated Set 2 keyboard$/,
  );
  assert.deepEqual(inputDevices({ devices: NOWHERE, described: NOWHERE }).look(now()), [
    { kind: 'input', by: 'input devices', what: 'no keyboard or mouse', last: null },
  ]);
});

test('[O6] keyboards, mice and pads are for people; power buttons and sensors are not', () => {
  const is = (key: string): boolean => {
    const directory = made('capabilities');
    writeFileSync(path.join(directory, 'key'), key);
    return isForPeople(directory);
  };
  // BTN_LEFT of a mouse, BTN_TOUCH of a pad, the power button, a lid.
  assert.equal(is('1f0000 0 0 0 0'), true);
  assert.equal(is('e520 10000 0 0 0 0'), true);
  assert.equal(is('10000000000000 0'), false);
  assert.equal(is('0'), false);
  assert.equal(is('not hexadecimal'), false);
  assert.deepEqual([...bitsOf('3 8000000000000001')], [0, 63, 64, 65]);
});

const INTERRUPTS = `            CPU0       CPU1
   1:          9          2  IR-IO-APIC    1-edge      i8042
   8:          1          0  IR-IO-APIC    8-edge      rtc0
 131:          0         40  IR-PCI-MSI-0000:00:15.0    0-edge      i2c_designware.0
 140:          7          0  intel-gpio   3  ELAN0412:00
NMI:          0          0   Non-maskable interrupts
`;

test('[O6] interrupts of the keyboard are seen, from one look to the next', () => {
  const file = path.join(folder, 'interrupts');
  writeFileSync(file, INTERRUPTS);
  const detector = interrupts(file);
  const at = now();
  assert.equal(agoMs(detector.look(at), at), null);
  writeFileSync(file, INTERRUPTS.replace('   2  IR', '   3  IR'));
  const typed = now();
  const [sign] = only(detector.look(typed), 'input');
  assert.ok(sign?.kind === 'input');
  assert.equal(sign.last, typed);
  assert.equal(sign.what, 'i8042 (interrupt 1)');
  assert.deepEqual([...countsOf(INTERRUPTS).values()], [11, 7]);
});

test('[O7] a machine without such interrupts says so, and so does a hidden file', () => {
  const file = path.join(folder, 'other');
  writeFileSync(file, '     CPU0\n  8:   1   IO-APIC   8-edge   rtc0\n');
  assert.match(whyBlind(interrupts(file)), /^no interrupt is a keyboard's or a mouse's alone/);
  assert.match(whyBlind(interrupts(NOWHERE)), /cannot be read: it is not there/);
});

const SESSION =
  'UID=1000\nUSER=alice\nACTIVE=1\nSTATE=active\nREMOTE=0\nTYPE=tty\nCLASS=user\nTTY=tty2\n';

test('[O6] logind: people who are there, from where; no greeter, nobody who is leaving', () => {
  assert.deepEqual(personIn(SESSION), ['alice on tty2']);
  assert.deepEqual(personIn(`${SESSION.replace('tty2', 'pts/0')}REMOTE_HOST=far\n`), [
    'alice on pts/0 from far',
  ]);
  assert.deepEqual(personIn(SESSION.replace('CLASS=user', 'CLASS=greeter')), []);
  assert.deepEqual(personIn(SESSION.replace('STATE=active', 'STATE=closing')), []);
  const directory = made('systemd');
  assert.match(whyBlind(logind(directory)), /^no logind runs/);
  made('systemd/sessions');
  made('systemd/seats');
  writeFileSync(path.join(directory, 'seats/seat0'), '');
  assert.deepEqual(logind(directory).look(now()), [{ kind: 'sessions', by: 'logind', who: [] }]);
  writeFileSync(path.join(directory, 'sessions/3'), SESSION);
  writeFileSync(path.join(directory, 'sessions/3.ref'), '');
  assert.deepEqual(logind(directory).look(now()), [
    { kind: 'sessions', by: 'logind', who: ['alice on tty2'] },
  ]);
});

/** A record of utmp(5), made by Python's packer and read by who(1) too. */
function writeUtmp(file: string): void {
  const program = `
import struct, sys
def record(kind, pid, line, user, host):
    return struct.pack('<hhi32s4s32s256shhiii4i20s', kind, 0, pid, line, b'1', user, host, 0, 0, 0, 1700000000, 0, 0, 0, 0, 0, b'')
open(sys.argv[1], 'wb').write(
    record(2, 0, b'~', b'reboot', b'6.1') + record(7, 41, b'tty2', b'alice', b'') +
    record(7, 42, b'pts/1', b'bob', b'far.example') + record(7, 43, b'pts/2', b'carol', b'') +
    record(8, 41, b'pts/3', b'dave', b''))`;
  execFileSync('python3', ['-c', program, file]);
}

test('[O6] utmp: the same people as who(1) tells, but for those whose session has died', () => {
  const file = path.join(folder, 'utmp');
  writeUtmp(file);
  const [sign] = utmp(file, (pid) => pid !== 43).look(now());
  assert.deepEqual(sign, {
    kind: 'sessions',
    by: 'utmp',
    who: ['alice on tty2', 'bob on pts/1 from far.example'],
  });
  const told = execFileSync('who', [file], { encoding: 'utf8' }).trim().split('\n');
  const [everybody] = utmp(file, () => true).look(now());
  assert.ok(everybody?.kind === 'sessions');
  assert.deepEqual(
    told.map((line) => line.split(/\s+/).slice(0, 2).join(' on ')).sort(),
    everybody.who.map((who) => who.split(' from ')[0]),
  );
});

test('[O7] utmp: a machine without it and a broken file are said', () => {
  assert.match(whyBlind(utmp(NOWHERE)), /it is not there/);
  const file = path.join(folder, 'broken');
  writeFileSync(file, 'x'.repeat(100));
  assert.match(whyBlind(utmp(file)), /its records are of an unknown form$/);
});

test('[O7] a display that no session reports from is said', () => {
  const directory = made('x11');
  writeFileSync(path.join(directory, 'X0'), '');
  const [sign] = displays(directory).look(now());
  assert.equal(sign?.by, 'display :0');
  assert.match(whyBlind(displays(directory)), /weft node watch-session/);
  assert.deepEqual(displays(NOWHERE).look(now()), []);
});

test('only what is wanted is looked at, and once for all nodes of a process', () => {
  let looks = 0;
  const counting = (of: Detector['of']): Detector => ({
    of,
    look: () => {
      looks += 1;
      return [];
    },
  });
  let time = 0;
  const clock = { now: () => time, monotonic: () => time };
  const presence = presenceOf([counting('input'), counting('load')], clock);
  presence.look(new Set(['input']));
  presence.look(new Set(['input']));
  assert.equal(looks, 1);
  presence.look(new Set(['input', 'load']));
  assert.equal(looks, 3);
  time += 5000;
  presence.look(new Set(['input', 'load']));
  assert.equal(looks, 5);
});

test('[O7] on this machine each detector gives an answer, whatever is missing here', () => {
  const presence = systemPresence(systemClock);
  const signs = presence.look(new Set(['input', 'sessions', 'load']));
  presence.close();
  const by = new Set(signs.map((sign) => sign.by));
  for (const name of ['input devices', 'interrupts', 'terminals', 'logind', 'utmp', 'load']) {
    assert.ok(by.has(name), name);
  }
});

test('a pipe, a device and a folder in the place of a file are not read', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'weft-read-'));
  after(() => rmSync(folder, { recursive: true }));
  const pipe = path.join(folder, 'pipe');
  execFileSync('mkfifo', [pipe]);
  for (const one of [pipe, '/dev/zero', folder]) assert.equal(readOrNull(one), null, one);
  assert.match(readOrNull('/proc/self/stat') ?? '', /^\d+ /);
  const file = path.join(folder, 'long');
  writeFileSync(file, 'x'.repeat(200_000));
  assert.equal(readOrNull(file)?.length, 200_000);
});
