import { expect, it } from 'vitest';
import type { ComponentSpec } from '../../../api/trafficstack/trafficStack.ts';
import type { KubeObject } from '../../../runtime/client/resource.ts';
import { DAEMONSETS, SERVICES } from '../../../runtime/client/resources.ts';
import type { StandIn } from '../../contract/builtIn.ts';
import type { Target } from '../decide/upgrade/target.ts';
import { NOW, REVISION, stackOf } from '../testing/stacks.ts';
import { observe, type Observed } from './observe.ts';

const object = (name: string): KubeObject => ({ metadata: { namespace: 'monitoring', name } });
const PROMETHEUS: StandIn = {
  ...{ resource: SERVICES, selectors: ['a=1'], sought: 'a Prometheus' },
  ...{ matches: () => true, problem: () => undefined },
  probe: { query: 'up', series: 'series', urlOf: () => 'http://prom' },
};
/** One that is found only beside a Prometheus of somebody else. */
const EXPORTER: StandIn = {
  ...{ resource: DAEMONSETS, sought: 'an exporter', problem: () => undefined },
  matches: (_, used) => used.has('Prometheus'),
};

function target(name: string, type: ComponentSpec['type'], standIn: StandIn): Target {
  const spec = { name, type, mode: 'External' } as const;
  return { spec, standIn, objects: [], variables: {}, revision: REVISION, canRollBack: false };
}

it.each([
  ['answers', undefined, ['exporter', 'prom']],
  // It is used all the same.
  ['does not answer', 'does not answer', ['exporter', 'prom']],
])('an exporter is looked for with regard to the Prometheus that is used, which %s', async (_, problem, found) => {
  const where = {
    strangers: {
      read: () => Promise.resolve(undefined),
      list: ({ kind }) => Promise.resolve([object(kind === 'Service' ? 'prom' : 'exporter')]),
    },
    probes: { problem: () => Promise.resolve(problem) },
    sightings: { of: () => ({ available: new Map(), settled: new Map() }) },
  } as Partial<Observed> as Observed;
  const components = [target('exporter', 'NodeExporter', EXPORTER), target('metrics', 'Prometheus', PROMETHEUS)];
  const seen = await observe(stackOf([]), { components, upgrade: {} }, where, NOW);
  expect(seen.components.map(({ objects }) => objects[0]?.live?.metadata?.name)).toEqual(found);
});
