import type { V1ConfigMap } from '@kubernetes/client-node';
import { describe, expect, it } from 'vitest';
import type { CommonSpec, ComponentSpec } from '../../../api/trafficstack/trafficStack.ts';
import { TRAFFIC_WEIGHTS } from '../../../api/trafficweight/trafficWeight.ts';
import { DAEMONSETS, DEPLOYMENTS, SERVICES } from '../../../runtime/client/resources.ts';
import type { BuiltIn } from '../../contract/builtIn.ts';
import { component, stackOf } from '../testing/stacks.ts';
import { mayApply } from './objects.ts';
import { renderStack } from './stack.ts';

const LABELS = { app: 'server', 'app.kubernetes.io/managed-by': 'traffic-operator' };
const metadata = { namespace: 'op', name: 'server', labels: LABELS };
const template = { metadata: { labels: LABELS }, spec: { containers: [{ name: 'server', image: 'server:1' }] } };
const ports = [
  { name: 'web', port: 9090, targetPort: 'http' },
  { name: 'admin', port: 9091 },
];
const SERVER: BuiltIn = {
  type: 'Prometheus',
  fieldManager: 'measurement',
  isDeployed: true,
  render: ({ prometheus }) => [
    { resource: SERVICES, object: { metadata, spec: { selector: LABELS, ports } } as object },
    {
      resource: DEPLOYMENTS,
      object: {
        metadata,
        spec: { replicas: prometheus?.image === undefined ? 1 : 2, selector: { matchLabels: LABELS }, template },
      } as object,
    },
  ],
};
const AGENT: BuiltIn = {
  type: 'NodeExporter',
  fieldManager: 'measurement',
  isDeployed: true,
  problem: 'there are no nodes',
  render: () => [{ resource: DAEMONSETS, object: { metadata, spec: { template } } as object }],
};
/** Cluster-scoped, and applied by no controller itself. */
const WEIGHTS: BuiltIn = {
  ...{ type: 'Weights', isDeployed: false },
  render: ({ name }) => [{ resource: TRAFFIC_WEIGHTS, object: { metadata: { name } } }],
};
const PROMETHEUS: ComponentSpec = { name: 'metrics', type: 'Prometheus' };

function render(components: readonly ComponentSpec[], builtIns: readonly BuiltIn[] = [SERVER, AGENT]) {
  return renderStack(stackOf([]), {}, components, { countNodes: () => 1, builtIns });
}

function rendered(...args: Parameters<typeof render>) {
  const result = render(...args);
  if ('problems' in result) throw new Error(result.problems.join());
  return result.components;
}

