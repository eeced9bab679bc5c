import { describe, expect, it } from 'vitest';
import { localise } from './localise.ts';
import { FAMILIES, type Family } from './pairs/quality.ts';
import { seeded } from './testing/random.ts';
import { clusterOf, type Damage, type SimFault } from './testing/simCluster.ts';
import { simulate } from './testing/simulate.ts';
import type { ClusterView } from './view.ts';

function dual(size: number, faults: readonly SimFault[], zones = 1): ClusterView {
  return simulate(clusterOf(size, zones, { families: FAMILIES }), faults, seeded(1));
}

function found(view: ClusterView): string[] {
  return localise(view).findings.map(({ class: one, subjects, severity }) => `${one} ${subjects.join()} ${severity}`);
}

/** On the pod network. */
function of(node: string, does: Damage, ...families: Family[]): SimFault {
  return { at: 'node', node, planes: ['Pod'], does, ...(families.length > 0 && { families }) };
}

function cut(node: string, ...families: Family[]): SimFault {
  return of(node, 'cut', ...families);
}

describe('a fault of one address family', () => {
  it.each<[string, number, readonly SimFault[], readonly string[]]>([
    ['of a node', 6, [cut('node3', 'IPv6')], ['PodNetwork node3 Degraded']],
    ['of the first family', 6, [cut('node3', 'IPv4')], ['PodNetwork node3 Degraded']],
    ['of both families is a failed network', 6, [cut('node3', ...FAMILIES)], ['PodNetwork node3 Failed']],
    [
      'of both planes of a node',
      6,
      [{ at: 'node', node: 'node3', does: 'cut', families: ['IPv6'] }],
      ['Node node3 Degraded'],
    ],
    [
      'on one plane, and another family on the other plane',
      6,
      [cut('node3', 'IPv6'), { ...cut('node3', 'IPv4'), planes: ['Host'] }],
      ['PodNetwork node3 Degraded', 'HostNetwork node3 Degraded'],
    ],
    [
      'next to a network that fails',
      6,
      [cut('node3', 'IPv6'), { ...cut('node3'), planes: ['Host'] }],
      ['HostNetwork node3 Failed', 'PodNetwork node3 Degraded'],
    ],
    [
      'of a node, and the other family of another node: nothing passes between them',
      6,
      [cut('node3', 'IPv6'), cut('node5', 'IPv4')],
      ['PodNetwork node3 Degraded', 'PodNetwork node5 Degraded'],
    ],
    [
      'the same in the smallest cluster',
      3,
      [cut('node2', 'IPv6'), cut('node3', 'IPv4')],
      ['PodNetwork node2 Degraded', 'PodNetwork node3 Degraded'],
    ],
    [
      'next to a node that is cut',
      6,
      [cut('node3', 'IPv6'), cut('node5')],
      ['PodNetwork node5 Failed', 'PodNetwork node3 Degraded'],
    ],
    [
      'of a node, next to a node that loses packets',
      6,
      [cut('node3', 'IPv6'), of('node5', { loss: 0.3 })],
      ['PodNetwork node3 Degraded', 'PodNetwork node5 Degraded'],
    ],
    [
      'of a link, whose direction is not known: agents count what they hear over all families',
      6,
      [{ at: 'link', from: 'node2', to: 'node4', oneWay: true, does: 'cut', families: ['IPv6'] }],
      ['Link node2 <-> node4 Degraded'],
    ],
    [
      'of each link between two nodes, a different one on each',
      6,
      [
        { at: 'link', from: 'node2', to: 'node4', does: 'cut', families: ['IPv4'] },
        { at: 'link', from: 'node2', to: 'node4', does: 'cut', families: ['IPv6'] },
      ],
      ['Link node2 <-> node4 Failed'],
    ],
    [
      'of the cluster',
      6,
      [{ at: 'cluster', planes: ['Pod'], does: 'cut', families: ['IPv6'] }],
      ['PodNetwork cluster Degraded'],
    ],
    ['that loses packets', 6, [of('node3', { loss: 0.3 }, 'IPv6')], ['PodNetwork node3 Degraded']],
    ['that drops large packets', 6, [of('node3', { above: 1280 }, 'IPv6')], ['MTU node3 Degraded']],
  ])('%s', (_, size, faults, findings) => {
    expect(found(dual(size, faults))).toEqual(findings);
  });

  it('of a zone is Degraded', () => {
    const fault: SimFault = { at: 'zone', zone: 'zone2', does: 'cut', families: ['IPv6'] };
    expect(found(dual(9, [fault], 3))).toEqual(['Zone zone2 Degraded']);
  });

  it('is named in the message and in the evidence', () => {
    const measured = 'IPv6: TCP timeout, UDP 0 of 20 echoed; IPv4 works';
    expect(localise(dual(3, [cut('node2', 'IPv6')])).findings).toEqual([
      {
        ...{ class: 'PodNetwork', subjects: ['node2'], severity: 'Degraded' },
        message: `pod network of node2: 4 of 4 pairs fail (${measured}); its host network works`,
        evidence: {
          ...{ affectedPairs: 4, observedPairs: 4, lossPercent: 100 },
          pairs: [
            { from: 'node1', to: 'node2', plane: 'Pod', measured },
            { from: 'node2', to: 'node1', plane: 'Pod', measured },
            { from: 'node2', to: 'node3', plane: 'Pod', measured },
          ],
        },
      },
    ]);
  });

  it.each<[string, SimFault, RegExp]>([
    ['loses packets', of('node2', { loss: 0.3 }, 'IPv6'), /4 of 4 pairs lose packets over IPv6, \d+ % of all/],
    [
      'drops large ones',
      of('node2', { above: 1280 }, 'IPv4'),
      /4 of 4 pairs lose packets larger than 1280 bytes over IPv4/,
    ],
    ['fails over all', cut('node2', ...FAMILIES), /pairs fail \(TCP timeout, UDP 0 of 20 echoed\)/],
  ])('is named also if it %s', (_, fault, message) => {
    expect(localise(dual(3, [fault])).findings[0]?.message).toMatch(message);
  });

  it('shows first a pair that works over the other family', () => {
    const [, second] = localise(dual(3, [cut('node2', 'IPv6'), cut('node3', 'IPv4')])).findings;
    expect(second?.evidence.pairs.map(({ measured }) => measured)).toEqual([
      'IPv4: TCP timeout, UDP 0 of 20 echoed; IPv6 works',
      'TCP timeout, UDP 0 of 20 echoed',
    ]);
  });

  it('explains no service that is asked over the other family', () => {
    const dns: SimFault = { at: 'dns', node: 'node3' };
    expect(found(dual(6, [cut('node3', 'IPv6'), dns]))).toEqual(['DNS node3 Failed', 'PodNetwork node3 Degraded']);
    expect(found(dual(6, [cut('node3', 'IPv4'), dns]))).toEqual(['PodNetwork node3 Degraded']);
  });
});
