// The dashboard and the rules in deploy/monitoring ask for figures that a head has.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { parse } from 'yaml';
import { ROOT } from '../../../../tools/tree.ts';
import { startWorld } from '../../kernel/head/http/fixture.ts';

const FOLDER = path.join(ROOT, 'deploy', 'monitoring');
const textOf = (name: string): string => readFileSync(path.join(FOLDER, name), 'utf8');

interface Rules {
  readonly groups: readonly {
    readonly rules: readonly {
      readonly record?: string;
      readonly alert?: string;
      readonly expr: string;
      readonly labels?: { readonly severity: string };
      readonly annotations?: { readonly summary: string; readonly remedy: string };
    }[];
  }[];
}

interface Dashboard {
  readonly panels: readonly {
    readonly id: number;
    readonly targets: readonly { readonly expr: string }[];
  }[];
}

/** Figures that are there only once a backup has been made. */
const LATER = ['weft_backup_last_timestamp_seconds'];

test('[Y9] each figure that the dashboard and the rules ask for is one that a head has', async (t) => {
  const { groups } = parse(textOf('weft.rules.yml')) as Rules;
  const rules = groups.flatMap((group) => group.rules);
  const { panels } = JSON.parse(textOf('grafana-dashboard.json')) as Dashboard;
  assert.equal(new Set(panels.map(({ id }) => id)).size, panels.length);
  for (const { alert, labels, annotations } of rules) {
    if (alert === undefined) continue;
    assert.ok(['page', 'look'].includes(labels?.severity ?? ''), alert);
    assert.ok(annotations?.summary && annotations.remedy, alert);
  }
  const world = await startWorld(t);
  const figures = await world.admin.stream('metrics');
  const text = Buffer.concat(await figures.toArray()).toString();
  const named = [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].flatMap(([, name = '', type]) =>
    type === 'histogram' ? [`${name}_bucket`, `${name}_sum`, `${name}_count`] : [name],
  );
  const recorded = rules.flatMap(({ record }) => record ?? []);
  const known = new Set([...named, ...recorded, ...LATER]);
  const asked = [
    ...rules.map(({ expr }) => expr),
    ...panels.flatMap(({ targets }) => targets.map(({ expr }) => expr)),
  ];
  for (const expr of asked) {
    for (const [name] of expr.matchAll(/\b(weft|process)[_:][a-z0-9_:]+/g)) {
      assert.ok(known.has(name), `${name} of ${expr}`);
    }
  }
});
