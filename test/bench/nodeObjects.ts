import type { V1Node } from '@kubernetes/client-node';
import { nodeName } from './shape.ts';

/** The default number of images that a kubelet reports (nodeStatusMaxImages). */
const IMAGES = 50;
const KI = 1024;

/** A Node as a kubelet and the controllers of a cloud write it: about 12 KiB of JSON with its managed fields. */
export function nodeObject(index: number): V1Node {
  const name = nodeName(index);
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, labels: labels(index), annotations: annotations(index) },
    spec: {
      podCIDR: `10.${index >> 8}.${index & 255}.0/24`,
      podCIDRs: [`10.${index >> 8}.${index & 255}.0/24`],
      providerID: `example:///zone-${index % 3}/i-${String(index).padStart(17, '0')}`,
    },
    status: status(index),
  };
}

const zoneOf = (index: number): string => `region-1${'abc'[index % 3]}`;

function labels(index: number): Record<string, string> {
  return {
    'beta.kubernetes.io/arch': 'amd64',
    'beta.kubernetes.io/instance-type': 'standard-8',
    'beta.kubernetes.io/os': 'linux',
    'failure-domain.beta.kubernetes.io/region': 'region-1',
    'failure-domain.beta.kubernetes.io/zone': zoneOf(index),
    'kubernetes.io/arch': 'amd64',
    'kubernetes.io/hostname': nodeName(index),
    'kubernetes.io/os': 'linux',
    'node.kubernetes.io/instance-type': 'standard-8',
    'topology.kubernetes.io/region': 'region-1',
    'topology.kubernetes.io/zone': zoneOf(index),
    'example.com/pool': `pool-${index % 20}`,
  };
}

function annotations(index: number): Record<string, string> {
  return {
    'node.alpha.kubernetes.io/ttl': '300',
    'volumes.kubernetes.io/controller-managed-attach-detach': 'true',
    'csi.volume.kubernetes.io/nodeid': JSON.stringify({ 'disk.csi.example.com': `i-${index}` }),
    'example.com/network-status': JSON.stringify({ interface: 'eth0', mtu: 1500, encryption: 'none', node: index }),
  };
}

/** Values of a heartbeat; the rest of a status rarely changes. */
function status(index: number): V1Node['status'] {
  const capacity = { cpu: '8', memory: '32Gi', pods: '110', 'ephemeral-storage': '100Gi', 'hugepages-2Mi': '0' };
  return {
    addresses: [
      { type: 'InternalIP', address: `198.18.${(index >> 8) & 255}.${index & 255}` },
      { type: 'Hostname', address: nodeName(index) },
      { type: 'InternalDNS', address: `${nodeName(index)}.internal.example.com` },
    ],
    capacity,
    allocatable: { ...capacity, cpu: '7910m', memory: '29Gi' },
    conditions: [
      condition('MemoryPressure', 'False', 'KubeletHasSufficientMemory', 'kubelet has sufficient memory available'),
      condition('DiskPressure', 'False', 'KubeletHasNoDiskPressure', 'kubelet has no disk pressure'),
      condition('PIDPressure', 'False', 'KubeletHasSufficientPID', 'kubelet has sufficient PID available'),
      condition('Ready', 'True', 'KubeletReady', 'kubelet is posting ready status'),
    ],
    daemonEndpoints: { kubeletEndpoint: { Port: 10250 } },
    nodeInfo: {
      architecture: 'amd64',
      bootID: `b00f0000-0000-4000-8000-${String(index).padStart(12, '0')}`,
      containerRuntimeVersion: 'containerd://2.1.4',
      kernelVersion: '6.12.41',
      kubeProxyVersion: '',
      kubeletVersion: 'v1.36.0',
      machineID: `ec2000000000000000000000${String(index).padStart(8, '0')}`,
      operatingSystem: 'linux',
      osImage: 'Debian GNU/Linux 13 (trixie)',
      systemUUID: `ec200000-0000-4000-8000-${String(index).padStart(12, '0')}`,
    },
    images: Array.from({ length: IMAGES }, (_, n) => image((index + n * 7) % 400)),
  };
}

function condition(type: string, value: string, reason: string, message: string) {
  const at = new Date('2026-01-01T00:00:00Z');
  return { type, status: value, reason, message, lastHeartbeatTime: at, lastTransitionTime: at };
}

function image(number: number) {
  const digest = number.toString(16).padStart(4, '0').repeat(16);
  const repository = `registry.example.com/team-${number % 17}/service-${number}`;
  return {
    names: [`${repository}@sha256:${digest}`, `${repository}:v1.${number % 30}.${number % 7}`],
    sizeBytes: 40 * KI * KI + number * 1_000_003,
  };
}
