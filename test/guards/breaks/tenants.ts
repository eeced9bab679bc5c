import type { Break } from '../break.ts';

const WATCH_LIMITS = 'src/controllers/trafficwatch/observe/watchLimits.test.ts';
const READINGS = 'src/usage/pass/passReadings.test.ts';
const SERIES = 'src/runtime/manager/seriesBudget.test.ts';
const LABEL_WRITER = 'src/controllers/trafficwatch/act/nodeLabelWriter.test.ts';
const [FAIR_SHARE, FAIR_SHARE_TEST] = ['src/runtime/cache/fairShare.ts', 'src/runtime/cache/fairShare.test.ts'];
const [BODIES, BODIES_TEST] = ['src/runtime/cache/bodyBudget.ts', 'src/runtime/cache/bodyBudget.test.ts'];

/** Breaks of promises about the cost of the objects of one namespace for others. */
export const TENANTS: readonly Break[] = [
  {
    promise: 'An object with hundreds of levels of fields, which overflow the stack, has no content in the caches.',
    file: FAIR_SHARE,
    find: 'if (levels === 0) throw',
    replace: 'if (levels < 0 && levels > 0) throw',
    test: { project: 'unit', path: BODIES_TEST, name: 'has 300 levels of fields' },
  },
  {
    promise: 'Nested repetitions in a pattern of devices multiply, so that no pattern takes more than milliseconds.',
    file: 'src/api/trafficwatch/spec/reading.ts',
    find: 'append(last * (count - 1));',
    replace: '',
    test: {
      project: 'unit',
      path: 'src/api/trafficwatch/spec/reading.test.ts',
      name: 'holds only for what RE2 compiles to few instructions',
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
  {
    promise: 'Names that come and go have a limited number of series within three hours.',
    file: 'src/runtime/manager/seriesBudget.ts',
    find: 'if (at > last) return;',
    replace: '',
    test: { project: 'unit', path: SERIES, name: 'get as many series within three hours as the owner may have' },
  },
  {
    promise: 'One namespace does not take all series.',
    file: 'src/runtime/manager/seriesBudget.ts',
    find: 'Math.min(ofOwner, ofAll - this.#count)',
    replace: 'Math.min(ofOwner, ofAll - this.#count + count)',
    test: { project: 'unit', path: SERIES, name: 'leaves places for a further one' },
  },
  {
    promise: 'The PodPlacement of a namespace is written once in two seconds at most, after thirty at once.',
    file: 'src/controllers/trafficwatch/act/podPlacements.ts',
    find: 'if (waitMs > 0) throw new WaitingError(',
    replace: 'if (waitMs < 0) throw new WaitingError(',
    test: {
      project: 'unit',
      path: 'src/controllers/trafficwatch/act/podPlacements.test.ts',
      name: 'comes at once after a pause, and at most once in two seconds',
    },
  },
  {
    promise: 'A namespace whose labels are put on and taken off again and again has an allowance of label writes.',
    file: 'src/controllers/trafficwatch/act/nodeLabelWriter.ts',
    find: 'return payer === undefined || this.#allowances.take(',
    replace: 'return payer !== undefined || this.#allowances.take(',
    test: {
      project: 'unit',
      path: LABEL_WRITER,
      name: 'limits a namespace whose labels are put on and taken off again and again',
    },
  },
  {
    promise: 'Patches of labels that change often leave an allowance for changed verdicts.',
    file: 'src/controllers/trafficwatch/act/nodeLabelWriter.ts',
    find: 'isUrgent ? 0 : RESERVE',
    replace: '0',
    test: {
      project: 'unit',
      path: LABEL_WRITER,
      name: 'limits a namespace whose labels are put on and taken off again and again',
    },
  },
  {
    promise: 'However many records of one namespace change, the records of another are written in its turn.',
    file: 'src/weights/write/writeRecords.ts',
    find: 'groupOf: ({ key }: Write) => namespaceOf(key),',
    replace: "groupOf: ({ key }: Write) => namespaceOf(key) && '',",
    test: { project: 'unit', path: 'src/weights/write/writeRecords.test.ts', name: 'namespaces take turns' },
  },
  {
    promise: 'A namespace within its equal share of memory has room for its objects, whatever others have.',
    file: FAIR_SHARE,
    find: 'while (isWithinShare && this.#bytes',
    replace: 'while (!isWithinShare && this.#bytes',
    test: { project: 'unit', path: FAIR_SHARE_TEST, name: 'keeps each group within its equal share whole' },
  },
  {
    promise: 'The objects of all namespaces together take a limited part of the memory of the operator.',
    file: FAIR_SHARE,
    find: 'if (this.#bytes + bytes > this.#most) return undefined;',
    replace: '',
    test: { project: 'unit', path: FAIR_SHARE_TEST, name: 'gives one group everything while no other needs any' },
  },
  {
    promise: 'The memory of a list that is not complete yet is limited like the memory of a cache.',
    file: BODIES,
    find: 'if (listed !== undefined) dropBody(listed, identity);',
    replace: '',
    test: { project: 'unit', path: BODIES_TEST, name: 'drops bodies of a list that is not complete yet' },
  },
  {
    promise: 'An object that the operator cannot parse takes no memory beyond its identity.',
    file: BODIES,
    find: "logger.error(fields, 'object cannot be read: its content has no effect');\n      return undefined;",
    replace: "logger.error(fields, 'object cannot be read: its content has no effect');\n      return object;",
    test: { project: 'unit', path: BODIES_TEST, name: 'keeps the identity of an object that cannot be transformed' },
  },
  {
    promise: 'Of a TrafficStack that takes too much memory, nothing is written or removed, and its status says why.',
    file: 'src/controllers/trafficstack/reconcile.ts',
    find: '  if (isWithoutBody(stack)) {',
    replace: '  if (isWithoutBody(undefined)) {',
    test: {
      project: 'unit',
      path: 'src/controllers/trafficstack/reconcile.test.ts',
      name: 'is Stalled, and its status is otherwise unchanged',
    },
  },
  {
    promise: 'A TrafficStack that is being deleted is removed in order, also if it takes too much memory.',
    file: 'src/controllers/trafficstack/reconcile.ts',
    find: 'if (!isLeaving || !isWithoutBody(cached) || !d.isLeader()) return cached;',
    replace: 'if (cached !== undefined) return cached;',
    test: {
      project: 'unit',
      path: 'src/controllers/trafficstack/reconcile.test.ts',
      name: 'is read while it is being deleted',
    },
  },
];
