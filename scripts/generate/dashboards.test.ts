import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { dashboards } from '../../dashboards/all.ts';
import { TAG } from '../../dashboards/dashboard.ts';
import { panelQueries, panelsOf, type PrometheusTarget } from '../../dashboards/queries.ts';
import { KEPT_METRICS } from '../../src/controllers/measurement/components/prometheusConfig.ts';
import { createRegistry } from '../../src/runtime/manager/metrics.ts';

const ALL = Object.values(dashboards());
const PANELS = ALL.flatMap((dashboard) =>
  panelsOf(dashboard).map((panel) => ({ where: `${dashboard.uid} / ${panel.title}`, dashboard, panel })),
);
const DATASOURCE = { type: 'prometheus', uid: '${datasource}' };
const VARIABLES = {
  job: 'j',
  namespace: 'n',
  trafficwatch: 't',
  stack: 's',
  node: 'x',
  __rate_interval: '1m',
  __interval: '15s',
  __range: '1h',
};

interface Rectangle {
  x: number;
  y: number;
  w: number;
  h: number;
}

const overlap = (a: Rectangle, b: Rectangle): boolean =>
  a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h;

describe('the dashboards', () => {
  it('keep their uids, which bookmarks and links lead to', () => {
    expect(ALL.map(({ uid }) => uid)).toEqual([
      'traffic-operator-nodes',
      'traffic-operator-trafficwatch',
      'traffic-operator-operator',
      'traffic-operator-connectivity',
      'traffic-operator-weights',
      'traffic-operator-stacks',
    ]);
  });

  it('are all in docs/dashboards.md', () => {
    const page = readFileSync(new URL('../../docs/dashboards.md', import.meta.url), 'utf8');
    expect([...page.matchAll(/^\| .*`\/d\/([\w-]+)`/gm)].map(([, uid]) => uid)).toEqual(ALL.map(({ uid }) => uid));
  });

  it.each(ALL)('$title has a tag, a link to the others and a variable for its datasource first', (dashboard) => {
    expect(dashboard.tags).toEqual([TAG]);
    expect(dashboard.links).toMatchObject([{ type: 'dashboards', tags: [TAG], includeVars: true, keepTime: true }]);
    expect(dashboard.templating.list?.[0]).toMatchObject({
      name: 'datasource',
      type: 'datasource',
      query: 'prometheus',
    });
    expect(dashboard.description).toMatch(/\.$/);
  });

  it.each(ALL)('$title shows its links above its panels', ({ links = [] }) => {
    for (const link of links) expect(link).not.toHaveProperty('placement');
  });

  it.each(ALL)('$title numbers its panels, rows included, and none lies on another', ({ panels = [] }) => {
    const ids = panels.map(({ id }) => id);
    expect(ids).toEqual(ids.map((_id, index) => index + 1));
    const places = panels.map(({ gridPos }) => gridPos!);
    for (const [index, place] of places.entries()) {
      expect(place.x + place.w).toBeLessThanOrEqual(24);
      expect(places.slice(index + 1).filter((other) => overlap(place, other))).toEqual([]);
    }
  });

  it.each(ALL)('$title leads to dashboards that are there, with variables they have', (dashboard) => {
    const urls = JSON.stringify(dashboard).matchAll(/"url":"(\/d\/[^"]*)"/g);
    for (const [, url = ''] of urls) {
      const target = ALL.find(({ uid }) => url.startsWith(`/d/${uid}?`));
      const names = target?.templating.list?.map(({ name }) => name);
      for (const [, name = ''] of url.matchAll(/[?&](?:var-(\w+)=)/g)) expect(names).toContain(name);
      for (const [, name = ''] of url.matchAll(/\$\{(\w+):queryparam\}/g)) expect(names).toContain(name);
      expect(url).toContain('${__url_time_range}');
    }
  });
});

