import type { Finding, Severity } from '../../../api/connectivitycheck/finding.ts';
import type { Plane } from '../../../api/connectivitycheck/terms.ts';
import { MOST_SLOW_MS } from '../pairs/latency.ts';
import { FAMILIES, type Family } from '../pairs/quality.ts';
import { pick } from './random.ts';
import { clusterOf, type Damage, type SimCluster, type SimFault } from './simCluster.ts';
import { observable } from './simulate.ts';

/** A cluster of 3 to 300 nodes. Most are small, because few observers make the harder cases. Two of five are dual-stack. */
export function aCluster(random: () => number): SimCluster {
  const size = Math.round(3 * 100 ** (random() ** 2));
  const zones = 1 + Math.floor(random() * (size >= 6 ? 3 : 1));
  const serverNode = `node${1 + Math.floor(random() * size)}`;
  const o = { serverNode, overlay: random() < 0.5, largeReports: random() < 0.5 };
  return clusterOf(size, zones, { ...o, ...aStack(random) });
}

/** One or two families, in either order. */
export function aStack(random: () => number): Pick<SimCluster, 'families'> {
  if (random() >= 0.4) return {};
  return { families: random() < 0.5 ? FAMILIES : [...FAMILIES].reverse() };
}

/** All families, or in half of the faults of a dual-stack cluster one of them. */
export function someFamilies({ families = [] }: SimCluster, random: () => number): { families?: readonly Family[] } {
  return families.length > 1 && random() < 0.5 ? { families: [pick(families, random)] } : {};
}

const KINDS = [
  'node',
  'plane',
  'plane',
  'loss',
  'mtu',
  'interface',
  'delay',
  'link',
  'linkLoss',
  'linkMtu',
  'zone',
  'service',
  'agent',
  'kubelet',
] as const;

/** Draws one to three faults. No two are of the same node, so that none is a part of another. */
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
    } else faults.push(aNodeFault(kind, free, cluster, random));
  }
  return faults;
}

function aNodeFault(
  kind: Exclude<(typeof KINDS)[number], 'zone' | 'service'>,
  free: string[],
  cluster: SimCluster,
  random: () => number,
): SimFault {
  const node = free.pop()!;
  const plane: Plane = random() < 0.5 ? 'Pod' : 'Host';
  const planes: { planes?: Plane[] } = random() < 0.5 ? { planes: [plane] } : {};
  const families = someFamilies(cluster, random);
  const where = { ...planes, ...families };
  const mtu = 1280 + Math.floor(random() * 120);
  const loss: Damage = { loss: 0.15 + random() * 0.35 };
  if (kind === 'node') return { at: 'node', node, does: 'cut', ...families };
  if (kind === 'plane') return { at: 'node', node, planes: [plane], does: 'cut', ...families };
  if (kind === 'loss') return { at: 'node', node, does: loss, ...where, ...someWay(random) };
  if (kind === 'mtu') return { at: 'node', node, does: { above: mtu }, ...where, ...someWay(random) };
  if (kind === 'delay') return { at: 'node', node, does: aDelay(random), ...where, ...someWay(random) };
  if (kind === 'interface') return { at: 'interface', node, mtu: random() < 0.7 ? mtu : 9_000, ...planes };
  if (kind === 'agent') return { at: 'agent', node, plane };
  if (kind === 'kubelet') return { at: 'kubelet', node };
  const to = free.pop()!;
  const oneWay = random() < 0.5;
  if (kind === 'linkLoss') return { at: 'link', from: node, to, does: loss, oneWay, ...where };
  if (kind === 'linkMtu') return { at: 'link', from: node, to, does: { above: mtu }, oneWay, ...where };
  return { at: 'link', from: node, to, does: 'cut', oneWay, ...where };
}

/** From here on, round trips are slow in any cluster. Below, the sets have no delay that is slow in some. */
const SLOW_MS = MOST_SLOW_MS + 100;
const NOT_SLOW_MS = 60;

function aDelay(random: () => number): Damage {
  return { delayMs: random() < 0.5 ? NOT_SLOW_MS * random() : SLOW_MS + 300 * random() };
}

/** Both ways, or in half of the faults one. */
function someWay(random: () => number): { way?: 'In' | 'Out' } {
  return random() < 0.5 ? {} : { way: random() < 0.5 ? 'In' : 'Out' };
}

function aZoneFault(cluster: SimCluster, random: () => number): SimFault {
  const families = someFamilies(cluster, random);
  const zones = [...new Set(cluster.nodes.map(({ zone }) => zone!))].sort();
  const does: Damage = random() < 0.7 ? 'cut' : { loss: 0.3 };
  const zone = pick(zones, random);
  if (zones.length > 2 && random() < 0.5) return { at: 'zone', zone, does, ...families };
  const other = pick(
    zones.filter((name) => name !== zone),
    random,
  );
  return { at: 'zones', zones: [zone, other], does, ...families };
}

function aServiceFault(free: string[], random: () => number): SimFault {
  const at = random() < 0.5 ? 'dns' : 'apiServer';
  return random() < 0.5 ? { at } : { at, node: free.pop()! };
}

/** Class, subject and severity that the fault is to be found by. Undefined for a short delay, which is no finding. */
export function expectedFinding(fault: SimFault): string | undefined {
  const finding = expected(fault);
  return finding && `${finding} ${expectedSeverity(fault)}`;
}

/** Returns Degraded for a fault that lets some packets pass, and for a fault of one family while the other works. */
function expectedSeverity(fault: SimFault): Severity {
  if (fault.at === 'interface') return 'Degraded';
  return 'does' in fault && (fault.does !== 'cut' || isOfOneFamily(fault)) ? 'Degraded' : 'Failed';
}

