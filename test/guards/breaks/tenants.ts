import type { Break } from '../break.ts';

const WATCH_LIMITS = 'src/controllers/trafficwatch/observe/watchLimits.test.ts';
const READINGS = 'src/usage/pass/passReadings.test.ts';

/** Breaks of promises about the cost of TrafficWatches of one namespace for others. */
export const TENANTS: readonly Break[] = [
  {
    promise: 'Nested repetitions in a pattern of devices multiply, so that no pattern takes more than milliseconds.',
    file: 'src/api/trafficwatch/spec/reading.ts',
    find: 'append(last * (count - 1));',
    replace: '',
    test: {
      project: 'unit',
      path: 'src/controllers/trafficwatch/observe/demands.test.ts',
      name: 'leave out a pattern that takes long to compile',
    },
  },
  {
    promise: 'The default reading has its figures however long the patterns and capacities of others take.',
    file: 'src/usage/pass/readingTime.ts',
    find: 'return this.#now() >= (this.#areNew ? this.#endOfNew : this.#end);',
    replace: 'return false;',
    test: { project: 'unit', path: READINGS, name: 'ends before the deadline of the pass' },
  },
  {
    promise: 'A reading for which a pass has no time has no figure of any node, rather than figures of some nodes.',
    file: 'src/usage/pass/evaluation.ts',
    find: 'return isWhole ? { nodes, warnings } : HAD_NO_TIME;',
    replace: 'return { nodes, warnings };',
    test: { project: 'unit', path: READINGS, name: 'leaves no reading with figures of only some nodes' },
  },
  {
    promise: 'The readings of one namespace have a limit.',
    file: 'src/controllers/trafficwatch/observe/reading/readingLimits.ts',
    find: 'fitting(namespace.all, this.#most.perNamespace)',
    replace: 'fitting(namespace.all, Infinity)',
    test: { project: 'unit', path: WATCH_LIMITS, name: 'of one namespace have a limit even if others need none' },
  },
  {
    promise: 'A namespace takes from no other the readings within its equal share, however old its TrafficWatches are.',
    file: 'src/controllers/trafficwatch/observe/reading/readingLimits.ts',
    find: 'level: within.add(wanting.need, share) ? within.cost : all.cost',
    replace: 'level: 0',
    test: {
      project: 'unit',
      path: 'src/controllers/trafficwatch/observe/reading/readingLimits.test.ts',
      name: 'leave a namespace its share whatever another namespace adds',
    },
  },
  {
    promise: 'A TrafficWatch that changes its reading in each pass does not keep others from their earlier passes.',
    file: 'src/usage/pass/history.ts',
    find: 'turnOf(one) - turnOf(other)',
    replace: '0',
    test: { project: 'unit', path: 'src/usage/pass/history.test.ts', name: 'has a new reading in each pass' },
  },
  {
    promise: 'Only readings that need more passes than two are kept for more.',
    file: 'src/usage/pass/history.ts',
    find: 'place < LEAST_PASSES || place < asked.passesOf(key)',
    replace: 'true',
    test: {
      project: 'unit',
      path: 'src/usage/pass/feedHistory.test.ts',
      name: 'are kept in as many passes as each is needed for',
    },
  },
  {
    promise: 'Labels that another TrafficWatch has left under the same key are no verdicts.',
    file: 'src/controllers/trafficwatch/decide/labels/lastVerdict.ts',
    find: "if (!mayHaveLabels({ watch }) || watch.status?.mode === 'Observe') return [];",
    replace: 'if (previous === undefined && spec !== undefined) return [spec];',
    test: {
      project: 'unit',
      path: 'src/controllers/trafficwatch/decide/labels/lastVerdict.test.ts',
      name: 'are no verdicts of one that observed',
    },
  },
];
