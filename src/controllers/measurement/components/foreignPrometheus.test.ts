import type { V1ServiceSpec } from '@kubernetes/client-node';
import { expect, it } from 'vitest';
import { FOREIGN_PROMETHEUS } from './builtIns.ts';

const NONE: ReadonlySet<never> = new Set();
const service = (spec: V1ServiceSpec) => ({ metadata: { namespace: 'monitoring', name: 'prom' }, spec });

it.each<[string, V1ServiceSpec, number | undefined]>([
  ['of prometheus-operator', { clusterIP: 'None', ports: [{ name: 'web', port: 9090 }] }, 9090],
  [
    'of the helm chart kube-prometheus-stack',
    {
      ports: [
        { name: 'reloader-web', port: 8080 },
        { name: 'http-web', port: 9090 },
      ],
    },
    9090,
  ],
  ['of the helm chart prometheus', { ports: [{ name: 'http', port: 80 }] }, 80],
  ['without a name of its port', { ports: [{ port: 9090 }] }, 9090],
  ['with other ports', { ports: [{ name: 'grpc', port: 10901 }] }, undefined],
  ['without ports', {}, undefined],
  ['elsewhere', { type: 'ExternalName', externalName: 'x', ports: [{ name: 'web', port: 9090 }] }, undefined],
])('a Service is asked at the port of the API: %s', (_, spec, port) => {
  const live = service(spec);
  expect(FOREIGN_PROMETHEUS.matches(live, NONE)).toBe(port !== undefined);
  if (port !== undefined) expect(FOREIGN_PROMETHEUS.probe?.urlOf(live)).toBe(`http://prom.monitoring.svc:${port}`);
});
