import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TRAFFIC_WEIGHTS, type TrafficWeightSpec } from '../../../src/api/trafficweight/trafficWeight.ts';
import { startControlPlane, type ControlPlane } from '../../harness/controlPlane.ts';
import { installCrd, trafficWeightCrd } from '../../harness/customResource.ts';
import { connect, type Connected } from '../../harness/runtimeScene.ts';

let plane: ControlPlane;
let cluster: Connected;

beforeAll(async () => {
  plane = await startControlPlane();
  cluster = connect(plane);
  await installCrd(cluster.client, trafficWeightCrd(), TRAFFIC_WEIGHTS);
});
afterAll(async () => {
  await cluster.transport.close();
  await plane.stop();
});

const create = (name: string, spec: object) =>
  cluster.client.create(TRAFFIC_WEIGHTS, { metadata: { name }, spec: spec as TrafficWeightSpec });

describe('a spec', () => {
  const RIGHT = { clusterName: 'cluster-a', backend: { static: { weight: 1 } } };

  it.each<[object, RegExp]>([
    [{ clusterName: '' }, /spec\.clusterName: Invalid value: "": .*at least 1/],
    [{ bindingDomain: '..example.org' }, /spec\.bindingDomain: Invalid value: .*must be a domain in lower case/],
    [{ annotationFilter: 'public' }, /spec\.annotationFilter: Invalid value: .*must be the key of an annotation, "="/],
    [{ annotationPrefix: 'Dns/x' }, /spec\.annotationPrefix: Invalid value: .*must be a DNS name/],
    [{ hostedZoneIDs: ['example.org'] }, /hostedZoneIDs\[0\]: Invalid value: .*must be the ID of a hosted zone/],
    [{ hostedZoneIDs: ['Z1', 'Z1'] }, /hostedZoneIDs\[1\]: Duplicate value: "Z1"/],
    [{ recordTTL: 0 }, /spec\.recordTTL: Invalid value: 0: .*1/],
    [
      { backend: {} },
      /spec\.backend: Invalid value: .*must have exactly one field: static, configMap, dynamodb or prometheus/,
    ],
    [
      { backend: { static: { weight: 1 }, dynamodb: {} } },
      /spec\.backend: Invalid value: .*must have exactly one field/,
    ],
    [
      { backend: { dynamodb: { tableName: 'a b' } } },
      /spec\.backend\.dynamodb\.tableName: Invalid value: .*name of a table/,
    ],
    [
      { backend: { dynamodb: { region: 'Ireland' } } },
      /spec\.backend\.dynamodb\.region: Invalid value: .*an AWS region/,
    ],
    [{ backend: { dynamodb: { initialWeight: 256 } } }, /dynamodb\.initialWeight: Invalid value: 256: .*255/],
    [{ backend: { dynamodb: {}, prometheus: { query: 'up' } } }, /spec\.backend: Invalid value: .*exactly one field/],
    [{ backend: { prometheus: { query: '' } } }, /spec\.backend\.prometheus\.query: Invalid value: "": .*at least 1/],
    [{ backend: { prometheus: { query: 'up', fullValue: '0' } } }, /fullValue: Invalid value: .*a number above 0/],
    [{ backend: { prometheus: { query: 'up', minChange: 101 } } }, /minChange: Invalid value: 101: .*100/],
    [{ backend: { configMap: {} } }, /spec\.backend\.configMap\.name: Required value/],
    [{ backend: { configMap: { name: 'W' } } }, /configMap\.name: Invalid value: .*name of a ConfigMap/],
    [{ backend: { configMap: { name: 'w', key: 'a/b' } } }, /configMap\.key: Invalid value: .*a key of a ConfigMap/],
    [{ backend: { static: { weight: 256 } } }, /spec\.backend\.static\.weight: Invalid value: 256: .*255/],
    [{ backend: { static: { weight: -1 } } }, /spec\.backend\.static\.weight: Invalid value: -1: .*0/],
    [{ ramp: {} }, /spec\.ramp\.step: Required value/],
    [{ ramp: { step: 0 } }, /spec\.ramp\.step: Invalid value: 0: .*1/],
    [{ ramp: { step: 1, interval: '5' } }, /spec\.ramp\.interval: Invalid value: .*a duration from "1s" to "24h"/],
    [{ ramp: { step: 1, gate: { query: 'up' } } }, /spec\.ramp\.gate\.condition: Required value/],
    [
      { ramp: { step: 1, gate: { query: 'up', condition: 'below 1' } } },
      /spec\.ramp\.gate\.condition: Invalid value: .*must be a comparison with a number, such as "< 0\.01"/,
    ],
    [{ ramp: { step: 1, gate: { query: '', condition: '< 1' } } }, /gate\.query: Invalid value: "": .*at least 1/],
    [
      { ramp: { step: 1, gate: { query: 'up', condition: '< 1', failureLimit: -1 } } },
      /gate\.failureLimit: Invalid value: -1: .*0/,
    ],
    [
      { ramp: { step: 1, rollback: 'Never' } },
      /ramp\.rollback: Unsupported value: "Never": supported values: "Gradual"/,
    ],
    [
      { ramp: { step: 1, direction: 'Down' } },
      /ramp\.direction: Unsupported value: "Down": supported values: "Both", "Up"/,
    ],
    [
      { acknowledge: 'Never' },
      /spec\.acknowledge: Unsupported value: "Never": supported values: "Observed", "Applied"/,
    ],
  ])('%j is rejected, with field and value', async (over, message) => {
    await expect(create('wrong', { ...RIGHT, ...over })).rejects.toThrow(message);
  });

  it('with every field is accepted', async () => {
    const full = {
      ...{ clusterName: 'cluster-a', bindingDomain: 'example.org', annotationFilter: 'example.org/dns=public' },
      ...{ annotationPrefix: 'dns.example.org', healthCheckID: 'abc', recordTTL: 60, acknowledge: 'Applied' },
      ...{ namespaceSelector: { matchLabels: { team: 'a' } }, ingressClassNames: ['nginx'] },
      gatewayClassNames: ['public'],
      ramp: {
        ...{ step: 10, interval: '5m', rollback: 'Gradual', direction: 'Up' },
        gate: { query: 'errors', condition: '>= -99.5', failureLimit: 2 },
      },
      backend: { static: { weight: 255 } },
    };
    const { spec } = await create('full', full);
    expect(spec).toEqual(full);
  });

  it('with a table is accepted, also without its fields', async () => {
    const full = { tableName: 'traffic.controller_1', region: 'us-gov-west-1', initialWeight: 0 };
    const sovereign = { region: 'eusc-de-east-1' };
    for (const [name, dynamodb] of Object.entries({ full, sovereign, empty: {} })) {
      expect((await create(`table-${name}`, { ...RIGHT, backend: { dynamodb } })).spec.backend).toEqual({ dynamodb });
    }
  });

  it('with a query is accepted, and with each number above 0', async () => {
    for (const [n, fullValue] of ['1', '100', '0.5', '10.25', '1000000000'].entries()) {
      const backend = { prometheus: { query: 'up', fullValue, minChange: 0 } };
      expect((await create(`query-${n}`, { ...RIGHT, backend })).spec.backend).toEqual(backend);
    }
    const within = { ...RIGHT, bindingDomain: '.example.org' };
    expect((await create('within', within)).spec.bindingDomain).toBe('.example.org');
  });

  it('has a name that fits a label', async () => {
    await expect(create('n'.repeat(64), RIGHT)).rejects.toThrow(/metadata.name must have 63 characters at most/);
  });
});
