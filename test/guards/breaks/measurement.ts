import type { Break } from '../break.ts';

/** Queries to Prometheus, devices, the deployed Prometheus, and TrafficWatches. */
export const MEASUREMENT: readonly Break[] = [
  {
    promise: 'A bridge on top of a NIC is not counted in addition to the NIC, even if drivers are unknown.',
    file: 'src/usage/evaluate/devices/deviceKinds.ts',
    find: "  'br[0-9]+|bridge[0-9]+|cbr[0-9]+|vmbr.*|fwbr.*|fwpr.*|fwln.*|lxdbr.*|incusbr.*',\n",
    replace: '',
    test: { project: 'unit', path: 'src/usage/evaluate/hostLayouts.test.ts', name: 'is measured correctly' },
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
    promise: 'Verdicts are still reached if every third query to Prometheus fails.',
    file: 'src/controllers/trafficwatch/decide/verdict/outage.ts',
    find: 'const LEAST_FAILED_PASSES = 2;',
    replace: 'const LEAST_FAILED_PASSES = 1;',
    test: {
      project: 'unit',
      path: 'src/controllers/trafficwatch/decide/verdict/outage.test.ts',
      name: 'while every third pass fails',
    },
    why: 'After each outage, verdicts wait until the rate window is full.',
  },
  {
    promise: 'Receive rates are queried only while a TrafficWatch uses them.',
    file: 'src/usage/pass/receiveRates.ts',
    find: 'if (usesReceived(reading)) return true;\n  return false;',
    replace: 'if (usesReceived(reading)) return true;\n  return true;',
    test: {
      project: 'unit',
      path: 'src/usage/pass/passReadings.test.ts',
      name: 'of another measure need no receive rates',
    },
  },
  {
    promise: 'A wrong clock of the operator or of Prometheus is reported, and percentages stay correct.',
    file: 'src/prometheus/prometheusClient.ts',
    find: "params.delete('time');",
    replace: '',
    test: {
      project: 'faults',
      path: 'test/faults/prometheusClock.test.ts',
      name: "the operator's clock 300 s ahead > is named",
    },
    slow: true,
    why: 'Prometheus would evaluate at the time of the operator.',
  },
  {
    promise: 'The clean-up deletes the volume claim of the deployed Prometheus.',
    file: 'src/controllers/measurement/removeMeasurement.ts',
    find: "options.prometheus.volume = { kind: 'claim', size: '1Gi' };",
    replace: '',
    test: {
      project: 'unit',
      path: 'src/controllers/measurement/removeMeasurement.test.ts',
      name: 'removes all objects, the namespace after its objects',
    },
  },
  {
    promise: 'The targets of the connectivity agents have one group for each node, so that 10,000 nodes fit.',
    file: 'src/controllers/measurement/decide/agentTargets.ts',
    find: '[...byNode].map(([node, addresses]) => ({ node, addresses }))',
    replace: '[...byNode].flatMap(([node, all]) => all.map((address) => ({ node, addresses: [address] })))',
    test: {
      project: 'unit',
      path: 'src/controllers/measurement/decide/agentTargets.test.ts',
      name: 'has one group for each node',
    },
  },
  {
    promise: 'Nodes are still scraped if the operator may not watch the targets of the connectivity agents.',
    file: 'src/controllers/measurement/observe/caches.ts',
    find: 'const deciding = [...targets.informers, slices, ...own];',
    replace: 'const deciding = [...targets.informers, ...agentTargets.informers, slices, ...own];',
    test: {
      project: 'integration',
      path: 'test/integration/measurementRights.test.ts',
      name: 'as with the Role of an older release',
    },
    slow: true,
  },
  {
    promise: 'A TrafficWatch with a node selector decides only when selected nodes have data.',
    file: 'src/controllers/trafficwatch/decide/passFigures.ts',
    find: 'const nodes = this.#areAll ? undefined : this.#nodes;',
    replace: 'const nodes = undefined;',
    test: {
      project: 'unit',
      path: 'src/controllers/trafficwatch/decide/selection.test.ts',
      name: 'is decided by passes with data of selected nodes',
    },
  },
  {
    promise: 'A malformed TrafficWatch is stalled with the reason, even if the CRD does not validate it.',
    file: 'src/controllers/trafficwatch/decide/decidePlan.ts',
    find: "if ('problems' in parsed) return planStall",
    replace: "if ('problems' in parsed && parsed.problems.length > 1) return planStall",
    test: {
      project: 'faults',
      path: 'test/faults/hostile.test.ts',
      name: 'let through by another CRD > are refused or come to an end that says why',
    },
    slow: true,
  },
];
