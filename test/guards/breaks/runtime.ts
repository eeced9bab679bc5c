import type { Break } from '../break.ts';

/** Calls to the API server, the leader, ownership of objects, and the installation. */
export const RUNTIME: readonly Break[] = [
  {
    promise: 'An object that is being deleted is not Ready.',
    file: 'src/controllers/trafficwatch/reconcile.ts',
    find: 'await statuses.write(about, terminatingStatus(about, failures, o.now), { signal });',
    replace: '',
    test: {
      project: 'unit',
      path: 'src/controllers/trafficwatch/reconcileDeletion.test.ts',
      name: 'while a finalizer of another controller is left',
    },
  },
  {
    promise: 'A condition about a missing right names the verb and the resource, in the words of the API server.',
    file: 'src/runtime/status/writeFailures.ts',
    find: 'message: `${what}: ${words}`',
    replace: 'message: `${what}: forbidden`',
    test: {
      project: 'unit',
      path: 'src/runtime/status/writeFailures.test.ts',
      name: 'names verb and resource when RBAC refuses',
    },
  },
  {
    promise: 'A CA that is replaced on disk is trusted by the next calls.',
    file: 'src/runtime/client/credentials.ts',
    find: 'if (certificates) this.#options.onTlsChange();',
    replace: 'if (certificates && String(before.tls.ca) === String(next.tls.ca)) this.#options.onTlsChange();',
    test: {
      project: 'faults',
      path: 'test/faults/apiServerCredentials.test.ts',
      name: 'an authority that is replaced',
      wholeFile: true,
    },
    slow: true,
    why: 'Connections that are open stay with the old CA.',
  },
  {
    promise: 'A process that stops while it takes the Lease releases it.',
    file: 'src/runtime/leaderElection/leaderElection.ts',
    find: 'if (this.#isUnsure) await this.#attempted(() => this.#release());',
    replace: '',
    test: {
      project: 'unit',
      path: 'src/runtime/leaderElection/leaderElection.test.ts',
      name: 'releases a lease if it was stopped while taking it',
    },
  },
  {
    promise: 'The clean-up assumes that no replica leads only after no Lease could exist for a whole Lease duration.',
    file: 'src/runtime/leaderElection/term.ts',
    find: '>= this.#durationMs;',
    replace: '>= 5_000;',
    test: {
      project: 'unit',
      path: 'src/runtime/leaderElection/term.test.ts',
      name: 'the former leader has stopped by then',
    },
  },
  {
    promise: 'An object with the label of another stack is not changed, even if the operator once applied it.',
    file: 'src/runtime/objectSet/objectSet.ts',
    find: 'if (distinguishing.some((key) => labels[key] !== undefined && labels[key] !== marks[key])) return false;',
    replace: '',
    test: {
      project: 'unit',
      path: 'src/runtime/objectSet/objectSet.test.ts',
      name: 'the mark of our apply, and the label',
    },
  },
  {
    promise: "With the operator's token, a request cannot make a foreign object its own.",
    file: 'charts/traffic-operator/templates/ownobjectspolicy.yaml',
    find: 'oldObject == null ? dyn({}) : dyn(oldObject).metadata',
    replace: 'dyn(object == null ? oldObject : object).metadata',
    test: {
      project: 'chart',
      path: 'test/chart/ownObjectsPolicy.test.ts',
      name: 'does not come into reach by a mark that the request adds',
    },
  },
  {
    promise: 'An OLM bundle without a feature has no rights, flags or CRD of that feature.',
    file: 'scripts/generate/bundle/bundle.ts',
    find: 'operatorObjects(renderChart(values))',
    replace: 'operatorObjects(renderChart([]))',
    test: { project: 'chart', path: 'test/chart/olm/features.test.ts', name: 'has the rights of the rest' },
    why: 'The chart has stacks by default, and no weights.',
  },
  {
    promise: 'A write that the API server refuses for a time is not tried again before that time is over.',
    file: 'src/runtime/controller/controller.ts',
    find: 'Math.max(retryAfterMs, askedDelayOf(error.cause))',
    replace: 'retryAfterMs',
    test: {
      project: 'unit',
      path: 'src/runtime/controller/controller.test.ts',
      name: 'not before the Retry-After of its cause',
    },
  },
  {
    promise: 'A user of one namespace cannot make a DNSEndpoint that counts as one of the operator.',
    file: 'charts/traffic-operator/templates/recordspolicy.yaml',
    find: 'variables.marks.size() == 0 ||',
    replace: 'true ||',
    test: {
      project: 'chart',
      path: 'test/chart/recordsPolicy.test.ts',
      name: 'a user of one namespace no longer creates one with the label',
      wholeFile: true,
    },
  },
  {
    promise: 'Whoever deletes a TrafficWatch with a Deployment needs the right to delete Deployments.',
    file: 'charts/traffic-operator/templates/requesterpolicy.yaml',
    find: "!variables.mayDelete || variables.deployments.check('delete').allowed()",
    replace: "!variables.mayDelete || variables.deployments.check('create').allowed()",
    test: {
      project: 'chart',
      path: 'test/chart/requesterPolicy.test.ts',
      name: 'that an administrator made may be changed, but not its Deployment',
      wholeFile: true,
    },
  },
];
