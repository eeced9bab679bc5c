import type { Break } from '../break.ts';

/** Queries to Prometheus, the deployed Prometheus, and TrafficWatches. */
export const MEASUREMENT: readonly Break[] = [
  {
    promise: 'A node has no percent while its rate window has samples from before and after a fall of a counter.',
    file: 'src/usage/series/lateSamples.ts',
    find: 'return fallen > NEGLIGIBLE_BYTES || lowest < LARGE * range;',
    replace: 'return lowest < LARGE * range;',
    test: { project: 'unit', path: 'src/usage/series/lateSamples.test.ts', name: 'has a wrong slope: true' },
  },
  {
    promise: 'A node has no percent of a single sample, which VictoriaMetrics gives the slope 0.',
    file: 'src/usage/series/lateSamples.ts',
    find: 'yield* single;',
    replace: '',
    test: { project: 'unit', path: 'src/usage/pass/fallenCounters.test.ts', name: 'whatever the server says' },
  },
  {
    promise:
      'A series whose samples have stopped does not count if another series of the same device still gets samples.',
    file: 'src/usage/pass/lookups/liveSeries.ts',
    find: '...ambiguousOf(answers), ...besideLate(late, answers)',
    replace: '...ambiguousOf(answers)',
    test: {
      project: 'unit',
      path: 'src/usage/pass/liveSeries.test.ts',
      name: 'while the other series is shown without samples for five minutes: under one instance',
    },
  },
  {
    promise: 'With replicas, a rate that no link can carry does not win over the rate of another replica.',
    file: 'src/usage/pass/lookups/soundReplicas.ts',
    find: 'if (impossible.size === 0) continue;',
    replace: 'if (impossible.size >= 0) continue;',
    test: { project: 'unit', path: 'src/usage/pass/soundReplicas.test.ts', name: 'the rate of another replica counts' },
  },
  {
    promise: 'A node has no percent while a collector repeats old values of its counters.',
    file: 'src/usage/pass/lookups/repeatedValues.ts',
    find: 'wrongUntil: now + this.#windowSeconds',
    replace: 'wrongUntil: now',
    test: { project: 'unit', path: 'src/usage/pass/repeatedValues.test.ts', name: 'although the slope is not 0 yet' },
  },
  {
    promise: 'Verdicts are still reached if every third query to Prometheus fails.',
    file: 'src/controllers/trafficwatch/observe/passMemory.ts',
    find: 'const LEAST_FAILED_PASSES = 2;',
    replace: 'const LEAST_FAILED_PASSES = 1;',
    test: {
      project: 'unit',
      path: 'src/controllers/trafficwatch/observe/outage.test.ts',
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
    file: 'src/controllers/measurement/module.ts',
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
    file: 'src/controllers/measurement/model/discovery.ts',
    find: '[...byNode].map(([node, addresses]) => ({ node, addresses }))',
    replace: '[...byNode].flatMap(([node, all]) => all.map((address) => ({ node, addresses: [address] })))',
    test: {
      project: 'unit',
      path: 'src/controllers/measurement/model/agentTargets.test.ts',
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
    file: 'src/controllers/trafficwatch/observe/passViews.ts',
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
    promise: 'Replicas that any client sets again after a correction are left to that client.',
    file: 'src/controllers/trafficwatch/model/replicas.ts',
    find: 'o.now - corrected < REPEATED_WITHIN_MS',
    replace: 'false',
    test: {
      project: 'unit',
      path: 'src/controllers/trafficwatch/model/replicas.test.ts',
      name: 'are given up after one correction',
    },
  },
  {
    promise:
      'A TrafficWatch without recoverBandwidthPercent changes a label at most 60 times a day with 20 % noise around its threshold.',
    file: 'src/api/trafficwatch/spec/verdict.ts',
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
    file: 'src/controllers/trafficwatch/observe/workload/targets.ts',
    find: "  'rollouts-pod-template-hash',\n",
    replace: '',
    test: {
      project: 'unit',
      path: 'src/controllers/trafficwatch/observe/workload/target.test.ts',
      name: 'selects the pods of every revision',
    },
  },
  {
    promise:
      'A TrafficWatch whose pods a descheduler evicts from unfit nodes has a Warning event, at most one in ten minutes.',
    file: 'src/controllers/trafficwatch/act/evictedPods.ts',
    find: '      ...before,\n',
    replace: '',
    test: {
      project: 'unit',
      path: 'src/controllers/trafficwatch/act/evictedPods.test.ts',
      name: 'emit one event for the pods of one run of a descheduler',
    },
    why: 'A reconcile between the evictions and their event would forget them, and when the last event was.',
  },
  {
    promise: 'Pods that kubectl drain evicts cause no event about a descheduler.',
    file: 'src/controllers/trafficwatch/act/evictedPods.ts',
    find: 'isBeingEmptied ? [] : keys',
    replace: 'keys',
    test: {
      project: 'unit',
      path: 'src/controllers/trafficwatch/act/evictedPods.test.ts',
      name: 'do not count a pod while its node is emptied',
    },
  },
];
