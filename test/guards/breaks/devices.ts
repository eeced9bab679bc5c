import type { Break } from '../break.ts';

/** The network devices of a node, and its percent. */
export const DEVICES: readonly Break[] = [
  {
    promise: 'A bridge on top of a NIC is not counted in addition to the NIC, even if drivers are unknown.',
    file: 'src/usage/evaluate/devices/deviceKinds.ts',
    find: "  'br[0-9]+|.*bridge[0-9]*|cbr[0-9]+|.+-br|br-int|br-ex|br-tun|br-local|brq.*|qbr.*|xenbr.*',\n",
    replace: '',
    test: { project: 'unit', path: 'src/usage/evaluate/hostLayouts.test.ts', name: 'is measured correctly' },
  },
  {
    promise: 'A node has no percent while missing series leave open whether a device repeats the traffic of another.',
    file: 'src/usage/evaluate/nodeFacts.ts',
    find: 'const doubt = doubtOf({ counted, excluded });',
    replace: 'const doubt = undefined;',
    test: { project: 'unit', path: 'src/usage/evaluate/devices/doubt.test.ts', name: 'is Unknown' },
  },
  {
    promise:
      'A node has no percent while one of its devices has a counter and no rate, so that a full device is not hidden.',
    file: 'src/usage/evaluate/percent.ts',
    find: 'const unrated = lackOfRate(sums);',
    replace: 'const unrated = undefined as ReturnType<typeof lackOfRate>;',
    test: {
      project: 'unit',
      path: 'src/usage/evaluate/missingRates.test.ts',
      name: 'leaves no figure: the same speed',
    },
  },
  {
    promise: 'A full NIC without a speed is not hidden by the speed of a much faster idle NIC.',
    file: 'src/usage/evaluate/rateProblems.ts',
    find: 'Math.min(REAL_SHARE * speeds, REAL_RATE)',
    replace: 'REAL_SHARE * speeds',
    test: {
      project: 'unit',
      path: 'src/usage/evaluate/rateProblems.test.ts',
      name: '1 Gbit/s, full, next to 100 Gbit/s',
    },
  },
  {
    promise:
      'A node has no percent while the counter of one of its NICs is missing, as in a partial answer of a store with shards.',
    file: 'src/usage/evaluate/devices/devices.ts',
    find: "why === 'Absent' && isActiveNic",
    replace: "why === 'Bridge' && isActiveNic",
    test: {
      project: 'unit',
      path: 'src/usage/evaluate/missingCounters.test.ts',
      name: 'leaves no figure: the same speed',
    },
  },
  {
    promise:
      'A node has no percent while a virtual function of the host has traffic that its physical function does not count.',
    file: 'src/usage/evaluate/unknownTraffic.ts',
    find: 'if (byDriver === undefined && rateOf(found, [physical]) >= AS_MUCH * rate) return undefined;',
    replace: 'if (byDriver === undefined) return undefined;',
    test: {
      project: 'unit',
      path: 'src/usage/evaluate/functionTraffic.test.ts',
      name: 'leaves no figure: the host uses it',
    },
  },
  {
    promise: 'A node has no percent of a rate above 125 % of the speed of its link, as when a counter jumps.',
    file: 'src/usage/evaluate/sums.ts',
    find: 'const MOST_PERCENT = 125;',
    replace: 'const MOST_PERCENT = 200;',
    test: {
      project: 'unit',
      path: 'src/usage/evaluate/impossibleRate.test.ts',
      name: 'the counter jumped less far',
    },
  },
  {
    promise: 'The slaves of a failover device of virtio do not count in addition to it.',
    file: 'src/usage/evaluate/devices/doubt.ts',
    find: 'belowFailover(counted) ?? ',
    replace: '',
    test: {
      project: 'unit',
      path: 'src/usage/evaluate/devices/doubt.test.ts',
      name: 'a virtual function below a failover device',
    },
  },
  {
    promise: 'A pattern of devices in a spec must match the whole name of a device.',
    file: 'src/usage/evaluate/devices/deviceFilter.ts',
    find: 'RE2JS.compile(pattern, RE2JS.DOTALL)',
    replace: 'RE2JS.compile(`.*(?:${pattern}).*`, RE2JS.DOTALL)',
    test: {
      project: 'unit',
      path: 'src/usage/evaluate/devices/deviceFilter.test.ts',
      name: 'the whole name must match',
    },
  },
  {
    promise: 'The eth0 of a pod is not measured as the network of its node, whatever range its address is of.',
    file: 'src/nodes/nodeNames.ts',
    find: 'return addresses.some((each) => isIP(each) !== 0) ? { address } : undefined;',
    replace: 'return undefined;',
    test: {
      project: 'unit',
      path: 'src/usage/pass/foreignSeries.test.ts',
      name: 'an address that the Node does not list is of a pod, whose driver is of a pod',
    },
  },
  {
    promise:
      'The eth0 of a pod is not measured as a NIC of its node, although its exporter reads the facts of the host.',
    file: 'src/usage/pass/foreignSeries.ts',
    find: 'counted.every(({ isNic }) => isNic)',
    replace: 'counted.every(({ speed }) => speed !== undefined)',
    test: {
      project: 'unit',
      path: 'src/usage/pass/foreignSeries.test.ts',
      name: 'with /sys of the host: its eth0 has the speed and the link of a NIC',
    },
  },
  {
    promise: 'A node is not measured by series that another node sends, whatever their label `node` says.',
    file: 'src/usage/pass/foreignSeries.ts',
    find: 'owner !== undefined && owner !== node',
    replace: "typeof owner === 'symbol'",
    test: {
      project: 'unit',
      path: 'src/usage/pass/foreignSeries.test.ts',
      name: 'if their instance 192.0.2.2:9100 is of node b',
    },
  },
];
