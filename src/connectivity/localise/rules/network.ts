import { CLUSTER } from '../../../api/connectivitycheck/finding.ts';
import { PLANES, type Plane } from '../../../api/connectivitycheck/terms.ts';
import { evidenceOf, networkOf, severityOf, symptomOf } from '../evidence.ts';
import { linkSubject } from '../faults/direction.ts';
import type { Fault } from '../faults/faults.ts';
import { InterfaceMtus, isMismatch, losesLarge } from '../faults/mtu.ts';
import type { Part, Rule, Situation } from '../situation.ts';

/**
 * Finds faults of the networks of nodes, and of a whole plane.
 *
 * | pod network | host network | class |
 * |---|---|---|
 * | Failed | Failed | Node |
 * | Lossy | Lossy | Node |
 * | Failed | works, Lossy, or not measured | PodNetwork, and HostNetwork if Lossy |
 * | works, Lossy, or not measured | Failed | HostNetwork, and PodNetwork if Lossy |
 *
 * A fault of one address family counts as Lossy; one of the same family on both planes is of the class Node.
 *
 * The subject is the node, or `cluster` if all nodes are affected.
 */
export const nodes: Rule = (situation) => {
  const faults = situation.faults.filter(({ scope, kind }) => isOfPackets(kind) && isOfNode(scope.kind));
  return faults.filter((fault) => situation.confirmed.has(fault)).map((fault) => partOf(fault, faults, situation));
};

/** Whether packets of any size do not arrive. */
function isOfPackets(kind: Fault['kind']): boolean {
  return kind !== 'Mtu' && kind !== 'Slow';
}

function isOfNode(kind: Fault['scope']['kind']): boolean {
  return kind === 'Node' || kind === 'NodeIn' || kind === 'NodeOut' || kind === 'Cluster';
}

function partOf(fault: Fault, faults: readonly Fault[], situation: Situation): Part {
  const { plane, names } = fault.scope;
  const node = names[0];
  const both = faults.some(
    (other) =>
      other.scope.plane !== plane &&
      other.kind === fault.kind &&
      other.family === fault.family &&
      other.scope.names[0] === node,
  );
  const subject = node ?? CLUSTER;
  return {
    class: both && node !== undefined ? 'Node' : `${plane}Network`,
    subject,
    severity: severityOf(fault),
    message: `${networkOf(plane)} of ${node ?? 'the cluster'}: ${symptomOf(fault)}${directionOf(fault)}${both ? '' : otherPlane(subject, plane, situation)}`,
    evidence: evidenceOf(fault),
  };
}

function directionOf({ scope }: Fault): string {
  if (scope.kind === 'NodeIn') return ', all of them towards the node';
  return scope.kind === 'NodeOut' ? ', all of them from the node' : '';
}

/** Returns whether the other plane works, as a part of the message, so that nobody has to look it up. */
function otherPlane(node: string, plane: Plane, { pairs }: Situation): string {
  const other = PLANES.find((one) => one !== plane) ?? plane;
  const own = pairs.filter(
    (pair) => pair.plane === other && (node === CLUSTER || pair.from === node || pair.to === node),
  );
  if (own.length === 0) return `; its ${networkOf(other)} was not measured`;
  const works = own.filter(({ quality }) => quality === 'Ok').length >= own.length * 0.9;
  return works ? `; its ${networkOf(other)} works` : '';
}

/**
 * Finds faults between zones: everything from or to a zone, or everything between two.
 *
 * | fault | subject |
 * |---|---|
 * | all pairs of a zone with several others | `zone` |
 * | all pairs of two zones, or there are only two | `a <-> b` |
 *
 * A fault of large packets only is of the class MTU, and a fault of slow ones of the class Latency.
 */
export const zones: Rule = ({ confirmed }) =>
  [...confirmed]
    .filter(({ scope, kind }) => isOfPackets(kind) && (scope.kind === 'Zone' || scope.kind === 'Zones'))
    .map((fault) => {
      const subject = fault.scope.names.join(' <-> ');
      const place =
        fault.scope.kind === 'Zone'
          ? `zone ${subject} and the other zones`
          : `zones ${fault.scope.names.join(' and ')}`;
      return {
        class: 'Zone',
        subject,
        severity: severityOf(fault),
        message: `${networkOf(fault.scope.plane)} between ${place}: ${symptomOf(fault)}`,
        evidence: evidenceOf(fault),
      };
    });

/** Finds faults between two nodes that both reach others. See linkSubject() for the direction. */
export const links: Rule = ({ confirmed, agents }) =>
  [...confirmed]
    .filter(({ scope, kind }) => isOfPackets(kind) && scope.kind === 'Link')
    .map((fault) => {
      const subject = linkSubject(fault, agents);
      return {
        class: 'Link',
        subject,
        severity: severityOf(fault),
        message: `${networkOf(fault.scope.plane)} ${subject}: ${symptomOf(fault)}`,
        evidence: evidenceOf(fault),
      };
    });

/**
 * Finds paths on which small packets pass and large ones vanish.
 *
 * | affected | subject |
 * |---|---|
 * | nearly all pairs of a node, or all pairs to it or from it that send such packets | the node |
 * | nearly all pairs of a zone, or between two | the zone, or `a <-> b` |
 * | nearly all pairs of the cluster | `cluster` |
 * | one link | the link |
 */
export const mtu: Rule = (situation) => {
  const faults = [...situation.confirmed].filter(({ kind }) => kind === 'Mtu');
  if (faults.length === 0) return [];
  const mtus = new InterfaceMtus(situation.pairs);
  return faults.map((fault) => {
    const subject = subjectOf(fault, situation);
    const message = `${networkOf(fault.scope.plane)} of ${subject}: ${symptomOf(fault)}, while small packets pass${directionOf(fault)}${interfaceOf(fault, mtus)}`;
    return { class: 'MTU', subject, severity: 'Degraded', message, evidence: evidenceOf(fault) };
  });
};

/** Returns the MTU of the node's interface, as a part of the message, if the MTUs of the nodes explain the fault. */
function interfaceOf({ scope: { kind, plane, names }, pairs }: Fault, mtus: InterfaceMtus): string {
  const own = mtus.of(names[0] ?? '', plane);
  const isOneWay = kind === 'NodeIn' || kind === 'NodeOut';
  const explains = isOneWay && pairs.filter(losesLarge).every((pair) => isMismatch(pair, mtus));
  return explains && own !== undefined ? `; its interface has an MTU of ${own} bytes` : '';
}

/** Finds paths on which packets arrive, and take much longer than elsewhere in the cluster. The subjects are the subjects of the class MTU. */
export const latency: Rule = (situation) =>
  [...situation.confirmed]
    .filter(({ kind }) => kind === 'Slow')
    .map((fault) => {
      const subject = subjectOf(fault, situation);
      const message = `${networkOf(fault.scope.plane)} of ${subject}: ${symptomOf(fault)}`;
      return { class: 'Latency', subject, severity: 'Degraded', message, evidence: evidenceOf(fault) };
    });

function subjectOf(fault: Fault, { agents }: Situation): string {
  if (fault.scope.kind === 'Link') return linkSubject(fault, agents);
  return fault.scope.names.length === 0 ? CLUSTER : fault.scope.names.join(' <-> ');
}
