import { execFileSync } from 'node:child_process';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { KEPT_METRICS } from '../../src/controllers/measurement/components/prometheusConfig.ts';
import type { HttpServer } from '../harness/httpServer.ts';
import { startNodeExporter } from '../harness/nodeExporter.ts';

/**
 * What OpenShift's monitoring gives node_exporter for devices (pkg/manifests of
 * github.com/openshift/cluster-monitoring-operator), without its other collectors.
 */
const EXCLUDED = '^(veth.*|[a-f0-9]{15}|enP.*|ovn-k8s-mp[0-9]*|br-ex|br-int|br-ext|br[0-9]*|tun[0-9]*|cali[a-f0-9]*)$';
const FLAGS = [
  '--collector.disable-defaults',
  '--collector.netdev',
  `--collector.netdev.device-exclude=${EXCLUDED}`,
  '--collector.netclass',
  '--collector.netclass.netlink',
  `--collector.netclass.ignored-devices=${EXCLUDED}`,
];

let exporter: HttpServer;
beforeAll(async () => {
  exporter = await startNodeExporter({ flags: FLAGS });
});
afterAll(() => exporter.stop());

it('node_exporter as in OpenShift says what the bandwidth is worked out from, but no drivers', async () => {
  const text = await (await fetch(`${exporter.url}/metrics`)).text();
  const names = new Set(text.split('\n').map((line) => /^node_[a-z_]+/.exec(line)?.[0]));
  // A speed is not known of every device: on a machine without one there is no such series.
  const always = KEPT_METRICS.filter((name) => !/speed|ethtool/.test(name));
  expect(always.filter((name) => !names.has(name))).toEqual([]);
  expect(names.has('node_ethtool_info')).toBe(false);
  const devices = execFileSync('ls', ['/sys/class/net'], { encoding: 'utf8' }).trim().split(/\s+/);
  const counted = [...text.matchAll(/^node_network_transmit_bytes_total{device="([^"]+)"}/gm)].map(([, name]) => name);
  expect(counted.sort()).toEqual(devices.filter((name) => !new RegExp(EXCLUDED).test(name)).sort());
});
