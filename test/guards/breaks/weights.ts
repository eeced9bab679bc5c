import type { Break } from '../break.ts';

/** DNS weights: ramps, records, and the sub-command `weights`. */
export const WEIGHTS: readonly Break[] = [
  {
    promise: 'A ramp asks its gate before each step.',
    file: 'src/weights/ramp/ramp.ts',
    find: 'if (!settings.isGated) return towards',
    replace: 'if (!settings.isGated || state.weight !== state.from) return towards',
    test: { project: 'unit', path: 'src/weights/ramp/ramp.test.ts', name: 'asks its gate before each' },
  },
  {
    promise: 'A ramp rolls back only when its gate has failed more often than failureLimit.',
    file: 'src/weights/ramp/ramp.ts',
    find: 'if (failed.failures > settings.failureLimit)',
    replace: 'if (failed.failures >= settings.failureLimit)',
    test: { project: 'unit', path: 'src/weights/ramp/ramp.test.ts', name: 'may fail as often as its limit says' },
  },
  {
    promise: 'Only the account of the process for DNS weights has rights to DNS records, not the manager.',
    file: 'charts/traffic-operator/templates/rbac.yaml',
    find: '{{- include "traffic-operator.rights.controller.cluster" . | nindent 2 }}',
    replace:
      '{{- include "traffic-operator.rights.controller.cluster" . | nindent 2 }}\n  {{- include "traffic-operator.rights.weights.cluster" . | nindent 2 }}',
    test: {
      project: 'chart',
      path: 'test/chart/renderedRights.test.ts',
      name: 'and the manager has none of them',
    },
  },
  {
    promise: 'A pod for DNS weights does not count as a replica of the manager.',
    file: 'src/controllers/measurement/decide/operatorPods.ts',
    find: '({ ...target, job })',
    replace: '({ ...target })',
    test: {
      project: 'unit',
      path: 'src/controllers/measurement/decide/operatorPods.test.ts',
      name: 'a job of their own',
    },
  },
  {
    promise: 'A DNSEndpoint that another owner controls is not changed, and is named.',
    file: 'src/weights/plan/plan.ts',
    find: '{ isForeign: live !== own, other }',
    replace: '{ isForeign: false, other }',
    test: {
      project: 'unit',
      path: 'src/weights/plan/plan.test.ts',
      name: 'with one that is there, that the Ingress does not control',
    },
  },
  {
    promise: 'A host has no second record while a DNSEndpoint without an owner still has one.',
    file: 'src/weights/plan/plan.ts',
    find: 'holders([...competing, ...leftovers(scene, stays)], scene.heldBefore)',
    replace: 'holders(competing, scene.heldBefore)',
    test: {
      project: 'unit',
      path: 'src/weights/plan/plan.test.ts',
      name: 'whose host a DNSEndpoint that stays has, of an owner that is gone',
    },
  },
  {
    promise: 'With hosted zones, a weight is in force only if the zones have it.',
    file: 'src/controllers/trafficweight/decide/status.ts',
    find: '...(hostedZoneIDs.length === 0 ? [] : [Type.Published]),',
    replace: '',
    test: {
      project: 'unit',
      path: 'src/controllers/trafficweight/decide/status.test.ts',
      name: 'a weight is in force if they have it',
    },
  },
  {
    promise: 'Many hosts that a spec no longer selects keep their records until that is confirmed.',
    file: 'src/weights/plan/removal.ts',
    find: 'return isMany(lost.size, new Set',
    replace: 'return isMany(0, new Set',
    test: {
      project: 'unit',
      path: 'src/weights/plan/plan.test.ts',
      name: 'keep their records until that is confirmed',
    },
  },
  {
    promise: 'A namespace holds a ramp for ten minutes at most, while most records are in others.',
    file: 'src/controllers/trafficweight/decide/late.ts',
    find: 'now - at >= MOST_LATE_MS',
    replace: 'now - at < 0',
    test: {
      project: 'unit',
      path: 'src/controllers/trafficweight/decide/late.test.ts',
      name: 'waits ten minutes for a namespace whose DNSEndpoints external-dns does not read',
    },
  },
  {
    promise: 'A ramp takes no step while a hosted zone cannot be read.',
    file: 'src/weights/ramp/ramp.ts',
    find: "scene.isUnverified && state.phase === 'Progressing'",
    replace: 'false',
    test: {
      project: 'unit',
      path: 'src/weights/ramp/ramp.test.ts',
      name: 'takes no step while a hosted zone cannot be read',
    },
  },
  {
    promise: 'A removal that waits for a confirmation holds no removal of another namespace.',
    file: 'src/weights/plan/removal.ts',
    find: '!free.includes(each)',
    replace: 'free.length < fresh.length || fresh.length < open.length || !free.includes(each)',
    test: {
      project: 'unit',
      path: 'src/weights/plan/removal.test.ts',
      name: 'neither need nor take the confirmation of another',
    },
  },
  {
    promise: 'A removal that waits in one namespace keeps no weight of the others from being acknowledged.',
    file: 'src/weights/plan/removal.ts',
    find: 'waiting >= of || isMany(waiting, of)',
    replace: 'waiting > 0 || of > 0',
    test: {
      project: 'unit',
      path: 'src/weights/plan/removal.test.ts',
      name: 'the removal of one namespace of two waits',
    },
  },
  {
    promise: 'While a removal waits for a confirmation, no object of another namespace takes a host of it.',
    file: 'src/weights/plan/plan.ts',
    find: "isOwner(of) ? 'Leaving' : 'Leftover'",
    replace: "'Leftover'",
    test: {
      project: 'unit',
      path: 'src/controllers/trafficweight/waitingRemovals.test.ts',
      name: 'that it publishes by a DNSEndpoint which it has written itself',
    },
  },
  {
    promise: 'Hosts that one namespace has lost make no removal of another namespace wait.',
    file: 'src/weights/plan/removal.ts',
    find: '...(freed.get(namespace)?.keys() ?? [])',
    replace: '...[...freed.values()].flatMap((each) => [...each.keys()])',
    test: {
      project: 'unit',
      path: 'src/weights/plan/removal.test.ts',
      name: 'that have lost hosts within the hour',
    },
  },
  {
    promise: 'Neither a waiting removal nor a refused Ingress of one namespace keeps a TrafficWeight from being Ready.',
    file: 'src/controllers/trafficweight/decide/status.ts',
    find: '[BackendRead, ...decisive, ramped, Acknowledged]',
    replace: '[BackendRead, ...decisive, removal, ramped, Acknowledged, accepted]',
    test: {
      project: 'unit',
      path: 'src/controllers/trafficweight/decide/status.test.ts',
      name: 'is Ready, and names the conditions about single namespaces',
    },
  },
  {
    promise: 'The memory for the host names of listeners does not grow with the number of their labels.',
    file: 'src/weights/gateway/hostNames.ts',
    find: '.map((name) => ({ end: reversed(name), name }))',
    replace: '.flatMap((name) => name.split(".").map(() => ({ end: reversed(name), name })))',
    test: {
      project: 'unit',
      path: 'src/weights/gateway/hostNames.test.ts',
      name: 'follows the number of names',
    },
  },
  {
    promise: 'A cluster that goes to 0 also drains a DNSEndpoint that nothing plans.',
    file: 'src/weights/plan/plan.ts',
    find: 'isServed ? settings.clusterWeight : 0',
    replace: 'isServed ? Infinity : 0',
    test: { project: 'unit', path: 'src/weights/plan/plan.test.ts', name: 'has at most the weight of the cluster' },
  },
  {
    promise: 'A cluster of the table without a recent sign of life does not let the last cluster go to 0.',
    file: 'src/weights/backend/zeroGuard.ts',
    find: ' && now - seenAt < ALIVE_S',
    replace: '',
    test: { project: 'unit', path: 'src/weights/backend/zeroGuard.test.ts', name: 'counts as a cluster with traffic' },
  },
  {
    promise: 'An invalid weight annotation is reported as an Event on the Ingress.',
    file: 'src/controllers/trafficweight/events.ts',
    find: "this.#events.event(about, 'Warning', reason, note, 'DecideWeight');",
    replace: '',
    test: {
      project: 'unit',
      path: 'src/controllers/trafficweight/events.test.ts',
      name: 'that is refused has an event',
    },
  },
  {
    promise: 'Two Deployments of `weights` with different filters do not change each other’s records.',
    file: 'src/commands/weights/flags.ts',
    find: 'JSON.stringify([clusterName, bindingDomain, annotationFilter])',
    replace: "JSON.stringify(['one name'])",
    test: {
      project: 'unit',
      path: 'src/commands/weights/flags.test.ts',
      name: 'has another name for another selection of Ingresses',
    },
  },
  {
    promise: 'An alert fires if no pod for DNS weights ever runs (TrafficWeightsNotRunning).',
    file: 'prometheus/rules/alerts.yml',
    find: 'max(traffic_operator_process_expected{job="traffic-operator",process="weights"}) == 1',
    replace: 'max(up{job="traffic-operator-weights"}) == 0',
    test: { project: 'integration', path: 'test/integration/rules.test.ts', name: 'hold what' },
  },
  {
    promise:
      'A host stays in the DNS until each Gateway of its HTTPRoute has accepted or refused the present generation.',
    file: 'src/weights/records/httpRoute.ts',
    find: 'observedGeneration >= generation',
    replace: 'observedGeneration > 0',
    test: {
      project: 'unit',
      path: 'src/controllers/trafficweight/unjudged.test.ts',
      name: 'with a refusal of its earlier form',
    },
  },
  {
    promise: 'A DNSEndpoint is not deleted with its Ingress while another object of the namespace waits for its host.',
    file: 'src/weights/records/dnsEndpoint.ts',
    find: '...(heir === undefined ? [] : [ownerOf(heir)])',
    replace: '',
    test: {
      project: 'unit',
      path: 'src/controllers/trafficweight/movedHosts.test.ts',
      name: 'from an Ingress to an HTTPRoute',
    },
  },
];
