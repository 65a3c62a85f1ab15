// What sites add to the web page.

import { useCall } from '../../../kernel/page/data/query.ts';
import { hrefOf } from '../../../kernel/page/data/route.ts';
import type { PagePart } from '../../../kernel/page/part.ts';
import { Bar, Command, Empty, Loaded } from '../../../kernel/page/parts/basic.tsx';
import { some } from '../../../kernel/page/pure/words.ts';
import { Site } from './site.tsx';
import { age, SITES_EVERY_MS, SiteState } from './state.tsx';
import '../api/paths.ts';

export const sitesPage: PagePart = {
  pages: [
    {
      path: 'sites',
      title: 'Sites',
      show: ([name]) => (name === undefined ? <Sites /> : <Site key={name} name={name} />),
    },
  ],
};

/** Other clusters behind gateways: how they are, and how old that is. */
function Sites() {
  const sites = useCall('listSites', {}, { everyMs: SITES_EVERY_MS });
  return (
    <div class="page">
      <div class="title">
        <h1>Sites</h1>
        <Command text="weft site list" />
      </div>
      <Loaded answer={sites}>
        {({ sites: all }) =>
          all.length === 0 ? (
            <Empty>
              No other cluster is behind this one. A gateway to a Slurm, Grid Engine or OAR is an
              agent with <code>node.site</code> in its configuration.
            </Empty>
          ) : (
            <table class="plain">
              <thead>
                <tr>
                  <th>Site</th>
                  <th>State</th>
                  <th class="spare">System</th>
                  <th class="number">Nodes up</th>
                  <th>Cpus</th>
                  <th class="number spare">Waiting</th>
                  <th class="number spare">Running</th>
                  <th class="spare">Facts</th>
                </tr>
              </thead>
              <tbody>
                {all.map((site) => (
                  <tr key={site.name}>
                    <td>
                      <a href={hrefOf(['sites', site.name])}>{site.name}</a>
                    </td>
                    <td>
                      <SiteState state={site.state} /> <span class="faint">{site.problem}</span>
                    </td>
                    <td class="spare">
                      {site.system}, {site.mode}
                    </td>
                    <td class="number">
                      {site.nodesUp}/{site.nodes}
                    </td>
                    <td>
                      {site.cpusUsed}/{site.cpus}{' '}
                      <Bar
                        part={site.cpusUsed}
                        whole={site.cpus}
                        label={`${site.cpusUsed} of ${some(site.cpus, 'cpu')} in use`}
                      />
                    </td>
                    <td class="number spare">{site.jobsWaiting}</td>
                    <td class="number spare">{site.jobsRunning}</td>
                    <td class="spare">{age(site.ageMs)}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          )
        }
      </Loaded>
    </div>
  );
}
