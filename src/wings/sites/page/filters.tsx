// The filters of a site: how many things each rule is for, and how old what they read is.

import { ruleWarning } from '../../../kernel/model/filter-rule.ts';
import { Panel } from '../../../kernel/page/parts/basic.tsx';
import { some, spanWords } from '../../../kernel/page/pure/words.ts';
import type { SiteView } from '../api/sites.ts';

type State = NonNullable<SiteView['filters']>;

export function Filters({ filters: { rules, sources, problem } }: { filters: State }) {
  return (
    <Panel title={`Filters, ${some(rules.length, 'rule')}`}>
      {problem !== null && <p class="problem">{problem}</p>}
      <ul class="rows">
        {rules.map((rule) => (
          <li key={`${rule.over} ${rule.name}`}>
            {rule.name}{' '}
            <span class="faint">
              {rule.matched} of {rule.of} {rule.over}
            </span>{' '}
            {warningOf(rule) && <span class="state warn">{warningOf(rule)}</span>}
          </li>
        ))}
        {sources.map(({ name, ageMs, problem: why }) => (
          <li key={name}>
            {name}{' '}
            <span class="faint">
              {ageMs === null ? 'never read' : `read ${spanWords(ageMs)} ago`}
            </span>{' '}
            {why !== null && <span class="state bad">{why}</span>}
          </li>
        ))}
      </ul>
    </Panel>
  );
}

function warningOf(rule: State['rules'][number]): string | null {
  return ruleWarning(rule as Parameters<typeof ruleWarning>[0]);
}
