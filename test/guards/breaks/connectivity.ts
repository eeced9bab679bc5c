import type { Break } from '../break.ts';

/** Findings, the connectivity server, its alerts, and the controller of ConnectivityChecks. */
export const CONNECTIVITY: readonly Break[] = [
  {
    promise: 'Agents count an answer that comes late as an answer, not as a lost packet.',
    file: 'src/connectivity/agent/udp/echoSocket.ts',
    find: 'if (patience !== undefined && !isOver.signal.aborted) await Promise.race([patience, ended]);',
    replace: '',
    test: {
      project: 'unit',
      path: 'src/connectivity/agent/peers/peerProbe.test.ts',
      name: 'before it answers by TCP',
    },
  },
  {
    promise: 'Slow round trips of one node are a finding also where its pairs are most of the cluster.',
    file: 'src/connectivity/localise/pairs/latency.ts',
    find: 'return Math.min(MOST_SLOW_MS, Math.max(LEAST_SLOW_MS, TIMES_MEDIAN * median));',
    replace: 'return Math.max(LEAST_SLOW_MS, TIMES_MEDIAN * median);',
    test: {
      project: 'unit',
      path: 'src/connectivity/localise/special.test.ts',
      name: 'at a node whose pairs are most of the cluster are of the node',
    },
  },
  {
    promise: 'A slow node is named, and not each of its links, although a peer refuses probes.',
    file: 'src/connectivity/localise/pairs/quality.ts',
    find: 'return ms === undefined || refused(peer) ? undefined : ms >= slowMs;',
    replace: 'return (ms ?? 0) >= slowMs;',
    test: {
      project: 'unit',
      path: 'src/connectivity/localise/latency.test.ts',
      name: 'although a peer refuses probes, which says nothing about speed',
    },
  },
  {
    promise: 'A network that rejects all probes is a finding.',
    file: 'src/connectivity/localise/pairs/refusal.ts',
    find: "if (times === undefined) return 'Rejection';",
    replace: "if (times === undefined) return 'Answer';",
    test: {
      project: 'unit',
      path: 'src/connectivity/localise/special.test.ts',
      name: 'by agents that all report is rejected by the network',
    },
  },
  {
    promise: 'A node whose clock is ahead is left out of findings no longer than another node.',
    file: 'src/connectivity/server/view/ages.ts',
    find: 'return Math.max(0, this.#clock.now() - this.#dated.at(object));',
    replace: 'return this.#clock.now() - this.#dated.at(object);',
    test: {
      project: 'unit',
      path: 'src/connectivity/server/view/ages.test.ts',
      name: 'a node whose clock was ahead before the server started',
    },
  },
  {
    promise: 'A connectivity check that measures no pair of nodes is not Healthy.',
    file: 'src/controllers/connectivitycheck/decide/decide.ts',
    find: 'return isMeasured && reportingAgents >= agents',
    replace: 'return reportingAgents >= agents',
    test: {
      project: 'unit',
      path: 'src/controllers/connectivitycheck/decide/decide.test.ts',
      name: 'is Unknown and not Ready, and says why',
    },
  },
  {
    promise: 'A connectivity check of which a part has no result, such as a network without agents, is not Healthy.',
    file: 'src/controllers/connectivitycheck/decide/decide.ts',
    find: 'isObserved && figures.unmeasured === undefined &&',
    replace: 'isObserved &&',
    test: {
      project: 'unit',
      path: 'src/controllers/connectivitycheck/decide/decide.test.ts',
      name: 'stays Unknown while the server starts, and is Healthy once the part is measured',
    },
  },
  {
    promise: 'A finding stays, with its outage, while nothing measures its node.',
    file: 'src/controllers/connectivitycheck/decide/findings/findings.ts',
    find: '!isIn(lasting, finding) && isUnmeasured(finding, evaluation)',
    replace: '!isIn(was, finding)',
    test: {
      project: 'unit',
      path: 'src/controllers/connectivitycheck/decide/findings/findings.test.ts',
      name: 'stays while no pair is observed, and is cleared by the first measurement',
    },
  },
  {
    promise: 'No alert says that reports are missing while the connectivity check is not enabled.',
    file: 'prometheus/rules/alerts.yml',
    find: 'absent(ncagent_report_count_total) and on () up{job="netchecker-server"}',
    replace: 'absent(ncagent_report_count_total)',
    test: {
      project: 'integration',
      path: 'test/integration/rules.test.ts',
      name: 'hold what',
    },
  },
  {
    promise: 'A failed address family of one node is not also reported as a lossy link to a node that loses packets.',
    file: 'src/connectivity/localise/faults/faults.ts',
    find: 'const isOpen = FAMILIES.some((family) => failsOver(family, pair) && !isExplained(pair, family));',
    replace: 'const isOpen = FAMILIES.some((family) => failsOver(family, pair));',
    test: {
      project: 'unit',
      path: 'src/connectivity/localise/families.test.ts',
      name: 'next to a node that loses packets',
    },
  },
  {
    promise: 'A network that fails as a whole is not reported as the failure of one address family.',
    file: 'src/connectivity/localise/faults/score.ts',
    find: 'return isOfFamily ? byShare(scope, pairs) : undefined;',
    replace: 'return byShare(scope, pairs);',
    test: {
      project: 'unit',
      path: 'src/connectivity/localise/faults/score.test.ts',
      name: 'is no fault of a family if no pair works over another family',
    },
  },
  {
    promise:
      'A node whose interface has another MTU is named, not each of its links: pairs that send no large packets do not count.',
    file: 'src/connectivity/localise/faults/mtu.ts',
    find: 'return (pair) => isSeen && pair.to === name && !sendsAbove(bytes, pair);',
    replace: 'return () => false;',
    test: {
      project: 'unit',
      path: 'src/connectivity/localise/localise.test.ts',
      name: 'the interfaces of some nodes have another MTU',
    },
  },
  {
    promise: 'While the MTU of an interface changes, no link of its node is named for a moment.',
    file: 'src/connectivity/localise/faults/confirmed.ts',
    find: "if (fault.kind !== 'Mtu') return this.#cached(key, fault.kind, all);",
    replace: 'if (key) return this.#cached(key, fault.kind, all);',
    test: {
      project: 'unit',
      path: 'src/connectivity/localise/timeline.test.ts',
      name: 'while its interface has a smaller MTU',
    },
  },
  {
    promise: 'Forged tokens from one address delay no agent at another address beyond its turn.',
    file: 'src/connectivity/server/auth/reviewQueue.ts',
    find: 'const next = pod.parked.find(({ source }) => !source.hasReserved);',
    replace: 'const next = pod.parked[0];',
    test: {
      project: 'unit',
      path: 'src/connectivity/server/auth/reviewQueue.test.ts',
      name: 'reserves one pod at a time for a source',
    },
  },
  {
    promise: 'What an agent claims to have heard counts only of agents that were assigned its node.',
    file: 'src/connectivity/localise/faults/direction.ts',
    find: ' && sender.watches?.(node) !== false',
    replace: '',
    test: {
      project: 'unit',
      path: 'src/connectivity/localise/faults/direction.test.ts',
      name: 'a claims to have heard b, which was not assigned a',
    },
  },
  {
    promise:
      'What an agent reports of nodes that the server did not assign to it makes no finding, no series and no probe.',
    file: 'src/connectivity/server/view/clusterView.ts',
    find: ' && watches?.(node) !== false',
    replace: '',
    test: {
      project: 'unit',
      path: 'src/connectivity/server/evaluation/watchers.test.ts',
      name: 'make no finding, no pair, no figure and no further probe',
    },
  },
  {
    promise: 'A URL that one agent makes up has no series.',
    file: 'src/connectivity/server/reports/metrics.ts',
    find: 'if (probes.every(({ URL }) => common.has(URL))) return probes;',
    replace: 'if (probes.some(({ URL }) => common.has(URL))) return probes;',
    test: {
      project: 'unit',
      path: 'src/connectivity/server/reports/metrics.test.ts',
      name: 'has no series for URLs that one agent makes up, and those that a check assigns to it',
    },
  },
  {
    promise: 'Forged tokens of one address do not fill the queue of TokenReviews.',
    file: 'src/connectivity/server/auth/reviewQueue.ts',
    find: '    newest.settle(undefined);\n    return true;',
    replace: '    newest.settle(undefined);\n    return false;',
    test: {
      project: 'unit',
      path: 'src/connectivity/server/auth/reviewQueue.test.ts',
      name: 'refuses the newest of the source with most, once 2,000 wait',
    },
  },
  {
    promise: 'The alerts count an agent whose container does not run.',
    file: 'src/connectivity/server/view/agentState.ts',
    find: "return state === 'Silent' || state === 'Broken';",
    replace: "return state === 'Silent';",
    test: {
      project: 'unit',
      path: 'src/connectivity/server/view/agentState.test.ts',
      name: 'its container ended',
    },
  },
  {
    promise: 'An unchanged report is stored at most every half TTL.',
    file: 'src/connectivity/server/store/reportStore.ts',
    find: 'clock.monotonic(), ttlMs / 2);',
    replace: 'clock.monotonic(), ttlMs / 4);',
    test: {
      project: 'unit',
      path: 'src/connectivity/server/store/reportStore.test.ts',
      name: 'writes the same report after half a TTL',
    },
  },
  {
    promise: 'A report that names another node changes no finding of the node where the pod runs.',
    file: 'src/connectivity/server/view/clusterView.ts',
    find: "state === 'Reporting' && report?.node === at.name ?",
    replace: "state === 'Reporting' && report !== undefined ?",
    test: {
      project: 'unit',
      path: 'src/connectivity/server/evaluation/evaluations.test.ts',
      name: 'a measurement of another node',
    },
  },
  {
    promise: 'A measurement of another node is not compared with the next one of the pod.',
    file: 'src/connectivity/server/reports/measurements.ts',
    find: 'return last?.node === nodename && last.times.reportedAt >= notBefore',
    replace: 'return last !== undefined && last.times.reportedAt >= notBefore',
    test: {
      project: 'unit',
      path: 'src/connectivity/server/reports/measurements.test.ts',
      name: 'a measurement of another node',
    },
  },
  {
    promise: 'After a restart the connectivity server does not wait for agents of nodes that are left out.',
    file: 'src/connectivity/server/evaluation/evaluate.ts',
    find: "state === 'Starting' && checked.has(node) && ",
    replace: "state === 'Starting' && ",
    test: {
      project: 'unit',
      path: 'src/connectivity/server/evaluation/evaluations.test.ts',
      name: 'an agent of a node that is left out is not waited for',
    },
  },
  {
    promise: 'A link that fails is probed on even if many links work over one address family only.',
    file: 'src/connectivity/assign/suspectLinks.ts',
    find: 'const MOST_PARTIAL = 0.5;',
    replace: 'const MOST_PARTIAL = 1;',
    test: {
      project: 'unit',
      path: 'src/connectivity/assign/suspectLinks.test.ts',
      name: 'is not taken by nodes of which one address works',
    },
    why: 'Half of the room for links is for links that fail.',
  },
  {
    promise: 'A finding that comes and goes within a minute keeps the time of its first start.',
    file: 'src/controllers/connectivitycheck/decide/findings/findings.ts',
    find: 'return listed?.since ?? continuedOutage(finding, outages, now)?.start;',
    replace: 'return listed?.since;',
    test: {
      project: 'unit',
      path: 'src/controllers/connectivitycheck/decide/findings/findings.test.ts',
      name: 'that flaps is one outage',
    },
  },
  {
    promise: 'An agent does not request an address of its own node because a name of a ConnectivityCheck leads to it.',
    file: 'src/connectivity/agent/http/httpRequest.ts',
    find: 'o.rule === undefined ? o.lookup : checkedLookup(o.rule, o.lookup)',
    replace: 'o.lookup',
    test: {
      project: 'unit',
      path: 'src/connectivity/agent/http/urlProbes.test.ts',
      name: 'does not reach the node by a name',
    },
  },
  {
    promise: 'An agent does not follow a redirect to an address of its own node, its pod or its cloud.',
    file: 'src/connectivity/agent/http/urlProbes.ts',
    find: 'times = await requestOnce(next, o.clock, signal, o);',
    replace: 'times = await requestOnce(next, o.clock, signal, { ...o, rule: undefined });',
    test: {
      project: 'unit',
      path: 'src/connectivity/agent/http/urlProbes.test.ts',
      name: 'a redirect',
    },
  },
  {
    promise: 'Agents that KWOK only shows as running do not count as silent.',
    file: 'src/connectivity/server/view/roster.ts',
    find: ' || without.has(agent.place)',
    replace: '',
    test: {
      project: 'unit',
      path: 'src/connectivity/server/view/roster.test.ts',
      name: 'a node of KWOK with its annotation alone',
    },
  },
  {
    promise: 'A connectivity check of an earlier version that no stack keeps is reported (NotKept).',
    file: 'src/controllers/contract/deployedSet.ts',
    find: ', ...unowned]',
    replace: ']',
    test: {
      project: 'unit',
      path: 'src/controllers/connectivity/reconcile.test.ts',
      name: 'reports what an earlier version has deployed and no stack keeps',
    },
  },
];
