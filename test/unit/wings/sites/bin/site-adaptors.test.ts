// The table of systems that a gateway can drive.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Failure } from '../../../../../src/kernel/model/failure.ts';
import { SITE_SYSTEMS } from '../../../../../src/kernel/model/site.ts';
import { adaptorOf } from '../../../../../src/wings/sites/bin/site-adaptors.ts';
import { trySite } from '../../../../../src/wings/sites/bin/site-test.ts';
import type { SiteOptions } from '../../../../../src/wings/sites/config/site-options.ts';
import { siteOptions as options } from '../../../bin/support/site-options.ts';

test('each system of the configuration has its adaptor', () => {
  for (const system of SITE_SYSTEMS) assert.equal(adaptorOf(options({ system })).system, system);
});

test('a system that can only be submitted to is not steered', () => {
  assert.throws(
    () => adaptorOf(options({ system: 'lsf', mode: 'steer' })),
    /LSF can only be submitted to/,
  );
  assert.equal(adaptorOf(options({ system: 'sge', mode: 'steer' })).steering?.needsHandle, true);
});

test('a script site without a program says what to set', () => {
  assert.throws(
    () => adaptorOf(options({ system: 'script', program: [] })),
    /site.program is not set/,
  );
});

test('an account that Weft does not have is not left out in silence', () => {
  assert.throws(() => adaptorOf(options({ system: 'weft', account: 'wing' })), /has no accounts/);
});

test('a slurmrestd without an address, or with options of a command, is refused', () => {
  const rest = (some: Partial<SiteOptions>) =>
    adaptorOf(options({ system: 'slurmrestd', ...some }));
  assert.throws(() => rest({ url: null }), /site.url is not set/);
  assert.throws(() => rest({ options: ['--qos=low'] }), /is no field of a job; write qos=low/);
  assert.equal(rest({ options: ['qos=low'] }).system, 'slurmrestd');
});

test('a directory to try a site in that is missing is named, as an error of use', async () => {
  await assert.rejects(trySite(options({}), '/nowhere/at/all'), (error) => {
    assert.ok(error instanceof Failure && error.code === 'argument.invalid', String(error));
    return error.message.includes('/nowhere/at/all: no such file or directory');
  });
});