describe('a built-in component', () => {
  it('is refused with settings that do not fit the flags, unless another owner makes it', () => {
    const builtIns: BuiltIn[] = [{ ...SERVER, problemOf: ({ prometheus }) => prometheus?.retention && 'too short' }];
    const settings = { ...PROMETHEUS, prometheus: { retention: '2h' } };
    expect(render([settings], builtIns)).toEqual({ problems: ['component metrics: too short'] });
    expect(render([{ ...settings, mode: 'External' }], builtIns)).not.toHaveProperty('problems');
    expect(render([PROMETHEUS], builtIns)).not.toHaveProperty('problems');
  });

  it('has the labels and the owner of the stack on its objects, and nowhere else: its pods are not replaced', () => {
    const [server] = rendered([PROMETHEUS]);
    const stackLabels = { 'traffic.example.com/stack': 'main', 'traffic.example.com/component': 'metrics' };
    const owner = { kind: 'TrafficStack', name: 'main', uid: 'stack-uid', controller: true };
    expect(server?.objects).toMatchObject(
      SERVER.render(PROMETHEUS).map(({ resource, object }) => ({
        ...{ resource, fieldManager: 'measurement' },
        object: {
          ...object,
          metadata: { ...metadata, labels: { ...LABELS, ...stackLabels }, ownerReferences: [owner] },
        },
      })),
    );
    for (const [index, { object }] of SERVER.render(PROMETHEUS).entries()) {
      expect({ ...server?.objects[index]?.object, metadata: {} }).toEqual({ ...object, metadata: {} });
    }
  });

  it('has the address and the ports of its Service, for the files of others', () => {
    const files = {
      a: '${components.metrics.addresses[0]}:${components.metrics.port} ${components.metrics.ports.admin}',
    };
    const config = [{ name: 'etc', mountPath: '/etc', files }];
    const { workload } = component('web');
    const web = component('web', { dependsOn: ['metrics'], workload: { ...workload, config } });
    const map = rendered([PROMETHEUS, web])[1]?.objects.find(({ resource }) => resource.kind === 'ConfigMap');
    expect(map?.object).toMatchObject({ data: { a: 'server.op.svc:9090 9091' } });
  });

  it('that no controller applies itself is of the stack alone, also without a namespace', () => {
    const [dns] = rendered([{ name: 'dns', type: 'Weights' }], [WEIGHTS]);
    expect(dns?.objects.map(({ fieldManager }) => fieldManager)).toEqual([undefined]);
    const { metadata: found } = dns?.objects[0]?.object ?? {};
    expect(found).toMatchObject({ name: 'dns', labels: { 'traffic.example.com/component': 'dns' } });
    expect(found).not.toHaveProperty('namespace');
  });

  it('has another revision with another setting, and with an operator that renders other objects', () => {
    const revisionOf = (over: Partial<ComponentSpec>, builtIn = SERVER) =>
      rendered([{ ...PROMETHEUS, ...over }], [builtIn])[0]?.revision;
    const before = revisionOf({});
    expect(revisionOf({ mode: 'Managed' })).toBe(before);
    expect(revisionOf({ prometheus: { image: 'x' } })).not.toBe(before);
    expect(revisionOf({ deadline: '1m' })).not.toBe(before);
    expect(revisionOf({}, { ...SERVER, render: (spec) => SERVER.render(spec).slice(1) })).not.toBe(before);
  });

  it('is rendered with what is common to the stack, which is part of its revision', () => {
    const builtIn: BuiltIn = {
      ...SERVER,
      render: (_, common) => [{ resource: DEPLOYMENTS, object: { metadata, spec: common } as object }],
    };
    const one = (common?: CommonSpec) => {
      const over = common === undefined ? {} : { common };
      const result = renderStack(stackOf([]), over, [PROMETHEUS], { countNodes: () => 1, builtIns: [builtIn] });
      return 'problems' in result ? undefined : result.components[0];
    };
    const common = { priorityClassName: 'high' };
    expect(one(common)?.objects[0]?.object).toMatchObject({ spec: common });
    expect(one(common)?.revision).not.toBe(one()?.revision);
    expect(one({})?.revision).toBe(one()?.revision);
  });

  describe('that another owner may have made', () => {
    const externalProvider = ({ prometheus }: ComponentSpec) => {
      const sought = `a server with the image ${prometheus?.image ?? 'server:1'}`;
      return { resource: DEPLOYMENTS, sought, matches: () => false, problem: () => undefined };
    };
    const one = (
      mode: ComponentSpec['mode'],
      over: Partial<ComponentSpec> = {},
      builtIn: BuiltIn = { ...SERVER, externalProvider },
    ) => rendered([{ ...PROMETHEUS, mode, ...over }], [builtIn])[0];

    it('has no objects with the mode External, and its own with Auto', () => {
      const stableFacts = (['Managed', 'Auto', 'External'] as const).map((mode) => {
        const { objects = [], externalProvider: found } = one(mode) ?? {};
        return [mode, objects.length, found?.sought];
      });
      const sought = 'a server with the image server:1';
      expect(stableFacts).toEqual([
        ['Managed', 2, undefined],
        ['Auto', 2, sought],
        ['External', 0, sought],
      ]);
    });

    it('has no address if it is no Service that is used, and its port', () => {
      expect(one('Auto')?.variables.self).toEqual({
        name: 'metrics',
        namespace: 'op',
        addresses: [],
        port: 9090,
        ports: { web: 9090, admin: 9091 },
      });
      expect(one('Managed')?.variables.self).toMatchObject({ addresses: ['server.op.svc'] });
    });

    describe('and that is asked at a URL', () => {
      const probe = { selectors: [], metric: 'up', series: 'series', urlOf: () => '' };
      const server: BuiltIn = { ...SERVER, externalProvider: (spec) => ({ ...externalProvider(spec), probe }) };
      const files = { a: '${components.metrics.addresses[0]}:${components.metrics.ports.admin}' };
      const { workload } = component('web');
      const config = [{ name: 'etc', mountPath: '/etc', files }];
      const web = component('web', { dependsOn: ['metrics'], workload: { ...workload, config } });
      const renderedWith = (mode: ComponentSpec['mode'], url?: string) => {
        const used = { kind: 'Service', namespace: 'monitoring', name: 'prom', ...(url !== undefined && { url }) };
        const result = renderStack(stackOf([]), {}, [{ ...PROMETHEUS, mode }, web], {
          ...{ countNodes: () => 1, builtIns: [server], used: new Map([['metrics', used]]) },
        });
        if ('problems' in result) throw new Error(result.problems.join());
        const [metrics, reader] = result.components;
        const map = reader?.objects.find(({ resource }) => resource.kind === 'ConfigMap')?.object;
        return { self: metrics?.variables.self, data: (map as V1ConfigMap).data, revision: reader?.revision };
      };
      const OWN_PORTS = { web: 9090, admin: 9091 };

      it.each([
        ['Auto', undefined, 'server.op.svc', 9090, OWN_PORTS],
        // Until one is found, and for the sake of the expressions: what depends on it waits.
        ['External', undefined, 'server.op.svc', 9090, OWN_PORTS],
        ['Auto', 'http://prom.monitoring.svc:9999', 'prom.monitoring.svc', 9999, { web: 9999, admin: 9999 }],
        ['External', 'http://prom.monitoring.svc:80', 'prom.monitoring.svc', 80, { web: 80, admin: 80 }],
      ] as const)('has with %s and the URL %s the address %s and the port %d', (mode, url, host, port, ports) => {
        const { self, data } = renderedWith(mode, url);
        const namespace = url === undefined ? 'op' : 'monitoring';
        expect(self).toMatchObject({ name: 'metrics', namespace, service: host, addresses: [host], port, ports });
        expect(data).toEqual({ a: `${host}:${ports.admin}` });
      });

      it('is no other version of its dependents if another server is used', () => {
        const { revision } = renderedWith('Auto');
        expect(renderedWith('Auto', 'http://prom.monitoring.svc:9999').revision).toBe(revision);
      });
    });

    it('has another revision if something else is looked for, and not with an operator that renders other objects', () => {
      const before = one('External')?.revision;
      expect(one('External', { prometheus: { image: 'x' } })?.revision).not.toBe(before);
      const other = { ...SERVER, externalProvider, render: (spec: ComponentSpec) => SERVER.render(spec).slice(1) };
      expect(one('External', {}, other)?.revision).toBe(before);
      expect(one('Auto')?.revision).toBe(one('Managed')?.revision);
    });
  });

  it.each<[string, ComponentSpec, readonly BuiltIn[], string]>([
    ['is not offered', PROMETHEUS, [], 'component metrics: this operator has no type Prometheus'],
    ['cannot be here', { name: 'agent', type: 'NodeExporter' }, [AGENT], 'component agent: there are no nodes'],
    [
      'has an expression that is none',
      { ...PROMETHEUS, ready: { expression: 'nothing' } },
      [SERVER],
      'component metrics, ready.expression: Unknown variable: nothing',
    ],
  ])('that %s is reported', (_, spec, builtIns, problem) => {
    expect(render([spec], builtIns)).toEqual({ problems: [expect.stringContaining(problem)] });
  });
});

describe('an object that exists', () => {
  const controlledBy = (uid: string) => [{ apiVersion: 'v1', kind: 'X', name: 'x', uid, controller: true }];
  const deployment = [{ apiVersion: 'apps/v1', kind: 'Deployment', name: 'traffic-operator', uid: 'operator' }];
  const applied = { 'traffic.example.com/applied-hash': 'x' };
  it.each<[string, object | undefined, boolean, boolean]>([
    ['nothing', undefined, true, true],
    ['an object of the stack', { ownerReferences: controlledBy('stack-uid') }, true, true],
    ['an object of this operator', { labels: LABELS, ownerReferences: deployment }, false, true],
    ['an object of this operator without its labels', { annotations: applied }, false, true],
    ['an object of another stack', { labels: LABELS, ownerReferences: controlledBy('other') }, false, false],
    ['an object of another owner', { labels: { app: 'server' } }, false, false],
  ])('is applied by a stack, or not: %s', (_, found, isWorkloads, isBuiltIns) => {
    const live = found && { metadata: found };
    expect(mayApply({ live }, stackOf([]))).toBe(isWorkloads);
    expect(mayApply({ live, fieldManager: 'measurement' }, stackOf([]))).toBe(isBuiltIns);
  });
});
