import { readFileSync } from 'node:fs';
import type { V1DaemonSet, V1Deployment, V1PersistentVolumeClaim } from '@kubernetes/client-node';
import { describe, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import type { KubeObject } from '../../../runtime/client/resource.ts';
import { defaultMeasurementOptions } from '../options.ts';
import type { MeasurementOptions, PrometheusVolume } from '../options.ts';
import { COUNTED, factQuery, ratesQuery } from '../../../usage/pass/queries.ts';
import { FACT_METRICS } from '../../../usage/series/factMetrics.ts';
import type { Component } from './component.ts';
import { allComponents, allTargetComponents } from './components.ts';
import { configFiles } from './prometheus.ts';
import { KEPT_METRICS, renderPrometheusConfig } from './prometheusConfig.ts';

const DEFAULTS = defaultMeasurementOptions('traffic-operator-system');
const OWNER = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'traffic-operator', uid: 'u1' };

/** Options that all differ from the defaults. */
const CHANGED: MeasurementOptions = {
  namespace: 'measuring',
  operatorMetrics: false,
  connectivity: true,
  connectivityTlsSecret: 'server-tls',
  imagePullSecrets: [],
  discoveryNamespaces: [],
  openshift: true,
  exporter: {
    ...DEFAULTS.exporter,
    image: 'registry.example:5000/node-exporter@sha256:0123',
    port: 19100,
    ignoredDevices: '^$',
    priorityClassName: '',
    nodeSelector: { pool: 'web' },
    affinity: {
      nodeAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: {
          nodeSelectorTerms: [
            { matchExpressions: [{ key: 'edge', operator: 'DoesNotExist' }] },
            { matchExpressions: [{ key: 'zone', operator: 'In', values: ['a'] }] },
          ],
        },
      },
    },
    resources: {},
  },
  prometheus: {
    ...DEFAULTS.prometheus,
    image: 'registry.example:5000/prometheus:v3.16.0-rc.0',
    scrapeIntervalSeconds: 15,
    retentionTime: '6h',
    retentionSize: '4GB',
    storageSize: '8Gi',
    priorityClassName: 'system-cluster-critical',
    nodeSelector: { pool: 'infra' },
    tolerations: [{ key: 'infra', operator: 'Exists' }],
    resources: { limits: { memory: '4Gi' } },
  },
};

describe('rendered objects', () => {
  it('equal testdata with default options', async () => {
    await expect(documents(allComponents(DEFAULTS, OWNER))).toMatchFileSnapshot('../testdata/defaults.yaml');
  });

  it('equal testdata with every option changed', async () => {
    await expect(documents(allComponents(CHANGED))).toMatchFileSnapshot('../testdata/changed.yaml');
  });

  it('equal testdata with a claim and pull secrets', async () => {
    const volume = { kind: 'claim', size: '10Gi', storageClassName: 'fast' } as const;
    const prometheus = { ...DEFAULTS.prometheus, retentionSize: '5120MB', volume };
    const options = { ...DEFAULTS, imagePullSecrets: ['pull'], prometheus };
    const kinds = ['PersistentVolumeClaim', 'Deployment', 'DaemonSet'];
    const components = allComponents(options, OWNER).filter(({ resource }) => kinds.includes(resource.kind));
    await expect(documents(components)).toMatchFileSnapshot('../testdata/volume.yaml');
  });

  it('use the default StorageClass, and include no claim if an existing one is set', () => {
    const withVolume = (volume: PrometheusVolume): MeasurementOptions => ({
      ...DEFAULTS,
      prometheus: { ...DEFAULTS.prometheus, volume },
    });
    const claim = find('PersistentVolumeClaim', withVolume({ kind: 'claim', size: '1Gi' })) as V1PersistentVolumeClaim;
    expect(claim.spec).toEqual({ accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } });
    const existing = withVolume({ kind: 'existing', claimName: 'mine' });
    expect(allComponents(existing)).toHaveLength(allComponents(DEFAULTS).length);
    expect(deployment(existing).spec!.template.spec!.volumes).toContainEqual({
      name: 'storage',
      persistentVolumeClaim: { claimName: 'mine' },
    });
  });

  it('use nothing of the host except its network', () => {
    const pod = daemonSet().spec!.template.spec!;
    expect(pod.hostNetwork).toBe(true);
    expect([pod.hostPID, pod.hostIPC, pod.volumes, pod.containers[0]!.volumeMounts]).toEqual(Array(4).fill(undefined));
    expect(pod.containers[0]!.securityContext?.capabilities).toEqual({ drop: ['ALL'] });
  });

  it('mount the whole target directory, because a kubelet never updates a subPath', () => {
    const { volumeMounts, args } = deployment(DEFAULTS).spec!.template.spec!.containers[0]!;
    expect(volumeMounts!.filter(({ subPath }) => subPath !== undefined)).toEqual([]);
    expect(args).toContain('--config.file=/etc/prometheus/config/prometheus.yml');
  });

  it('recreate Prometheus only when its configuration changes', () => {
    const annotations = (options: MeasurementOptions): unknown =>
      deployment(options).spec!.template.metadata!.annotations;
    const slower = { ...DEFAULTS, prometheus: { ...DEFAULTS.prometheus, scrapeIntervalSeconds: 10 } };
    const larger = { ...DEFAULTS, prometheus: { ...DEFAULTS.prometheus, storageSize: '3Gi' } };
    expect(annotations(slower)).not.toEqual(annotations(DEFAULTS));
    expect(annotations(larger)).toEqual(annotations(DEFAULTS));
  });

  it('are owned by the operator only in its namespace, because owners must be in the same namespace', () => {
    const owned = allComponents(DEFAULTS, OWNER).filter(({ object }) => object.metadata?.ownerReferences !== undefined);
    expect(new Set(owned.map(({ object }) => object.metadata?.namespace))).toEqual(new Set([DEFAULTS.namespace]));
    expect(owned.map(({ group }) => group)).toEqual(Array(4).fill('prometheus'));
  });

  it('have unique names, including the target ConfigMaps', () => {
    const names = [...allComponents(DEFAULTS), ...allTargetComponents(DEFAULTS)].map(
      ({ resource, object }) => `${resource.kind} ${object.metadata?.namespace}/${object.metadata?.name}`,
    );
    expect(new Set(names).size).toBe(names.length);
  });
});

