import type { Break } from '../break.ts';

/** Queries to Prometheus, devices, the deployed Prometheus, and TrafficWatches. */
export const MEASUREMENT: readonly Break[] = [
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
      path: 'src/usage/evaluate/missing/missingRates.test.ts',
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
      name: 'a full NIC of 1 Gbit/s next to 100 Gbit/s',
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
      path: 'src/usage/evaluate/missing/missingCounters.test.ts',
      name: 'leaves no figure: the same speed',
    },
  },
  {
    promise:
      'A node has no percent while a virtual function of the host has traffic that its physical function does not count.',
    file: 'src/usage/evaluate/devices/functionTraffic.ts',
    find: 'if (byDriver === undefined && rateOf(found, [physical]) >= AS_MUCH * rate) return undefined;',
    replace: 'if (byDriver === undefined) return undefined;',
    test: {
      project: 'unit',
      path: 'src/usage/evaluate/devices/functionTraffic.test.ts',
      name: 'leaves no figure: the host uses it',
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
  {
    promise: 'Where the operator may not write a Deployment, it sends no request about it, and says what to set.',
    file: 'src/controllers/trafficwatch/observe/observe.ts',
    find: 'if (problem !== undefined) return { deployment: undefined, deploymentProblem: problem };',
    replace: '',
    test: {
      project: 'unit',
      path: 'src/controllers/trafficwatch/act/deploymentRights.test.ts',
      name: 'sends no request about the Deployment, writes no label, and says in the status what to do',
    },
  },
  {
    promise: 'The operator may write Deployments of TrafficWatches only in the namespaces that the chart lists.',
    file: 'charts/traffic-operator/templates/rbac.yaml',
    find: '{{- if $everywhere }}',
    replace: '{{- if true }}',
    test: {
      project: 'chart',
      path: 'test/chart/renderedRights.test.ts',
      name: 'to write the Deployments of TrafficWatches are bound only in the namespaces of the value',
    },
  },
  {
    promise: 'An operator without the Deployments of TrafficWatches does not watch Deployments of others.',
    file: 'src/controllers/trafficwatch/module.ts',
    find: 'withDeployments ? createDeploymentInformer(common) : undefined',
    replace: 'withDeployments === undefined ? undefined : createDeploymentInformer(common)',
    test: {
      project: 'chart',
      path: 'test/chart/labelOnly.test.ts',
      name: 'sends no request that is refused, and of Deployments only reads the target',
    },
  },
  {
    promise: 'Virtual nodes get no node-exporter, whatever affinity the user gives it.',
    file: 'src/nodes/virtualNodes.ts',
    find: 'isEmpty(term) ? term : withRealNodes(term)',
    replace: 'term',
    test: {
      project: 'unit',
      path: 'src/controllers/measurement/components/placement.test.ts',
      name: 'the affinity takes a virtual node',
    },
    why: 'Its pod would never be ready, and so neither would the stack default.',
  },
  {
    promise: 'A node that the placement of node-exporter leaves out does not make MetricsAvailable False.',
    file: 'src/nodes/unmeasuredNodes.ts',
    find: '(runs === undefined || runs(node) ? undefined : LEFT_OUT)',
    replace: 'undefined',
    test: { project: 'unit', path: 'src/nodes/unmeasuredNodes.test.ts', name: 'where no exporter runs' },
  },
  {
    promise: 'The eth0 of a pod is not measured as the network of its node.',
    file: 'src/nodes/podAddress.ts',
    find: 'podCIDRs.find((each) => contains(each, address))',
    replace: 'podCIDRs.find((each) => each === address)',
    test: {
      project: 'unit',
      path: 'src/usage/pass/podNetwork.test.ts',
      name: 'with an instance that is the address of a pod: ',
    },
  },
  {
    promise:
      'The eth0 of a pod is not measured as a NIC of its node, although its exporter reads the facts of the host.',
    file: 'src/usage/pass/evaluation.ts',
    find: 'counted.every(({ isNic }) => isNic)',
    replace: 'counted.every(({ speed }) => speed !== undefined)',
    test: {
      project: 'unit',
      path: 'src/usage/pass/podNetwork.test.ts',
      name: 'with /sys of the host: its eth0 has the speed and the link of a NIC',
    },
  },
  {
    promise: 'Replicas that any client sets again after a correction are left to that client.',
    file: 'src/controllers/trafficwatch/decide/deployment/replicas.ts',
    find: 'o.now - corrected < REPEATED_WITHIN_MS',
    replace: 'false',
    test: {
      project: 'unit',
      path: 'src/controllers/trafficwatch/decide/deployment/replicas.test.ts',
      name: 'are given up after one correction',
    },
  },
  {
    promise:
      'A TrafficWatch without recoverBandwidthPercent changes a label at most 60 times a day with 20 % noise around its threshold.',
    file: 'src/api/trafficwatch/spec/thresholds.ts',
    find: 'const DEFAULT_RECOVERY = 80;',
    replace: 'const DEFAULT_RECOVERY = 90;',
    test: {
      project: 'unit',
      path: 'src/controllers/trafficwatch/decide/verdict/simulation.test.ts',
      name: 'flips a label at most 60 times a day',
    },
  },
  {
    promise: 'Pods of every revision of a target get the affinity, whatever hash its scale names.',
    file: 'src/controllers/trafficwatch/observe/workload/revisions.ts',
    find: "  'rollouts-pod-template-hash',\n",
    replace: '',
    test: {
      project: 'unit',
      path: 'src/controllers/trafficwatch/observe/workload/target.test.ts',
      name: 'selects the pods of every revision',
    },
  },
];
