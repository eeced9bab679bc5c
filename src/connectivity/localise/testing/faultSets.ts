import type { Finding } from '../../../api/connectivitycheck/finding.ts';
import type { Plane } from '../../../api/connectivitycheck/terms.ts';
import { pick } from './random.ts';
import { clusterOf, observable, type Damage, type SimCluster, type SimFault } from './simulate.ts';

/** A cluster of 3 to 300 nodes. Most are small, because few observers make the harder cases. */
export function aCluster(random: () => number): SimCluster {
  const size = Math.round(3 * 100 ** (random() ** 2));
  const zones = 1 + Math.floor(random() * (size >= 6 ? 3 : 1));
  const serverNode = `node${1 + Math.floor(random() * size)}`;
  return clusterOf(size, zones, { serverNode, overlay: random() < 0.5, largeReports: random() < 0.5 });
}

const KINDS = [
  'node',
  'plane',
  'plane',
  'loss',
  'mtu',
  'link',
  'linkLoss',
  'zone',
  'service',
  'agent',
  'kubelet',
] as const;

/** One to three faults. No two are of the same node, so that none is a part of another one. */
export function someFaults(cluster: SimCluster, random: () => number): SimFault[] {
  const free = cluster.nodes.map(({ name }) => name).sort(() => random() - 0.5);
  const count = 1 + Math.floor(random() * 3);
  const faults: SimFault[] = [];
  let zones = new Set(cluster.nodes.map(({ zone }) => zone!)).size > 1;
  const services = new Set<string>();
  while (faults.length < count && free.length >= 2) {
    const kind = pick(KINDS, random);
    if (kind === 'zone') {
      if (zones) faults.push(aZoneFault(cluster, random));
      zones = false;
    } else if (kind === 'service') {
      const fault = aServiceFault(free, random);
      if (!services.has(fault.at)) faults.push(fault);
      services.add(fault.at);
    } else faults.push(aNodeFault(kind, free, random));
  }
  return faults;
}

function aNodeFault(
  kind: Exclude<(typeof KINDS)[number], 'zone' | 'service'>,
  free: string[],
  random: () => number,
): SimFault {
  const node = free.pop()!;
  const plane: Plane = random() < 0.5 ? 'Pod' : 'Host';
  const planes: { planes?: Plane[] } = random() < 0.5 ? { planes: [plane] } : {};
  const loss: Damage = { loss: 0.15 + random() * 0.35 };
  if (kind === 'node') return { at: 'node', node, does: 'cut' };
  if (kind === 'plane') return { at: 'node', node, planes: [plane], does: 'cut' };
  if (kind === 'loss') return { at: 'node', node, does: loss, ...planes };
  if (kind === 'mtu') return { at: 'node', node, does: { above: 1280 + Math.floor(random() * 120) }, ...planes };
  if (kind === 'agent') return { at: 'agent', node, plane };
  if (kind === 'kubelet') return { at: 'kubelet', node };
  const to = free.pop()!;
  if (kind === 'linkLoss') return { at: 'link', from: node, to, does: loss, ...planes };
  return { at: 'link', from: node, to, does: 'cut', oneWay: random() < 0.5, ...planes };
}

function aZoneFault({ nodes }: SimCluster, random: () => number): SimFault {
  const zones = [...new Set(nodes.map(({ zone }) => zone!))].sort();
  const does: Damage = random() < 0.7 ? 'cut' : { loss: 0.3 };
  const zone = pick(zones, random);
  if (zones.length > 2 && random() < 0.5) return { at: 'zone', zone, does };
  const other = pick(
    zones.filter((name) => name !== zone),
    random,
  );
  return { at: 'zones', zones: [zone, other], does };
}

function aServiceFault(free: string[], random: () => number): SimFault {
  const at = random() < 0.5 ? 'dns' : 'apiServer';
  return random() < 0.5 ? { at } : { at, node: free.pop()! };
}