describe('prometheus.yml', () => {
  it.each(configFiles({ ...DEFAULTS, weights: true }))('equals the generated file in prometheus/: $path', (file) => {
    const written = readFileSync(new URL(`../../../../prometheus/${file.path}`, import.meta.url), 'utf8');
    expect(written).toBe(file.content);
  });

  it('excludes the operator and its alerts if its metrics require a token', () => {
    const text = JSON.stringify(configFiles({ ...DEFAULTS, operatorMetrics: false }));
    expect(text).not.toMatch(/job_name: traffic-operator|TrafficOperatorAbsent/);
    expect(JSON.stringify(configFiles(DEFAULTS))).toMatch(/job_name: traffic-operator.*TrafficOperatorAbsent/);
  });

  it('keeps exactly the metrics that are used', () => {
    const config = parse(renderPrometheusConfig(DEFAULTS)) as {
      scrape_configs: { metric_relabel_configs: { regex: string; action: string }[] }[];
    };
    const [keep] = config.scrape_configs[0]!.metric_relabel_configs;
    // Prometheus anchors the expression at both ends.
    const kept = (name: string): boolean => new RegExp(`^(?:${keep!.regex})$`).test(name);
    expect(keep!.action).toBe('keep');
    expect(KEPT_METRICS.every(kept)).toBe(true);
    const query = { windowSeconds: 20, matchers: [] } as const;
    const facts = FACT_METRICS.map((metric) => factQuery(query, metric));
    const asked = [...facts, ratesQuery(query, COUNTED, 0, 'receive')].join(' ').match(/node_\w+/g)!;
    expect(new Set(KEPT_METRICS)).toEqual(new Set(asked));
    expect(['node_network_receive_packets_total', 'node_network_flags_x', 'go_goroutines'].some(kept)).toBe(false);
  });
});

function daemonSet(): V1DaemonSet {
  return find('DaemonSet', DEFAULTS);
}

function deployment(options: MeasurementOptions): V1Deployment {
  return find('Deployment', options);
}

function find(kind: string, options: MeasurementOptions): KubeObject {
  return allComponents(options).find(({ resource }) => resource.kind === kind)!.object;
}

function documents(components: readonly Component[]): string {
  return components
    .map(({ object }) => stringify(object, { lineWidth: 0, aliasDuplicateObjects: false }))
    .join('---\n');
}