export function isOfOneFamily({ families }: SimFault): boolean {
  return families !== undefined;
}

/**
 * Class and subject that the fault is to be found by. The direction of a link is known only if nothing passes over any family:
 * an echo that is lost does not say on which way. Undefined for a short delay.
 */
export function expected(fault: SimFault): string | undefined {
  if ('does' in fault && typeof fault.does === 'object') {
    if ('delayMs' in fault.does && fault.at === 'node') {
      return fault.does.delayMs < SLOW_MS ? undefined : `Latency ${fault.node}`;
    }
    if ('above' in fault.does && fault.at === 'link') return `MTU ${linkOf(fault)}`;
  }
  if (fault.at === 'interface') return `MTU ${fault.node}`;
  if (fault.at === 'dns') return `DNS ${fault.node ?? 'cluster'}`;
  if (fault.at === 'apiServer') return `APIServer ${fault.node ?? 'cluster'}`;
  if (fault.at === 'agent') return `Agent ${fault.plane.toLowerCase()}-${fault.node}`;
  if (fault.at === 'kubelet') return `Node ${fault.node}`;
  if (fault.at === 'zone') return `Zone ${fault.zone}`;
  if (fault.at === 'zones') return `Zone ${[...fault.zones].sort().join(' <-> ')}`;
  if (fault.at === 'link') return `Link ${linkOf(fault)}`;
  if (fault.at !== 'node') throw new Error(`a fault at ${JSON.stringify(fault)}`);
  if (typeof fault.does === 'object' && 'above' in fault.does) return `MTU ${fault.node}`;
  return `${fault.planes === undefined ? 'Node' : `${fault.planes[0]!}Network`} ${fault.node}`;
}

/** The kind of a fault, for the table of the accuracy. */
export function nameOf(fault: SimFault): string {
  if (fault.at === 'interface') return 'node: interface with another MTU';
  if (fault.at === 'agent') return 'agent: killed';
  if (fault.at === 'kubelet') return 'kubelet: hangs';
  if (!('does' in fault))
    return `${fault.at === 'dns' ? 'DNS' : 'API server'}: silent${fault.node === undefined ? '' : ' for a node'}`;
  const { at, does } = fault;
  const isOneWay = ('way' in fault && fault.way !== undefined) || ('oneWay' in fault && fault.oneWay === true);
  const place = at === 'zones' ? 'two zones' : at;
  const what =
    does === 'cut' ? 'cut' : 'loss' in does ? 'loss of packets' : 'delayMs' in does ? 'slow' : 'loss of large packets';
  return `${place}: ${what}${isOneWay ? ', one way' : ''}`;
}

function linkOf(fault: Extract<SimFault, { at: 'link' }>): string {
  const { from, to, oneWay, does } = fault;
  const isKnown = oneWay === true && does === 'cut' && !isOfOneFamily(fault);
  return isKnown ? `${from} -> ${to}` : [from, to].sort().join(' <-> ');
}

/** Leaves out the faults that other faults hide, such as an agent that is killed on a node that is cut. */
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
    const [, failing] = /fail \((IPv[46]):/.exec(finding.message) ?? [];
    const [, flawed] = / over (IPv[46])/.exec(finding.message) ?? [];
    const does: Damage = finding.severity === 'Failed' || failing !== undefined ? 'cut' : { loss: 0.3 };
    const family = (failing ?? flawed) as Family | undefined;
    const planes = [...new Set(finding.evidence.pairs.map(({ plane }) => plane))];
    const over = { ...(family !== undefined && finding.severity === 'Degraded' && { families: [family] }) };
    const isBoth = [/(^|; )pod network/, /(^|; )host network/].every((plane) => plane.test(finding.message));
    const named = { ...over, ...(!isBoth && planes.length > 0 && { planes }) };
    if (subject === 'cluster' && finding.class.endsWith('Network')) return [{ at: 'cluster', does, ...over, planes }];
    const [from = '', to = ''] = subject.split(/ <?-> /);
    switch (finding.class) {
      case 'Node':
        return finding.message.startsWith('kubelet')
          ? [{ at: 'kubelet', node: subject }]
          : [{ at: 'node', node: subject, does, ...over }];
      case 'PodNetwork':
      case 'HostNetwork':
        return [
          { at: 'node', node: subject, does, ...over, planes: [finding.class === 'PodNetwork' ? 'Pod' : 'Host'] },
        ];
      case 'Link':
        return [{ at: 'link', from, to, does, oneWay: !subject.includes('<'), ...named }];
      case 'Zone':
        return to === ''
          ? [{ at: 'zone', zone: from, does, ...named }]
          : [{ at: 'zones', zones: [from, to], does, ...named }];
      case 'Latency': {
        const slow = { delayMs: SLOW_MS };
        if (subject === 'cluster') return [{ at: 'cluster', does: slow, ...named }];
        if (to !== '') return [{ at: 'link', from, to, does: slow, ...named }];
        return [{ at: 'node', node: subject, does: slow, ...named }];
      }
      case 'MTU': {
        const above = { above: finding.evidence.largestPacketBytes ?? 0 };
        if (subject === 'cluster') return [{ at: 'cluster', does: above, ...named }];
        // Only interfaces with different MTUs let large packets pass one way.
        if (subject.includes(' -> ')) return [{ at: 'interface', node: to, mtu: above.above, ...named }];
        if (to !== '') return [{ at: 'link', from, to, does: above, ...named }];
        const [, mtu] = /its interface has an MTU of (\d+) bytes/.exec(finding.message) ?? [];
        if (mtu !== undefined) return [{ at: 'interface', node: subject, mtu: Number(mtu), ...named }];
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
