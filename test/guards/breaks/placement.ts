import type { Break } from '../break.ts';

/** The PodPlacements, from which the admission policy takes what it adds to pods. */
export const PLACEMENT: readonly Break[] = [
  {
    promise: 'A TrafficWatch says that its pods get the node affinity only if the PodPlacement has its entry.',
    file: 'src/controllers/trafficwatch/decide/report/workloadConditions.ts',
    find: 'if (isPlacedAs(placed.entry, o.watch, plan)) return undefined;',
    replace: 'if (isPlacedAs(placed.entry, o.watch, plan) || placed.entry === undefined) return undefined;',
    test: {
      project: 'unit',
      path: 'src/controllers/trafficwatch/decide/workload/workload.test.ts',
      name: 'with a PodPlacement that has no entry',
    },
  },
  {
    promise: 'A PodPlacement stays below its limit, whatever the selectors of TrafficWatches.',
    file: 'src/controllers/trafficwatch/decide/workload/podPlacement.ts',
    find: '[JSON.stringify(entry), ...labels.map(',
    replace: "[JSON.stringify(entry), ...[''].map(",
    test: {
      project: 'unit',
      path: 'src/controllers/trafficwatch/decide/workload/podPlacement.test.ts',
      name: 'stays below its limit',
    },
  },
  {
    promise: 'A PodPlacement has few TrafficWatches for one label, so that none makes the creation of pods slow.',
    file: 'src/controllers/trafficwatch/decide/workload/podPlacement.ts',
    find: 'found >= MOST_OF_LABEL || ',
    replace: '',
    test: {
      project: 'unit',
      path: 'src/controllers/trafficwatch/decide/workload/podPlacement.test.ts',
      name: 'has so many of one label at most',
    },
  },
  {
    promise: 'A TrafficWatch that is deleted leaves the PodPlacement before its labels are taken off.',
    file: 'src/controllers/trafficwatch/act/act.ts',
    find: 'const failure = await leavePlacement(o, writers);',
    replace: 'const failure = undefined as Failure | undefined;',
    test: {
      project: 'unit',
      path: 'src/controllers/trafficwatch/act/podPlacements.test.ts',
      name: 'leaves the PodPlacement before its labels are taken off',
    },
  },
  {
    promise: 'A pod is created without terms if the placement webhook fails.',
    file: 'src/placement/webhook/configuration.ts',
    find: "failurePolicy: 'Ignore'",
    replace: "failurePolicy: 'Fail'",
    test: {
      project: 'unit',
      path: 'src/placement/webhook/configuration.test.ts',
      name: 'never keeps a pod from being created',
    },
  },
  {
    promise: 'The placement webhook never gets the pods of kube-system and of its own namespace.',
    file: 'src/placement/webhook/configuration.ts',
    find: '.filter((namespace) => !excluded.includes(namespace))',
    replace: '',
    test: {
      project: 'unit',
      path: 'src/placement/webhook/configuration.test.ts',
      name: 'gets the pods of namespaces with a PodPlacement, and of no other',
    },
  },
  {
    promise: 'The placement webhook uses a renewed certificate only after API servers could read it.',
    file: 'src/placement/webhook/configurationKeeper.ts',
    find: ' || clock.monotonic() - since < SPREAD_MS) return;',
    replace: ') return;',
    test: {
      project: 'unit',
      path: 'src/placement/webhook/configurationKeeper.test.ts',
      name: 'is used a minute after API servers could read it',
    },
  },
];