/** Class and subject that the fault is to be found by. */
export function expected(fault: SimFault): string {
  if (fault.at === 'dns') return `DNS ${fault.node ?? 'cluster'}`;
  if (fault.at === 'apiServer') return `APIServer ${fault.node ?? 'cluster'}`;
  if (fault.at === 'agent') return `Agent ${fault.plane.toLowerCase()}-${fault.node}`;
  if (fault.at === 'kubelet') return `Node ${fault.node}`;
  if (fault.at === 'zone') return `Zone ${fault.zone}`;
  if (fault.at === 'zones') return `Zone ${[...fault.zones].sort().join(' <-> ')}`;
  if (fault.at === 'link') {
    return `Link ${fault.oneWay === true ? `${fault.from} -> ${fault.to}` : [fault.from, fault.to].sort().join(' <-> ')}`;
  }
  if (fault.at !== 'node') throw new Error(`a fault at ${JSON.stringify(fault)}`);
  if (typeof fault.does === 'object' && 'above' in fault.does) return `MTU ${fault.node}`;
  return `${fault.planes === undefined ? 'Node' : `${fault.planes[0]!}Network`} ${fault.node}`;
}

/** Without the faults that leave no trace beside the others, such as an agent that is killed on a node that is cut. */
export function visible(cluster: SimCluster, faults: readonly SimFault[]): readonly SimFault[] {
  const all = observable(cluster, faults);
  const masked = faults.find(
    (fault) =>
      observable(
        cluster,
        faults.filter((other) => other !== fault),
      ) === all,
  );
  return masked === undefined
    ? faults
    : visible(
        cluster,
        faults.filter((fault) => fault !== masked),
      );
}

/** The faults that findings state, to compare what they would look like. */
export function statedBy(findings: readonly Finding[]): SimFault[] {
  return findings.flatMap((finding): SimFault[] => {
    const [subject = ''] = finding.subjects;
    const does: Damage = finding.severity === 'Failed' ? 'cut' : { loss: 0.3 };
    const planes = [...new Set(finding.evidence.pairs.map(({ plane }) => plane))];
    const named = { ...(!/pod network.*host network/.test(finding.message) && planes.length > 0 && { planes }) };
    if (subject === 'cluster' && finding.class.endsWith('Network')) return [{ at: 'cluster', does, planes }];
    const [from = '', to = ''] = subject.split(/ <?-> /);
    switch (finding.class) {
      case 'Node':
        return finding.message.startsWith('kubelet')
          ? [{ at: 'kubelet', node: subject }]
          : [{ at: 'node', node: subject, does }];
      case 'PodNetwork':
      case 'HostNetwork':
        return [{ at: 'node', node: subject, does, planes: [finding.class === 'PodNetwork' ? 'Pod' : 'Host'] }];
      case 'Link':
        return [{ at: 'link', from, to, does, oneWay: !subject.includes('<'), ...named }];
      case 'Zone':
        return to === ''
          ? [{ at: 'zone', zone: from, does, ...named }]
          : [{ at: 'zones', zones: [from, to], does, ...named }];
      case 'MTU': {
        const above = { above: finding.evidence.largestPacketBytes ?? 0 };
        if (subject === 'cluster') return [{ at: 'cluster', does: above, ...named }];
        if (to !== '') return [{ at: 'link', from, to, does: above, oneWay: !subject.includes('<'), ...named }];
        return [{ at: 'node', node: subject, does: above, ...named }];
      }
      case 'Agent':
        return [{ at: 'agent', node: subject.replace(/^\w+-/, ''), plane: subject.startsWith('pod') ? 'Pod' : 'Host' }];
      case 'DNS':
        return [{ at: 'dns', ...(subject !== 'cluster' && { node: subject }) }];
      case 'APIServer':
        return [{ at: 'apiServer', ...(subject !== 'cluster' && { node: subject }) }];
      default:
        return [];
    }
  });
}
