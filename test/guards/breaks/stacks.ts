import type { Break } from '../break.ts';

/** TrafficStacks. */
export const STACKS: readonly Break[] = [
  {
    promise: 'A component that was never ready since its last change is corrected whatever its dependencies are.',
    file: 'src/controllers/trafficstack/decide/order.ts',
    find: ' || (exists && wasNeverReady(component, around.prior))',
    replace: '',
    test: {
      project: 'unit',
      path: 'src/controllers/trafficstack/decide/order.test.ts',
      name: 'a correction waits for nothing',
    },
  },
  {
    promise: 'A component that does not exist yet, or is changed, waits for dependencies that are started or changed.',
    file: 'src/controllers/trafficstack/decide/order.ts',
    find: 'return exists && status?.readyRevision !== undefined;',
    replace: 'return exists;',
    test: {
      project: 'unit',
      path: 'src/controllers/trafficstack/decide/lifecycle.property.test.ts',
      name: 'no stage is skipped or out of order',
    },
  },
  {
    promise: 'The operator may write objects of stacks only in the namespaces that the chart lists, and in its own.',
    file: 'charts/traffic-operator/templates/rbac.yaml',
    find: '{{- if $stacksEverywhere }}',
    replace: '{{- if true }}',
    test: {
      project: 'chart',
      path: 'test/chart/renderedRights.test.ts',
      name: 'to write the objects of stacks are bound only in the namespaces of the value, and of the release',
    },
  },
  {
    promise: 'While the stacks of users are off, nothing of one is written.',
    file: 'src/controllers/trafficstack/model/allowed.ts',
    find: 'if (metadata?.name !== DEFAULT_STACK)',
    replace: "if (metadata?.name === '')",
    test: {
      project: 'unit',
      path: 'src/controllers/trafficstack/model/userStacks.test.ts',
      name: 'while the stacks of users are off: a stack of a user, also with what the operator deploys',
    },
  },
  {
    promise: 'Nothing of a stack is changed while it has an object in a namespace in which the operator may not write.',
    file: 'src/controllers/trafficstack/desired.ts',
    find: 'if (refused.length > 0)',
    replace: 'if (refused.length > 1)',
    test: {
      project: 'unit',
      path: 'src/controllers/trafficstack/namespaces.test.ts',
      name: 'keeps what exists, unchanged, and goes on when the namespace is allowed',
    },
  },
  {
    promise: 'The deletion of a stack ends, and says so, if the operator may not delete an object of it.',
    file: 'src/controllers/trafficstack/reconcile.ts',
    find: 'if (isLeaving && plan.isRemoved) return removeStackFinalizer(d, found, signal);',
    replace: '',
    test: {
      project: 'unit',
      path: 'src/controllers/trafficstack/namespaces.test.ts',
      name: 'removes what the operator may, says what is left to Kubernetes, and ends',
    },
  },
  {
    promise: 'An upgrade starts a wave only when all changes of the earlier waves have ended, in every branch.',
    file: 'src/controllers/trafficstack/decide/upgrade/waves.ts',
    find: 'earlier.filter(({ status }) => isBeingChanged(status))',
    replace: 'earlier.filter(() => false)',
    test: {
      project: 'unit',
      path: 'src/controllers/trafficstack/decide/upgrade/waves.test.ts',
      name: 'does not change a later wave before the earlier one is ready',
    },
  },
  {
    promise: 'A change waits until the query of its gate is answered.',
    file: 'src/controllers/trafficstack/decide/upgrade/hold.ts',
    find: 'unmetAnswer({ query: gate.query, answer }, FIELD, false)',
    replace: 'unmetAnswer({ query: gate.query, answer }, FIELD, true)',
    test: {
      project: 'unit',
      path: 'src/controllers/trafficstack/decide/upgrade/gate.test.ts',
      name: 'a component whose objects > differ, it is not asked yet',
    },
    why: 'The last argument lets a query without an answer count as true.',
  },
  {
    promise: 'A query whose result is NaN counts as false.',
    file: 'src/controllers/trafficstack/observe/answerFeed.ts',
    find: 'value === 0 || Number.isNaN(value)',
    replace: 'value === 0',
    test: {
      project: 'unit',
      path: 'src/controllers/trafficstack/observe/answerFeed.test.ts',
      name: 'some that are no number',
    },
  },
  {
    promise: 'A query whose answer is too old is asked again, so that an upgrade goes on.',
    file: 'src/controllers/trafficstack/reconcile.ts',
    find: 'for (const [query, since] of plan.requery) answers.requery(query, Math.min(since, now));',
    replace: '',
    test: { project: 'unit', path: 'src/controllers/trafficstack/rollback.property.test.ts' },
  },
  {
    promise: 'A stack that cannot be read has no metric that says it is not stalled.',
    file: 'src/controllers/trafficstack/metrics.ts',
    find: "condition === undefined || condition.status === 'Unknown'",
    replace: 'condition === undefined',
    test: {
      project: 'unit',
      path: 'src/controllers/trafficstack/stackFigures.test.ts',
      name: 'not known to be by what cannot be read',
    },
  },
  {
    promise: 'A stack goes on using the Prometheus that it used before, if several exist.',
    file: 'src/controllers/trafficstack/model/external.ts',
    find: 'if (external === undefined) return readyRevision === undefined || uses?.fromSpec === true ? undefined : uses;',
    replace: 'if (external === undefined) return undefined;',
    test: {
      project: 'unit',
      path: 'src/controllers/trafficstack/observe/observe.test.ts',
      name: 'one was used until now',
    },
  },
  {
    promise: 'What a search has found for the stack default is named in its spec.',
    file: 'src/controllers/trafficstack/decide/external.ts',
    find: 'return uses === undefined ? [] :',
    replace: 'return uses !== undefined ? [] :',
    test: {
      project: 'unit',
      path: 'src/controllers/trafficstack/decide/foundExternals.test.ts',
      name: 'what a search has found',
    },
  },
  {
    promise: 'An external object that the operator has named in the stack default is kept when the flags change.',
    file: 'src/controllers/trafficstack/render/defaultStack.ts',
    find: 'spec: withNamedOf(stack.spec, live)',
    replace: 'spec: stack.spec',
    test: {
      project: 'unit',
      path: 'src/controllers/trafficstack/render/defaultStack.test.ts',
      name: 'is kept when the flags change other settings',
    },
  },
  {
    promise: 'A node-exporter that the operator has just deleted is not taken for one of another owner.',
    file: 'src/controllers/trafficstack/observe/externalProvider.ts',
    find: 'if (own.length > 0) return undefined;',
    replace: '',
    test: {
      project: 'unit',
      path: 'src/controllers/trafficstack/observe/externalProvider.test.ts',
      name: 'Auto, its own pods are ending',
    },
  },
  {
    promise: 'A node-exporter that the deployed Prometheus cannot scrape is reported as unusable.',
    file: 'src/controllers/measurement/components/foreignExporter.ts',
    find: "const isOurs = isScraped && !used.has('Prometheus');",
    replace: 'const isOurs = !isScraped;',
    test: {
      project: 'unit',
      path: 'src/controllers/measurement/components/foreignExporter.test.ts',
      name: 'is of use, or not: it is behind kube-rbac-proxy',
    },
  },
  {
    promise:
      'A DaemonSet that looks like a node-exporter and has no pods does not replace the node-exporter of the operator.',
    file: 'src/controllers/measurement/components/foreignExporter.ts',
    find: "if (isMost(ready, nodes)) return { is: 'Proven' };",
    replace: "if (ready >= 0) return { is: 'Proven' };",
    test: {
      project: 'unit',
      path: 'src/controllers/trafficstack/external.test.ts',
      name: 'without pods does not keep the operator from its own',
    },
  },
  {
    promise: 'A server that has no series of the nodes does not replace the Prometheus of the operator.',
    file: 'src/controllers/trafficstack/observe/probes.ts',
    find: "if (isMost(measured, of)) return { is: 'Proven' };",
    replace: "if (measured >= 0) return { is: 'Proven' };",
    test: {
      project: 'unit',
      path: 'src/controllers/trafficstack/observe/serverProbes.test.ts',
      name: 'one node, and nodes that this cluster has not',
    },
  },
  {
    promise: 'Services of one namespace do not keep the operator from querying a Prometheus in another namespace.',
    file: 'src/controllers/trafficstack/observe/externalProvider.ts',
    find: 'turns.sort((a, b) => a.turn - b.turn)',
    replace: 'turns',
    test: {
      project: 'unit',
      path: 'src/controllers/trafficstack/observe/serverSearch.test.ts',
      name: 'no namespace takes the turns of another',
    },
  },
  {
    promise:
      'A node-exporter of another owner that is deleted is waited for, so that the operator does not take its port.',
    file: 'src/controllers/trafficstack/observe/externalProvider.ts',
    find: 'if (live === undefined) return { objects: [missing], external: { sought, named } };',
    replace: 'if (live === undefined) return { unproven: undefined };',
    test: {
      project: 'unit',
      path: 'src/controllers/trafficstack/external.test.ts',
      name: 'that is deleted is waited for',
    },
  },
  {
    promise:
      'In a namespace that was taken out of the allowed ones, an object of another owner does not make a stack Stalled.',
    file: 'src/controllers/trafficstack/observe/caches.ts',
    find: 'live !== undefined && refersTo(live, stack)',
    replace: 'live !== undefined',
    test: {
      project: 'unit',
      path: 'src/controllers/trafficstack/namespaces.test.ts',
      name: 'leaves an object that another owner has made there since',
    },
  },
  {
    promise: 'A monitoring outside of discovery.namespaces is not used.',
    file: 'src/controllers/trafficstack/observe/externalCandidates.ts',
    find: "namespace === '' || namespaces.includes(namespace)",
    replace: "namespace !== '' || namespaces.includes(namespace)",
    test: {
      project: 'unit',
      path: 'src/controllers/trafficstack/observe/externalProvider.test.ts',
      name: 'in another namespace',
    },
  },
  {
    promise: 'Gates query no Prometheus that was found outside of discovery.namespaces.',
    file: 'src/controllers/measurement/observe/ownPrometheus.ts',
    find: 'found !== undefined && !namespaces.includes(found.namespace)',
    replace: 'found !== undefined && namespaces.length === 0',
    test: {
      project: 'unit',
      path: 'src/controllers/measurement/observe/ownPrometheus.test.ts',
      name: 'that a tenant may have made',
    },
  },
  {
    promise: 'A component of the type Objects has only objects of kinds that the administrator allows.',
    file: 'src/controllers/trafficstack/render/userObjects.ts',
    find: 'each.kind === object.kind && apiVersionOf(each) === object.apiVersion',
    replace: 'each.kind === object.kind',
    test: {
      project: 'unit',
      path: 'src/controllers/trafficstack/render/userObjects.test.ts',
      name: 'another version of an allowed kind',
    },
  },
  {
    promise: 'A Job that has completed does not run again because it was deleted.',
    file: 'src/controllers/trafficstack/decide/component.ts',
    find: ' && each.isCompleted !== true',
    replace: '',
    test: {
      project: 'unit',
      path: 'src/controllers/trafficstack/decide/jobs.test.ts',
      name: 'is not made again when it is complete and was deleted',
    },
  },
  {
    promise: 'A stack of which nothing exists starts in the order of its dependencies.',
    file: 'src/controllers/trafficstack/decide/plan.ts',
    find: 'const observation = fromStart(observed);',
    replace: 'const observation = observed;',
    test: {
      project: 'unit',
      path: 'src/controllers/trafficstack/restart.test.ts',
      name: 'starts in order again when nothing of it exists',
    },
  },
  {
    promise: 'What another version of the operator renders from the same spec has waves and a rollback.',
    file: 'src/controllers/trafficstack/render/stack.ts',
    find: '...files, objects });',
    replace: '...files });',
    test: {
      project: 'unit',
      path: 'src/controllers/trafficstack/otherRendering.test.ts',
      name: 'is rolled back if its pods do not start',
    },
  },
];
