/** The key of the node label of a TrafficWatch whose label and namespace are short; of earlier versions: `legacyKey`. */
export const unfitKey = (label: string, namespace = 'default'): string =>
  `${label}.${namespace}.traffic.example.com/unfit`;

/** The key of such a label without the namespace, which a TrafficWatch of an earlier version keeps. */
export const legacyKey = (label: string): string => `${label}.traffic.example.com/unfit`;
