// The checksum of the wiki protocol, against vectors that Slurm's own code agrees with.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseWikiKey, wikiChecksum } from '../../../../../src/wings/wiki/fabric/checksum.ts';

/** Checked against Slurm's own code: key, what is signed, its checksum. */
const VECTORS = [
  [123456789, 'TS=922401962 AUTH=sched DT=CMD=GETNODES ARG=0:ALL', '26d86be44c2755c8'],
  [0, 'TS=0 AUTH=x DT=CMD=GETJOBS ARG=0:ALL', 'c3b842f818537742'],
  [42, 'TS=1000000000 AUTH=maui DT=CMD=GETNODES ARG=0:ALL', '4b30d6b8ea5615d1'],
  [42, 'TS=1000000000 AUTH=maui DT=CMD=STARTJOB ARG=7 TASKLIST=n1:n1', '28d8fd17782bf1aa'],
  [42, 'TS=1000000000 AUTH=maui DT=CMD=STARTJOB ARG=7 TASKLIST=n1:n1:n2', 'd73c45431edbeb9d'],
  [42, 'TS=1000000000 AUTH=rm DT=SC=-700 RESPONSE=No such job', 'd4c5ae0df2a3f725'],
  [
    42,
    'TS=1000000000 AUTH=rm DT=SC=0 ARG=1#n1:STATE=Idle;CPROC=2;CMEMORY=512;',
    '2e351645eef88c65',
  ],
  [0xdeadbeef, 'TS=1700000000 AUTH=root DT=SC=0 ARG=0#', 'a30247ab80f77134'],
] as const;

for (const [key, text, checksum] of VECTORS) {
  test(`the checksum of '${text}' under ${key} is ${checksum}`, () => {
    assert.equal(wikiChecksum(Buffer.from(text), key), checksum);
  });
}

test('a key is read as C reads a number of base 0', () => {
  assert.deepEqual(['42', '0x2A', '052', ' 0 ', '4294967295'].map(parseWikiKey), [
    ...[42, 42, 42, 0, 0xffff_ffff],
  ]);
  for (const wrong of ['', '4294967296', '-1', '09', '0x', '4 2', '1e3', 'secret']) {
    assert.equal(parseWikiKey(wrong), null, wrong);
  }
});
