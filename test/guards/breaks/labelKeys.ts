import type { Break } from '../break.ts';

/** The label keys of TrafficWatches. */
export const LABEL_KEYS: readonly Break[] = [
  {
    promise: 'No two namespaces have the same label key, whatever the labels of their TrafficWatches.',
    file: 'src/api/trafficwatch/labelKey.ts',
    find: 'hashedPrefix(text, `${namespace}/${labelOf(watch)}`)',
    replace: "hashedPrefix(text, text.replaceAll('.', '-'))",
    test: {
      project: 'unit',
      path: 'src/api/trafficwatch/labelKey.test.ts',
      name: 'is different for each pair of label and namespace',
    },
  },
  {
    promise: 'A TrafficWatch does not get a label key without its namespace by way of the mode Observe.',
    file: 'src/api/trafficwatch/labelKey.ts',
    find: 'nodes !== null && mode === undefined',
    replace: 'nodes !== null',
    test: {
      project: 'unit',
      path: 'src/api/trafficwatch/labelKey.test.ts',
      name: 'with no key in use with mode Observe',
    },
  },
  {
    promise: 'A TrafficWatch of an earlier version keeps its label key over an upgrade.',
    file: 'src/api/trafficwatch/labelKey.ts',
    find: 'watch.status?.labelKey === legacy || isOfPKopel(watch)',
    replace: 'isOfPKopel(watch)',
    test: { project: 'unit', path: 'src/api/trafficwatch/labelKey.test.ts', name: 'with the legacy key in use' },
  },
  {
    promise: 'The status keeps the label key of PKopel/traffic-operator while nothing can be decided.',
    file: 'src/controllers/trafficwatch/decide/report/status.ts',
    find: '...o.watch.status, ...keyInUse(o), ...status',
    replace: '...o.watch.status, ...status',
    test: {
      project: 'unit',
      path: 'src/controllers/trafficwatch/decide/report/status.test.ts',
      name: 'keeps the key of PKopel/traffic-operator',
    },
  },
  {
    promise:
      'A label key that has a namespace belongs to a TrafficWatch of that namespace, even if a TrafficWatch of another namespace is older.',
    file: 'src/controllers/trafficwatch/model/labelKeys.ts',
    find: 'a.isNative === b.isNative ? isOlder(a, b) : a.isNative',
    replace: 'isOlder(a, b)',
    test: {
      project: 'unit',
      path: 'src/controllers/trafficwatch/decide/labels/ownership.test.ts',
      name: 'whose namespace is in it',
    },
  },
];
