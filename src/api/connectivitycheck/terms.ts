/** A network that connects nodes: that of the pods, or that of the nodes themselves (hostNetwork). */
export const PLANES = ['Pod', 'Host'] as const;
export type Plane = (typeof PLANES)[number];

/**
 * Why no finding is made of a node. NotReady: its kubelet says so. Unreachable: its kubelet is silent, so that the
 * condition Ready is Unknown; that may be the fault of its network.
 */
export const EXCLUSIONS = ['NotReady', 'Unreachable', 'Cordoned', 'Joining', 'Leaving'] as const;
export type Exclusion = (typeof EXCLUSIONS)[number];

/** The sum of a check. Unknown: it was not possible to measure. */
export const CONNECTIVITY_VERDICTS = ['Healthy', 'Degraded', 'Failed', 'Unknown'] as const;
export type ConnectivityVerdict = (typeof CONNECTIVITY_VERDICTS)[number];
