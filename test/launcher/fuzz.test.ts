// Mutated frames against the sanitized launcher. The build (WEFT_FUZZ) starts no program, opens no
// file and sends no signal, so whatever a mutation asks for is harmless.
// WEFT_FUZZ_SEED repeats a run.

import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { RequestWriter } from '../../src/kernel/agent/launcher-wire.ts';
import { FRAME_BYTES_MAX } from '../../src/kernel/ports/launcher-frames.ts';
import { compileLauncher, frameOf, Launcher, newFolder, SANITIZED, sweep } from './harness.ts';

const RUN_MS = 10_000;

after(sweep);

/** Mulberry32: small, seeded, good enough to vary bytes. */
function chance(seed: number): (below: number) => number {
  let state = seed >>> 0;
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

/** One valid frame of a drawn kind; none can turn into a shutdown, which would rightly end
 * the launcher, by being read a few bytes off. */
function validFrame(draw: (below: number) => number): Buffer {
  const writer = new RequestWriter();
  const id = draw(50);
  const text = (): string => 'x'.repeat(draw(40));
  const texts = (): string[] => Array.from({ length: draw(6) }, text);
  const kinds = [
    () => writer.hello(),
    () => writer.signal(id, draw(65)),
    () => writer.forget(id),
    () => writer.list(),
    () => writer.leftovers(id),
    () => writer.heard(draw(2) ? draw(1_000_000) : 2 ** 40),
    () =>
      writer.spawn({
        ...frameOf({ id, argv: texts() }),
        environment: [`WEFT_LAUNCH=${text()}`, ...texts()],
        setIds: draw(2) ? { uid: draw(9), gid: draw(9), groups: [100, draw(99)] } : null,
        limits: [{ resource: draw(20), soft: 1000 + draw(1000), hard: Infinity }],
        cgroupProcs: texts(),
        makeParents: draw(2) === 1,
        leaseMs: draw(2) ? 1 + draw(3000) : null,
      }),
  ];
  kinds[Math.min(draw(kinds.length + 4), kinds.length - 1)]?.();
  return Buffer.from(writer.take());
}

const INTERESTING = [0, 1, 4, 0x7f, 0x80, 0xff];
const FRAME_SHUTDOWN = 6;

function mutate(frame: Buffer, draw: (below: number) => number): Buffer {
  let bytes = Buffer.from(frame);
  for (let count = draw(4); count > 0; count--) {
    const at = draw(bytes.length);
    const how = draw(4);
    if (how === 0) bytes[at] = draw(256);
    else if (how === 1) bytes[at] = INTERESTING[draw(INTERESTING.length)] ?? 0;
    else if (how === 2) bytes = Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + 1)]);
    else bytes = Buffer.concat([bytes.subarray(0, at), Buffer.of(draw(256)), bytes.subarray(at)]);
    if (bytes.length < 6) break;
  }
  // Half the time the length is made right again, so that the payload's own checks are reached.
  if (bytes.length > 4 && draw(2)) bytes.writeUInt32LE(bytes.length - 4, 0);
  if (bytes[4] === FRAME_SHUTDOWN) bytes[4] = 0;
  return bytes;
}

/** Fills the frame that a mutated length left open, then is a length that can only be refused. */
function tailFor(bytes: Buffer): Buffer {
  const padded = Buffer.concat([bytes, Buffer.alloc(4)]);
  let at = 0;
  while (at < bytes.length) {
    const length = padded.readUInt32LE(at);
    if (length === 0 || length > FRAME_BYTES_MAX) break;
    at += 4 + length;
  }
  return Buffer.alloc(Math.max(0, at - bytes.length) + 8);
}

test('mutated frames neither crash the launcher nor make it leak', async (t) => {
  const seed = Number(process.env['WEFT_FUZZ_SEED'] ?? Date.now() % 1_000_000_000);
  t.diagnostic(`WEFT_FUZZ_SEED=${seed}`);
  const draw = chance(seed);
  const folder = newFolder();
  const launcher = new Launcher(
    compileLauncher(join(folder, 'fuzz'), [...SANITIZED, '-DWEFT_FUZZ']),
  );
  const deadline = performance.now() + RUN_MS;
  let frames = 0;
  let refusals = 0;
  while (performance.now() < deadline) {
    const socket = await launcher.socket();
    socket.on('data', (bytes: Buffer) => {
      refusals += bytes.includes('malformed') || bytes.includes('out of bounds') ? 1 : 0;
    });
    socket.on('error', () => socket.destroy());
    const hello = new RequestWriter();
    hello.hello();
    const batch = Array.from({ length: 1 + draw(20) }, () => mutate(validFrame(draw), draw));
    const bytes = Buffer.concat([hello.take(), ...batch]);
    socket.write(Buffer.concat([bytes, tailFor(bytes)]));
    frames += batch.length;
    await new Promise((resolve) => socket.once('close', resolve));
    assert.equal(launcher.process.exitCode ?? launcher.process.signalCode, null, launcher.errors);
  }
  t.diagnostic(`${frames} frames, ${refusals} connections refused`);
  const { code, errors } = await launcher.end();
  rmSync(folder, { recursive: true });
  assert.deepEqual({ code, errors }, { code: 0, errors: '' });
  assert.ok(refusals > 0);
});
