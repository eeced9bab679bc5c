import { startNodeExporter } from '../harness/nodeExporter.ts';
import { startPrometheus } from '../harness/prometheus.ts';
import { createKernelTree, deviceLines, histogram, startTextExporter } from '../harness/usageExporters.ts';
import type { KernelDevice } from '../harness/usageExporters.ts';

/** Four scrapes fit into the window of a second. */
const SCRAPE_INTERVAL = '250ms';
/** Bytes per second of eth0 wherever nothing else is said, at a tenth of its speed. */
const RATE = 1e6;
const SPEED = 1e7;

/** A real Prometheus with jobs that the tests tell apart by the label `job`. */
export interface UsageWorld {
  readonly url: string;
  stop(): Promise<void>;
}

/** A node's eth0, sending RATE. */
function eth0(
  node: string,
  seconds: number,
  facts: Record<string, number | string> = {},
  labels: Record<string, string> = {},
) {
  const usual = { total: 1e9 + seconds * RATE, speed: SPEED, flags: 4163 };
  return deviceLines({ node, device: 'eth0', ...labels }, { ...usual, ...facts });
}

/** The metrics page of each node of the job `samples`. */
export const SAMPLES: Record<string, (seconds: number) => string> = {
  sound: (s) => eth0('sound', s),
  down: (s) => eth0('down', s, { speed: -125000 }),
  zero: (s) => eth0('zero', s, { speed: 0 }),
  speedless: (s) => deviceLines({ node: 'speedless', device: 'eth0' }, { total: s * RATE }),
  'nan-speed': (s) => eth0('nan-speed', s, { speed: 'NaN' }),
  nan: (s) => eth0('nan', s, { total: 'NaN' }),
  infinite: (s) => eth0('infinite', s, { total: '+Inf' }),
  reset: (s) => eth0('reset', s, { total: (s * RATE) % (3 * RATE) }),
  half: (s) => eth0('half', s) + eth0('half', s, { speed: -125000 }, { device: 'eth1' }),
  'idle-without-speed': (s) =>
    eth0('idle-without-speed', s) + eth0('idle-without-speed', 0, { speed: -125000 }, { device: 'eth1' }),
  'veth-uplink': (s) =>
    eth0('veth-uplink', s, {}, { device: 'veth7a1' }) + eth0('veth-uplink', s, {}, { device: 'cni0' }),
  'macvlan-uplink': (s) =>
    ['macvlan0', 'veth1', 'veth2'].map((device) => eth0('macvlan-uplink', s, {}, { device })).join(''),
  'free-names': (s) =>
    eth0('free-names', s, { iface_id: 2, iface_link: 2 }) +
    eth0('free-names', 0, { iface_id: 9, iface_link: 2 }, { device: 'pod-web' }),
  'two-veths': (s) => eth0('two-veths', s, {}, { device: 'veth1' }) + eth0('two-veths', s, {}, { device: 'veth2' }),
  pods: (s) =>
    eth0('pods', s) + eth0('pods', s * 50, {}, { device: 'cali1' }) + eth0('pods', s, {}, { device: 'veth1' }),
};
/** The nodes of the job `samples`. */
export const NODES = Object.fromEntries(Object.keys(SAMPLES).map((name) => [name, {}]));

/** A machine with a bond of two slaves, a VLAN under each kind of name, a device that is down and a pod's interface. */
const BONDED: Record<string, KernelDevice> = {
  lo: { ifindex: 1, flags: 0x49, rate: 9e6 },
  eth0: { ifindex: 2, flags: 0x1803, speed: 100, rate: 0.5e6 },
  eth1: { ifindex: 3, flags: 0x1803, speed: 100, rate: 0.5e6 },
  bond0: { ifindex: 4, flags: 0x1443, speed: 200, rate: 1e6 },
  'bond0.100': { ifindex: 5, iflink: 4, speed: 200, rate: 1e6 },
  storage: { ifindex: 6, iflink: 4, speed: 200, rate: 1e6 },
  eth2: { ifindex: 7, speed: -1, rate: 3 },
  cali12: { ifindex: 8, iflink: 2, speed: 10_000, rate: 5e6 },
};

type Labels = Record<string, string>;

function job(name: string, address: string, targets: readonly Labels[], more: Record<string, unknown> = {}) {
  const static_configs = targets.map((labels) => ({ targets: [address], labels }));
  return { job_name: name, static_configs, honor_labels: true, ...more };
}

/** Starts exporters of known counters, node_exporters of this machine and of BONDED, and a Prometheus over all of them. */
export async function startUsageWorld(): Promise<UsageWorld> {
  const tree = await createKernelTree(BONDED);
  const [exporter, eth0s, real, bonded] = await Promise.all([
    startTextExporter(),
    startTextExporter(),
    startNodeExporter(),
    startNodeExporter({ flags: tree.flags }),
  ]);
  exporter.text = (seconds, path) => {
    const all = Object.values(SAMPLES).map((text) => text(seconds));
    return path === '/histogram' ? histogram('a', seconds) : all.join('');
  };
  eth0s.text = (seconds) => deviceLines({ device: 'eth0' }, { total: seconds * RATE, speed: SPEED });
  const scrape_configs = [...jobsOfOne(eth0s.address), ...jobsOfOthers(exporter.address, real.address, bonded.address)];
  const global = { scrape_interval: SCRAPE_INTERVAL, scrape_timeout: SCRAPE_INTERVAL };
  const prometheus = await startPrometheus({ config: { global, scrape_configs } });
  const all = [prometheus, exporter, eth0s, real, bonded, tree];
  const stop = async (): Promise<void> => {
    await Promise.all(all.map((each) => each.stop()));
  };
  return { url: prometheus.url, stop };
}

/** One exporter of a device without a node, under labels that Prometheus adds. */
function jobsOfOne(address: string) {
  const instances = ['10.0.0.1:9100', '[fd00::2]:9100', 'node-c', '10.0.0.9:9100', '10.0.0.77'];
  const a = { node: 'a', instance: 'a:9100' };
  return [
    job('twice', address, [
      { ...a, cluster: 'x' },
      { ...a, cluster: 'y"\\{' },
    ]),
    job('exporters', address, [a, { ...a, instance: 'a:9796' }]),
    job(
      'instances',
      address,
      instances.map((instance) => ({ instance })),
    ),
    job('slow', address, [a], { scrape_interval: '1s' }),
  ];
}

function jobsOfOthers(exporter: string, real: string, bonded: string) {
  const histograms = { metrics_path: '/histogram', convert_classic_histograms_to_nhcb: true };
  return [
    job('samples', exporter, [{}]),
    job('histogram', exporter, [{}], histograms),
    job('real', real, [{ node: 'a' }]),
    job('by-hand', bonded, [{ node: 'a' }]),
  ];
}