describe('panels', () => {
  it.each(PANELS)('$where says what it is, in a unit, of the datasource that is chosen', ({ panel }) => {
    expect(panel.title).toBeTruthy();
    expect(panel.description).toMatch(/^[A-Z].*[.]$/);
    expect(panel.datasource).toEqual(DATASOURCE);
    expect(panel.fieldConfig?.defaults.unit).toMatch(/^(short|percentunit|Bps|s|bytes|ops|reqps|wps)$/);
    const targets = panel.targets as PrometheusTarget[];
    expect(targets.map(({ datasource }) => datasource)).toEqual(targets.map(() => DATASOURCE));
    expect(targets.map(({ refId }) => refId)).toEqual([...'ABCDEFGH'].slice(0, targets.length));
  });

  it.each(PANELS.filter(({ panel }) => /^(stat|bargauge|state-timeline|status-history)$/.test(panel.type)))(
    '$where has colours that say how bad it is',
    ({ panel }) => {
      const { thresholds, mappings } = panel.fieldConfig?.defaults ?? {};
      expect(thresholds?.steps[0]?.value === null || (mappings ?? []).length > 0).toBe(true);
    },
  );

  it('have no title twice in a dashboard', () => {
    const titles = PANELS.map(({ where }) => where);
    expect(new Set(titles).size).toBe(titles.length);
  });
});

/** Labels by metric name: all metrics from docs/metrics.md, the operator's process metrics, and the node metrics. */
function knownMetrics(): Map<string, string[]> {
  const text = readFileSync(new URL('../../docs/metrics.md', import.meta.url), 'utf8');
  const known = new Map<string, string[]>();
  for (const [, name = '', type, labels = ''] of text.matchAll(/^\| `(\w+)` \| (\w+) \| ([^|]*) \|/gm)) {
    const names = labels.split(',').flatMap((label) => /\w+/.exec(label) ?? []);
    if (type === 'histogram') {
      known
        .set(`${name}_bucket`, [...names, 'le'])
        .set(`${name}_count`, names)
        .set(`${name}_sum`, names);
    } else known.set(name, names);
  }
  known.set('up', []);
  for (const name of KEPT_METRICS) known.set(name, ['device', 'node']);
  // The deployed Prometheus keeps these metrics.
  for (const { name } of createRegistry().getMetricsAsArray()) {
    if (/^process_|^nodejs_eventloop_lag/.test(name)) known.set(name, []);
  }
  return known;
}

/** Labels that a scrape adds to every series; `plane` and `node` to the series of the connectivity agents. */
const OF_TARGETS = ['job', 'instance', 'pod', 'node', 'plane'];
const KNOWN = knownMetrics();
const SELECTOR = /(\w+)\{((?:[^}"]|"(?:[^"\\]|\\.)*")*)\}/g;
const MATCHER = /(\w+)(?:=~|!~|!=|=)"(?:[^"\\]|\\.)*"/g;

describe('queries', () => {
  it.each(panelQueries(VARIABLES))('$where asks for metrics and labels that are there', ({ expr }) => {
    const labels = new Set(OF_TARGETS);
    const selectors = [...expr.matchAll(SELECTOR)];
    expect(selectors.length).toBeGreaterThan(0);
    for (const [, metric = '', matchers = ''] of selectors) {
      const own = KNOWN.get(metric);
      expect(own, `${metric} is no metric`).toBeDefined();
      const used = [...matchers.matchAll(MATCHER)].map(([, label]) => label);
      expect([...own!, ...OF_TARGETS]).toEqual(expect.arrayContaining(used));
      for (const label of own!) labels.add(label);
    }
    const grouped = [...expr.matchAll(/\b(?:by|on) \(([^)]*)\)/g)].flatMap(([, list = '']) => list.match(/\w+/g) ?? []);
    expect([...labels]).toEqual(expect.arrayContaining(grouped));
    const outside = expr.replaceAll(SELECTOR, '').replaceAll(/"[^"]*"/g, '');
    expect(outside).not.toMatch(/traffic_operator_|ncagent_|node_network_|process_|nodejs_|\$/);
  });

  it('show every metric that the operator and the connectivity server have', () => {
    const shown = panelQueries(VARIABLES)
      .map(({ expr }) => expr)
      .join();
    const names = [...KNOWN.keys()].filter((name) => /^(traffic_operator|ncagent)_/.test(name));
    const hidden = names.filter((name) => !shown.includes(name) && !/_(sum|count)$/.test(name));
    expect(hidden).toEqual([]);
  });
});

it('names of lines have no labels but those that their series have', () => {
  for (const { where, panel } of PANELS) {
    for (const { expr, legendFormat = '' } of panel.targets as (PrometheusTarget & { legendFormat?: string })[]) {
      const kept = [...expr.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, list = '']) => list.match(/\w+/g) ?? []);
      const named = [...legendFormat.matchAll(/\{\{(\w+)\}\}/g)].map(([, label]) => label);
      expect(kept, where).toEqual(expect.arrayContaining(named));
    }
  }
});
